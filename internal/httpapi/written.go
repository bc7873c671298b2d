package httpapi

import (
	"context"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// written is a resource as a write puts it, or deletes it.
type written struct {
	store.ResourceChange // its Body is not looked at
	facts                *resource.Facts
}

// writtenBy reads what counts out of the changes of a write.
func (a *API) writtenBy(ctx context.Context, c *call, changes []store.ResourceChange) ([]written, error) {
	out, size := make([]written, 0, len(changes)), 0
	for _, ch := range changes {
		size += rowBytes + len(ch.Body)
	}
	err := a.compute(ctx, c, sizeKind(size), func(step func() error) error {
		for _, ch := range changes {
			if err := step(); err != nil {
				return err
			}
			out = append(out, writtenAs(ch, ch.Body))
		}
		return nil
	})
	return out, err
}

func writtenAs(ch store.ResourceChange, body []byte) written {
	row := store.Resource{Row: fleet.Row{Type: ch.Type, Name: ch.Name, Body: body, Derived: ch.Derived}, Summary: ch.Summary}
	switch {
	case ch.Delete:
		return written{ch, nil}
	case ch.Type == fleet.Secret, len(body) == 0: // sealed, or kept: what is derived of it is there
		return written{ch, read.FactsOfSecret(row)}
	}
	return written{ch, read.FactsOf(row)}
}

// writtenSince reads what has changed since a revision as it is now.
func (a *API) writtenSince(ctx context.Context, c *call, rev fleet.Revision) ([]written, error) {
	_, changes, err := a.store.RollbackChanges(ctx, c.tenant.ID, c.fleet.ID, rev, nil)
	if err != nil {
		return nil, err
	}
	names := refSet{seen: map[fleet.Ref]bool{}}
	for _, ch := range changes {
		names.add(fleet.Ref{Type: ch.Type, Name: ch.Name})
	}
	rows, err := a.store.Neighbours(ctx, c.tenant.ID, c.fleet.ID, names.refs, nil, 0)
	if err != nil {
		return nil, err
	}
	there := map[store.Cursor]*store.Neighbour{}
	for i := range rows {
		there[rows[i].Cursor()] = &rows[i]
	}
	var ws []written
	for batch := range slices.Chunk(changes, bodiesAtOnce) {
		var read []*store.Neighbour
		for _, ch := range batch {
			if r := there[cursorOf(ch.ResourceChange)]; r != nil && r.Type != fleet.Secret {
				read = append(read, r)
			}
		}
		if err := a.store.PlannedBodies(ctx, c.tenant.ID, read); err != nil {
			return nil, err
		}
		if ws, err = a.writtenNow(ctx, c, ws, batch, there, len(changes)); err != nil {
			return nil, err
		}
	}
	return ws, nil
}

// writtenNow adds a batch of so many changes as they are now, and drops their bodies.
func (a *API) writtenNow(ctx context.Context, c *call, ws []written, batch []store.RollbackChange, there map[store.Cursor]*store.Neighbour, of int) ([]written, error) {
	size := 0
	for _, ch := range batch {
		if r := there[cursorOf(ch.ResourceChange)]; r != nil {
			size += rowBytes + len(r.Body)
		}
	}
	err := a.compute(ctx, c, sizeKind(partBytes(size, of)), func(step func() error) error {
		for _, ch := range batch {
			if err := step(); err != nil {
				return err
			}
			now := store.ResourceChange{Type: ch.Type, Name: ch.Name, Variant: ch.Variant, Delete: true}
			var body []byte
			if r := there[cursorOf(ch.ResourceChange)]; r != nil {
				now.Delete, now.Selector, now.Priority, now.Derived, now.Summary = false, r.Selector, r.Priority, r.Derived, r.Summary
				body, r.Body = r.Body, nil
			}
			ws = append(ws, writtenAs(now, body))
		}
		return nil
	})
	return ws, err
}
