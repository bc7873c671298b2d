package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
)

// earlier is what the parts before a part write and delete, by name. nil is of what is not sent in parts.
type earlier struct {
	strict bool // the fleet refuses what would be without what it names
	fleet  string
	items  map[fleet.Ref][]json.RawMessage // of each variant; of a deletion the entry of the list
	gone   map[fleet.Ref]bool              // nothing is written of it
}

// nothingEarlier is what there is before the first part.
func (s *session) nothingEarlier(ctx context.Context) (*earlier, error) {
	resp, err := s.api.GetFleet(ctx, s.tenant, s.fleet)
	f, _, err := answer[client.Fleet](s, resp, err)
	return &earlier{strict: f.References == client.Strict, fleet: s.fleet, items: map[fleet.Ref][]json.RawMessage{}, gone: map[fleet.Ref]bool{}}, err
}

// asks are the parameters of a part's plan.
func (e *earlier) asks() *client.PlanParams {
	if e == nil {
		return nil
	}
	told := client.Told
	return &client.PlanParams{References: &told}
}

func (e *earlier) add(b *bundle) {
	if e == nil {
		return
	}
	for _, item := range b.resources.items {
		r := refOf(item)
		e.items[r], e.gone[r] = append(e.items[r], item), false
	}
	for _, item := range b.deletions.items {
		if r := refOf(item); e.items[r] == nil {
			e.items[r], e.gone[r] = append(e.items[r], item), true
		}
	}
}

// settle takes out of what was found in a part what an earlier part brings: the plan is made on what the fleet has now.
func (e *earlier) settle(found *client.WriteFindings) {
	if e == nil || found == nil {
		return
	}
	found.Items = slices.DeleteFunc(found.Items, func(f client.Finding) bool {
		if !e.settles(f) {
			return false
		}
		switch f.Severity {
		case client.Error:
			found.Errors--
		case client.Warning:
			found.Warnings--
		default:
			found.Infos--
		}
		return true
	})
}

// settles reports whether something does have what it names once the earlier parts are written, or names it no more.
func (e *earlier) settles(f client.Finding) bool {
	if f.Code != client.MissingReference || f.To == nil {
		return false
	}
	to, from := refCalled(f.To.Type, f.To.Name), refCalled(f.Type, f.Name)
	if e.items[to] != nil && !e.gone[to] {
		return true
	}
	return e.items[from] != nil && !slices.ContainsFunc(e.items[from], func(item json.RawMessage) bool {
		return !e.gone[from] && slices.Contains(slices.Collect(texts(item)), to.Name)
	})
}

// refuses tells that the fleet would not take a part. The references are of those that a strict fleet looks at.
func (e *earlier) refuses(p plan) error {
	if e == nil || !e.strict || p.Findings == nil {
		return nil
	}
	for _, f := range p.Findings.Items {
		if f.Code == client.MissingReference && f.To != nil && f.To.Type != client.Endpoints && f.To.Type != client.Listeners {
			return fmt.Errorf("the fleet %s is strict about references, and would refuse this part: %s/%s names %s/%s, which neither the fleet nor an earlier part has: write that too, or set the fleet's references to warn",
				e.fleet, plain(string(f.Type)), plain(f.Name), plain(string(f.To.Type)), plain(f.To.Name))
		}
	}
	return nil
}

// refOf is what an element of a list is of.
func refOf(item json.RawMessage) fleet.Ref { return fleet.Ref{Type: typeOf(item), Name: nameOf(item)} }

func refCalled(kind client.ResourceType, name string) fleet.Ref {
	t, _ := fleet.TypeFromSlug(string(kind))
	return fleet.Ref{Type: t, Name: name}
}

// namedFirst puts what is named before what names it, where both have the same rank. What goes in a circle stays as it stands.
func (s *section) namedFirst(order, ranks []int) []int {
	type key struct {
		rank int
		name string
	}
	of := map[key][]int{}
	for _, i := range order {
		k := key{ranks[i], nameOf(s.items[i])}
		of[k] = append(of[k], i)
	}
	out, seen := make([]int, 0, len(order)), make([]bool, len(order))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		if t := typeOf(s.items[i]); t != fleet.Cluster && t != fleet.Extension { // no other names one of its own type
			out = append(out, i)
			return
		}
		for text := range texts(s.items[i]) {
			for _, j := range of[key{ranks[i], text}] {
				visit(j)
			}
		}
		out = append(out, i)
	}
	for _, i := range order {
		visit(i)
	}
	return out
}

// texts are the texts of a JSON document, keys too.
func texts(item json.RawMessage) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for rest := []byte(item); ; {
			_, after, found := bytes.Cut(rest, []byte{'"'})
			if !found {
				return
			}
			end, escaped := 0, false
			for end < len(after) && after[end] != '"' {
				if after[end] == '\\' {
					escaped = true
					end++
				}
				end++
			}
			if end >= len(after) {
				return
			}
			text := string(after[:end])
			if escaped {
				_ = json.Unmarshal([]byte(`"`+text+`"`), &text) // else it is no text, which the API tells
			}
			if !yield(text) {
				return
			}
			rest = after[end+1:]
		}
	}
}
