package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/resource"
)

// pruning is what deletes beside what is written.
type pruning struct {
	Prune    bool   `help:"Delete what the files do not hold, of what carries the labels of -l."`
	Selector string `short:"l" placeholder:"KEY=VALUE,..." help:"With --prune, the labels that say what the files are all of. Each document of the files must carry them."`
	All      bool   `help:"With --prune and without -l: the files are all that the fleet is to hold."`
}

// into adds to a bundle the deletion of what it does not hold. The write is then only made if the
// fleet is at the revision at which that was looked up.
func (p *pruning) into(ctx context.Context, s *session, b *bundle, m *members) error {
	switch {
	case !p.Prune && (p.Selector != "" || p.All):
		return usageError("-l and --all say what --prune may delete: give that too")
	case !p.Prune:
		return nil
	case (p.Selector == "") == !p.All:
		return usageError("--prune deletes what the files do not hold: say with -l of which labels (-l team=shop), or with --all that it is of the whole fleet")
	}
	scope, err := parseLabels(p.Selector)
	if err != nil {
		return err
	}
	held, err := b.holds(scope)
	if err != nil {
		return err
	}
	items, revision, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	gone, err := beyond(items, held, scope)
	if err != nil {
		return err
	}
	for _, g := range gone {
		raw, err := json.Marshal(g)
		if err != nil {
			return err
		}
		b.deletions.there = true
		b.deletions.add(nil, raw)
		fmt.Fprintf(s.err, "prune: %s\n", plain(g.String()))
	}
	if m.expected == nil && len(gone) > 0 {
		m.expected = &revision
	}
	return nil
}

// deletion is an entry of an apply's list of deletions.
type deletion struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Variant string `json:"variant,omitempty"`
}

func (d deletion) String() string {
	if d.Variant != "" {
		return d.Type + "/" + d.Name + ", variant " + d.Variant
	}
	return d.Type + "/" + d.Name
}

// beyond are the resources that carry the labels and are not held, in order.
func beyond(items []json.RawMessage, held map[deletion]bool, scope map[string]string) (out []deletion, err error) {
	for _, item := range items {
		var r struct {
			Type, Name, Variant string
			Labels              map[string]string
		}
		if err := json.Unmarshal(item, &r); err != nil {
			return nil, err
		}
		d := deletion{Type: r.Type, Name: r.Name, Variant: r.Variant}
		if !held[d] && carries(r.Labels, scope) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b deletion) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Variant, b.Variant))
	})
	return out, nil
}

func carries(labels, scope map[string]string) bool {
	for key, value := range scope {
		if got, there := labels[key]; !there || got != value {
			return false
		}
	}
	return true
}

// holds are the resources that the files name. Each that they write must carry the labels: else the
// next call would not know it for one of theirs.
func (b *bundle) holds(scope map[string]string) (map[deletion]bool, error) {
	parts, err := b.parts()
	if err != nil {
		return nil, err
	}
	var wrong faults
	held := map[deletion]bool{}
	for _, part := range parts {
		in, err := part.parse()
		if err != nil {
			return nil, err
		}
		for i, d := range in.Resources {
			held[deletion{Type: d.Type.Slug(), Name: d.Name, Variant: d.Variant}] = true
			if !d.Keep && !carries(d.Labels, scope) {
				where, _ := part.place(fmt.Sprintf("/resources/%d/labels", i))
				wrong = append(wrong, where+": -l says that all of the files carries "+labelText(scope)+", and this does not: write the label, or leave it out of the files")
			}
		}
		for _, d := range in.Delete {
			held[deletion{Type: d.Type.Slug(), Name: d.Name, Variant: d.Variant}] = true // it is deleted as it is
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return held, nil
}

// parse reads the bundle as the API does.
func (b *bundle) parse() (resource.Apply, error) {
	body, err := b.body(members{})
	if err != nil {
		return resource.Apply{}, err
	}
	in, err := resource.ParseApply(body)
	var all resource.Errors
	if errors.As(err, &all) {
		return in, b.faults(all)
	}
	return in, err
}

// faults tells errors of the whole with their places in the files.
func (b *bundle) faults(all resource.Errors) (out faults) {
	for _, e := range all {
		text := e.Error()
		if where, ok := b.place(e.Pointer); ok {
			text = where + ": " + e.Detail
		}
		out = append(out, text)
	}
	return out
}

// parseLabels reads key=value,key=value.
func parseLabels(text string) (map[string]string, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(value, "=!") {
			return nil, usageError(fmt.Sprintf("%q is not a label: write key=value, several joined by commas", part))
		}
		out[key] = strings.TrimSpace(value)
	}
	return out, nil
}

func labelText(labels map[string]string) string {
	var parts []string
	for key, value := range labels {
		parts = append(parts, key+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
