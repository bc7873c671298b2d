package envoyconfig

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"fairlead/internal/fleet"
)

// subsetValue is a value by which Envoy chooses a subset of a cluster's endpoints: an endpoint's, or one that is asked for.
type subsetValue struct {
	of    fleet.Ref
	at    *place
	group any // the object, or the endpoints of a cluster, which the compiler compares with each other
	value any // a text, a number or a boolean
}

// subsets notes what of these values is no text although it is probably meant as one: a number that is not as it is written, such as 1.10,
// and a number or a boolean where others have a text, which is a different value to Envoy.
func (r *reader) subsets() error {
	byKey := map[string][]subsetValue{}
	for _, ref := range slices.SortedFunc(maps.Keys(r.taken), func(a, b fleet.Ref) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	}) {
		if err := r.step(); err != nil {
			return err
		}
		each(r.at[ref].at, r.taken[ref], func(o placed) {
			group, ok := subsetGroup(ref, o.at)
			if !ok {
				return
			}
			for _, key := range slices.Sorted(maps.Keys(o.object)) {
				switch v := o.object[key].(type) {
				case string, json.Number, bool:
					byKey[key] = append(byKey[key], subsetValue{ref, o.at.member(key), group, v})
				}
			}
		})
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if err := r.step(); err != nil {
			return err
		}
		r.subsetKey(byKey[key])
	}
	return nil
}

// subsetGroup reports whether an object has such values: the envoy.lb of an endpoint's metadata or of a metadata_match, or a default_subset.
func subsetGroup(of fleet.Ref, at *place) (group any, ok bool) {
	if at.isField("default_subset") {
		return at, true
	}
	if at == nil || at.item || at.step != "envoy.lb" || !at.up.isField("filter_metadata") {
		return nil, false
	}
	switch in := at.up.up; {
	case in.isField("metadata_match"):
		return at, true
	case in.isField("metadata"):
		return of, in.up.isField("lb_endpoints")
	}
	return nil, false
}

// mostSubsetNotes is of how many values of one key it is told that others have a text.
const mostSubsetNotes = 20

// subsetKey tells of the values of one key, of each group once.
func (r *reader) subsetKey(all []subsetValue) {
	var texts []subsetValue // of two groups, which is enough to have one of another group
	for _, v := range all {
		if _, is := v.value.(string); is && (len(texts) == 0 || len(texts) == 1 && texts[0].group != v.group) {
			texts = append(texts, v)
		}
	}
	told := map[any]bool{}
	for _, v := range all {
		what, differs := plainValue(v.value)
		if what == "" || told[v.group] || len(told) == mostSubsetNotes {
			continue
		}
		why := ""
		if i := slices.IndexFunc(texts, func(x subsetValue) bool { return x.group != v.group }); i >= 0 {
			why = fmt.Sprintf(", and a text in %s/%s: to a subset they are different values", texts[i].of.Type.Slug(), texts[i].of.Name)
		}
		if why == "" && !differs {
			continue
		}
		told[v.group] = true
		r.tell(v.of.Type.Slug()+"/"+v.of.Name, v.at, fmt.Sprintf("this is served as %s%s; if a text is meant, write it in quotes", what, why), true)
	}
}

// plainValue says what a value without quotes is, "" of a text, and whether it is another one than is written.
func plainValue(v any) (what string, differs bool) {
	switch v := v.(type) {
	case bool:
		return fmt.Sprintf("the boolean %t", v), false
	case json.Number:
		f, err := v.Float64()
		is := strconv.FormatFloat(f, 'f', -1, 64)
		if differs = err != nil || is != v.String(); differs && len(v) <= longestShown {
			return fmt.Sprintf("the number %s, not as %s", is, v), true
		}
		return "the number " + is, differs
	}
	return "", false
}
