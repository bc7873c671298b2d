package httpapi

import (
	"context"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/selector"
	"fairlead/internal/store"
)

// choicesOf says which variant of each name with variants a node has, by the code that the
// xDS servers choose with.
func choicesOf(n fleet.Node, rows []fleet.Row) []store.Choice {
	byName := make(map[fleet.Ref]*contest)
	var names []fleet.Ref
	var selectors []selector.Selector
	for _, row := range rows {
		ref := fleet.Ref{Type: row.Type, Name: row.Name}
		c := byName[ref]
		if c == nil {
			c = &contest{}
			byName[ref], names = c, append(names, ref)
		}
		if s, ok := c.add(row); ok {
			selectors = append(selectors, s)
		}
	}
	index := selector.NewIndex(selectors)
	vector := index.Match(selector.LabelsOf(n))
	choices := make([]store.Choice, len(names))
	for i, ref := range names {
		c := byName[ref]
		choices[i] = store.Choice{Ref: ref, Variant: c.winner(index, vector), Moved: c.moved}
	}
	return choices
}

// contest is the variants of one name but for the default one.
type contest struct {
	variants  []selector.Variant
	selectors []selector.Selector // of each
	moved     fleet.Revision      // the last revision that may have taken one of them away from a node
}

// add takes a row in. A selector that cannot be read is none that a server serves by.
func (c *contest) add(row fleet.Row) (selector.Selector, bool) {
	if row.Deleted {
		c.moved = max(c.moved, row.Revision)
		return selector.Selector{}, false
	}
	c.moved = max(c.moved, row.Reselected)
	s, err := selector.Parse(row.Selector)
	if err != nil {
		return s, false
	}
	c.variants = append(c.variants, selector.Variant{Name: row.Variant, Priority: row.Priority})
	c.selectors = append(c.selectors, s)
	return s, true
}

// winner is the name of the variant that a node with these decisions has; "" for the
// default one.
func (c *contest) winner(x *selector.Index, v selector.Vector) string {
	for i, s := range c.selectors {
		c.variants[i].Selector = x.Position(s)
	}
	i, _ := selector.Winner(c.variants, v)
	if i < 0 {
		return ""
	}
	return c.variants[i].Name
}

// withDoubts adds to the warnings of a write that was made, or planned, what is to be said of Secrets with
// variants, and of nodes that are too old for it. It does not fail: that would be said of the write. at is where the change
// with the number stood.
func (a *API) withDoubts(ctx context.Context, c *call, warnings []oapi.FieldError, changes []store.ResourceChange, at func(i int) string) []oapi.FieldError {
	for i, ch := range changes {
		if pointer := at(i) + "/selector"; ch.Type == fleet.Secret && ch.Variant != "" && !ch.Delete {
			warnings = append(warnings, oapi.FieldError{Pointer: &pointer, Code: "secret_variant", Detail: "a selector is no security boundary: " +
				"labels are the node's own claim, so every node of the fleet can get this secret; keep secrets apart by fleets"})
		}
	}
	old, err := a.unsupported(ctx, c, changes, at)
	if err != nil {
		a.log.WarnContext(ctx, "look for nodes that are too old", "error", err)
	}
	return append(warnings, old...)
}
