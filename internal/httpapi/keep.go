package httpapi

import (
	"context"
	"maps"

	"fairlead/internal/redact"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// kept reads what is stored of the documents that stand for that.
func (a *API) kept(ctx context.Context, c *call, docs []resource.Document) (map[store.Cursor]store.Resource, error) {
	var which []store.Cursor
	for _, d := range docs {
		if d.Keep {
			which = append(which, store.Cursor{Type: d.Type, Name: d.Name, Variant: d.Variant})
		}
	}
	if len(which) == 0 {
		return nil, nil
	}
	return a.store.Stored(ctx, c.tenant.ID, c.fleet.ID, which)
}

// keep makes the change that changes nothing: it has the content that is stored, and fails
// as stale where that has become another one meanwhile. So it asks for no right, also
// of a Secret.
func keep(d resource.Document, stored map[store.Cursor]store.Resource) (store.ResourceChange, resource.Errors) {
	row, there := stored[store.Cursor{Type: d.Type, Name: d.Name, Variant: d.Variant}]
	if !there {
		return store.ResourceChange{}, resource.Errors{{
			Pointer: d.Pointer("keep"), Code: "not_stored",
			Detail: "keep stands for a resource that is stored, and this fleet has no " + titleOf(store.ResourceChange{Type: d.Type, Name: d.Name, Variant: d.Variant}) + ": write it once with its body",
		}}
	}
	var bad resource.Errors
	for _, f := range []struct {
		field string
		same  bool
	}{
		{"selector", d.Selector == "" || d.Selector == row.Selector},
		{"priority", d.Priority == 0 || d.Priority == row.Priority},
		{"ttl", d.TTL == 0 || d.TTL == row.TTL},
		{"delivery", !d.ByName || row.Derived.ByName},
		{"labels", len(d.Labels) == 0 || maps.Equal(d.Labels, row.Labels) || maps.Equal(d.Labels, shownLabels(row.Labels))},
		{"description", d.Description == "" || d.Description == row.Description || d.Description == redact.Keys(row.Description)},
	} {
		if !f.same {
			bad = append(bad, resource.FieldError{Pointer: d.Pointer(f.field), Code: "keep_conflict", Detail: "keep leaves the resource as it is stored, where this is another one: leave it out, or write the resource with its body"})
		}
	}
	return store.ResourceChange{
		Type: row.Type, Name: row.Name, Variant: row.Variant, Selector: row.Selector, Priority: row.Priority, TTL: row.TTL,
		Labels: row.Labels, Description: row.Description, DocHash: row.DocHash, ReadAt: &row.Revision,
		Derived: row.Derived, Summary: row.Summary,
	}, bad
}

// shownLabels are labels as an answer has them.
func shownLabels(of map[string]string) map[string]string {
	out := make(map[string]string, len(of))
	for key, value := range of {
		out[redact.Keys(key)] = redact.Keys(value)
	}
	return out
}
