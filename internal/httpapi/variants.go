package httpapi

import (
	"context"
	"fmt"
	"strings"

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

// withFindings adds to the warnings of a write that was made, or planned, what is to be said of its
// variants, and of nodes that are too old for it. It does not fail: that would be said of the
// write. at is where the change with the number stood.
func (a *API) withFindings(ctx context.Context, warnings []oapi.FieldError, changes []store.ResourceChange, at func(i int) string) []oapi.FieldError {
	for i, ch := range changes {
		if pointer := at(i) + "/selector"; ch.Type == fleet.Secret && ch.Variant != "" && !ch.Delete {
			warnings = append(warnings, oapi.FieldError{Pointer: &pointer, Code: "secret_variant", Detail: "a selector is no security boundary: " +
				"labels are the node's own claim, so every node of the fleet can get this secret; keep secrets apart by fleets"})
		}
	}
	ties, err := a.ties(ctx, changes, at)
	if err != nil {
		a.log.WarnContext(ctx, "look for variants of the same priority", "error", err)
	}
	old, err := a.unsupported(ctx, changes, at)
	if err != nil {
		a.log.WarnContext(ctx, "look for nodes that are too old", "error", err)
	}
	return append(append(warnings, ties...), old...)
}

// ties warns of variants that were written and that are told apart from another one of the
// name by nothing but their names.
func (a *API) ties(ctx context.Context, changes []store.ResourceChange, at func(i int) string) ([]oapi.FieldError, error) {
	var names []fleet.Ref
	for _, ch := range changes {
		if ch.Variant != "" && !ch.Delete {
			names = append(names, fleet.Ref{Type: ch.Type, Name: ch.Name})
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	c := callOf(ctx)
	rows, _, err := a.store.Variants(ctx, c.tenant.ID, c.fleet.ID, names)
	if err != nil {
		return nil, err
	}
	byName := make(map[fleet.Ref][]fleet.Row)
	for _, row := range written(rows, changes) {
		ref := fleet.Ref{Type: row.Type, Name: row.Name}
		byName[ref] = append(byName[ref], row)
	}
	var warnings []oapi.FieldError
	for i, ch := range changes {
		if ch.Variant == "" || ch.Delete {
			continue
		}
		if rivals := rivalsOf(ch, byName[fleet.Ref{Type: ch.Type, Name: ch.Name}]); len(rivals) > 0 {
			warnings = append(warnings, tie(ch, rivals, at(i)+"/priority"))
		}
	}
	return warnings, nil
}

// written are the variants that there are when the changes are made, of those that there are,
// whether they are made already or planned.
func written(rows []fleet.Row, changes []store.ResourceChange) (out []fleet.Row) {
	touched := make(map[store.Cursor]bool, len(changes))
	for _, ch := range changes {
		touched[cursorOf(ch)] = true
		if ch.Variant != "" && !ch.Delete {
			out = append(out, fleet.Row{Type: ch.Type, Name: ch.Name, Variant: ch.Variant, Selector: ch.Selector, Priority: ch.Priority})
		}
	}
	for _, row := range rows {
		if !row.Deleted && !touched[store.Cursor{Type: row.Type, Name: row.Name, Variant: row.Variant}] {
			out = append(out, row)
		}
	}
	return out
}

// rivalsOf are the variants of a name that have the change's priority and may match the
// same nodes.
func rivalsOf(ch store.ResourceChange, rows []fleet.Row) (rivals []string) {
	mine, err := selector.Parse(ch.Selector)
	if err != nil {
		return nil
	}
	for _, row := range rows {
		if row.Variant == ch.Variant || row.Priority != ch.Priority {
			continue
		}
		if s, err := selector.Parse(row.Selector); err == nil && !selector.Disjoint(mine, s) {
			rivals = append(rivals, row.Variant)
		}
	}
	return rivals
}

func tie(ch store.ResourceChange, rivals []string, pointer string) oapi.FieldError {
	first := ch.Variant
	for _, r := range rivals {
		first = min(first, r)
	}
	names := fmt.Sprintf("%q", rivals[:min(len(rivals), 5)])
	return oapi.FieldError{Pointer: &pointer, Code: "variant_tie", Detail: fmt.Sprintf(
		"the variant %q and %s of %s %q have the same priority, %d: a node that more than one of them matches gets the one whose name sorts first, %q; give one a higher priority, or selectors that exclude each other",
		ch.Variant, strings.Trim(names, "[]"), ch.Type, ch.Name, ch.Priority, first)}
}
