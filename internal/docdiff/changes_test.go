package docdiff

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

func compare(t *testing.T, before, after string) Diff {
	t.Helper()
	d, err := Compare(docOf(before), docOf(after))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func docOf(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":               {`{"a": 1}`, `{"a":1}`, nil},
		"order":                 {`{"a": 1, "b": {"c": [], "d": "x"}}`, `{"b": {"d": "x", "c": []}, "a": 1}`, nil},
		"no documents":          {"", "", nil},
		"a new document":        {"", `{"a": 1}`, []string{` add {"a":1}`}},
		"a document that goes":  {`{"a": 1}`, "", []string{` remove {"a":1}`}},
		"a member":              {`{"a": 1, "b": 2}`, `{"a": 1, "b": "2"}`, []string{`/b replace 2 -> "2"`}},
		"members come and go":   {`{"a": 1, "b": 2}`, `{"b": 2, "c": null}`, []string{`/a remove 1`, `/c add null`}},
		"deeper":                {`{"a": {"b": {"c": 1}}}`, `{"a": {"b": {"c": 2}}}`, []string{`/a/b/c replace 1 -> 2`}},
		"another kind":          {`{"a": {"b": 1}}`, `{"a": ["b"]}`, []string{`/a replace {"b":1} -> ["b"]`}},
		"a key to escape":       {`{"a/b~c": 1}`, `{"a/b~c": 2}`, []string{`/a~1b~0c replace 1 -> 2`}},
		"HTML stays":            {`{"a": "<&>"}`, `{"a": "<b>"}`, []string{`/a replace "<&>" -> "<b>"`}},
		"an item in the middle": {`[1, 2, 3]`, `[1, 9, 2, 3]`, []string{`/1 add 9`}},
		"an item less":          {`[1, 2, 3]`, `[1, 3]`, []string{`/1 remove 2`}},
		"an item changes":       {`[1, 2, 3]`, `[1, 9, 3]`, []string{`/1 replace 2 -> 9`}},
		"twice the same":        {`["a", "a", "b"]`, `["a", "b"]`, []string{`/1 remove "a"`}},
		"moved":                 {`["a", "b", "c"]`, `["b", "c", "a"]`, []string{`/0 remove "a"`, `/2 add "a"`}},
		"by name": {
			`[{"name": "a", "x": 1}, {"name": "b", "x": 1}]`, `[{"name": "new"}, {"name": "a", "x": 1}, {"name": "b", "x": 2}]`,
			[]string{`/0 add {"name":"new"}`, `/2/x replace 1 -> 2`},
		},
		"another name is another item": {
			`[{"name": "a", "x": 1}]`, `[{"name": "b", "x": 1}]`,
			[]string{`/0 remove {"name":"a","x":1}`, `/0 add {"name":"b","x":1}`},
		},
		"without a name by place": {
			`[{"match": "/a", "to": "x"}, {"match": "/b", "to": "y"}]`, `[{"match": "/a", "to": "z"}, {"match": "/b", "to": "y"}]`,
			[]string{`/0/to replace "x" -> "z"`},
		},
		"places are those of a patch": {
			`[{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d", "x": 1}]`, `[{"name": "c"}, {"name": "e"}, {"name": "d", "x": 2}]`,
			[]string{`/1 remove {"name":"b"}`, `/0 remove {"name":"a"}`, `/1 add {"name":"e"}`, `/2/x replace 1 -> 2`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compare(t, c.before, c.after)
			var got []string
			for _, ch := range changesOf(d) {
				s := ch.Pointer + " " + string(ch.Op) + " " + string(ch.Before)
				if ch.Op == Replace {
					s += " -> "
				}
				got = append(got, s+string(ch.After))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if d.Same() != (c.want == nil) {
				t.Errorf("Same is %v", d.Same())
			}
			patched(t, c.before, c.after, d)
		})
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`{`, `{} {}`, `{"a": 1, "a": 1}`, ` `} {
		if _, err := Compare([]byte(bad), nil); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q before: %v", bad, err)
		}
		if _, err := Compare(nil, []byte(bad)); !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q after: %v", bad, err)
		}
	}
}

// Documents are read as JSON says, whatever they are written like.
func TestWhatIsReadIsTheSame(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`0`, ` -1.5e+3 `, `true`, `null`, `""`, `[]`, `{}`, ` [ ] `, "\t{\r\n}\n", `[1 , 2,[ ], {}]`, `{"a" : 1 ,"b":[true,false,null]}`,
		`"\u00e9\n\\\"\/"`, `"\ud83d\ude00 \ud83d x"`, `{"\u0061\"":"\\"}`, "\"\xff\"", `{"":{"":""}}`, `["\\","\\\\"]`,
	} {
		n, err := ids{}.parse([]byte(doc))
		if err != nil {
			t.Errorf("%q: %v", doc, err)
			continue
		}
		if d := cmp.Diff(decode(t, doc), decode(t, string(n.json()))); d != "" {
			t.Errorf("%q: %s", doc, d)
		}
	}
	if _, err := (ids{}).parse([]byte(`{"a":1,"\u0061":2}`)); !errors.Is(err, fleet.ErrInvalid) {
		t.Errorf("a key that stands twice, written otherwise: %v", err)
	}
}

// A list of many items costs little more than to read it, whatever changed.
func TestLongLists(t *testing.T) {
	t.Parallel()
	const n = 20000
	var before, after []string
	for i := range n {
		before = append(before, fmt.Sprintf(`{"name": "n%d", "x": %d}`, i, i%7))
		after = append(after, fmt.Sprintf(`{"name": "n%d", "x": %d}`, n-i, i%5))
	}
	b, a := "["+strings.Join(before, ",")+"]", "["+strings.Join(after, ",")+"]"
	d := compare(t, b, a)
	if got := len(changesOf(d)); got < n || got > 3*n {
		t.Errorf("%d changes", got)
	}
	if len(d.Unified("a", "b", Context)) < n {
		t.Error("no text")
	}
}

// patched checks that the changes are a patch that makes the one document the other.
func patched(t *testing.T, before, after string, d Diff) {
	t.Helper()
	var value any
	there := before != ""
	if there {
		value = decode(t, before)
	}
	for _, c := range changesOf(d) {
		value, there = patch(t, value, c)
	}
	if there != (after != "") {
		t.Fatalf("after %v there is a document: %v", changesOf(d), there)
	}
	if there {
		if diff := cmp.Diff(decode(t, after), value); diff != "" {
			t.Fatalf("%s\nto %s\nby %+v: %s", before, after, changesOf(d), diff)
		}
	}
}

func decode(t *testing.T, doc string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// patch makes one change, as RFC 6902 says.
func patch(t *testing.T, value any, c Change) (any, bool) {
	t.Helper()
	if c.Pointer == "" {
		if c.Op == Remove {
			return nil, false
		}
		return decode(t, string(c.After)), true
	}
	return step(t, value, strings.Split(c.Pointer[1:], "/"), c), true
}

func step(t *testing.T, value any, path []string, c Change) any {
	t.Helper()
	key, last := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0]), len(path) == 1
	switch v := value.(type) {
	case map[string]any:
		was, there := v[key]
		switch {
		case !last:
			v[key] = step(t, was, path[1:], c)
		case there != (c.Op != Add):
			t.Fatalf("%+v: there is %v", c, was)
		case c.Op == Remove:
			same(t, c, was)
			delete(v, key)
		default:
			same(t, c, was)
			v[key] = decode(t, string(c.After))
		}
		return v
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i > len(v) || i == len(v) && c.Op != Add {
			t.Fatalf("%+v: the list has %d", c, len(v))
		}
		switch {
		case !last:
			v[i] = step(t, v[i], path[1:], c)
		case c.Op == Add:
			v = slices.Insert(v, i, decode(t, string(c.After)))
		case c.Op == Remove:
			same(t, c, v[i])
			v = slices.Delete(v, i, i+1)
		default:
			same(t, c, v[i])
			v[i] = decode(t, string(c.After))
		}
		return v
	}
	t.Fatalf("%+v: there is no such place", c)
	return nil
}

func same(t *testing.T, c Change, was any) {
	t.Helper()
	if c.Op == Add {
		return
	}
	if diff := cmp.Diff(decode(t, string(c.Before)), was); diff != "" {
		t.Fatalf("%+v: before it was %s", c, diff)
	}
}

func changesOf(d Diff) []Change {
	all, whole := d.Changes(1 << 30)
	if !whole {
		panic("the changes are not whole")
	}
	return all
}
