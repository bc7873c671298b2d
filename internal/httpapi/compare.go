package httpapi

import (
	"context"
	"fmt"
	"slices"

	"fairlead/internal/docdiff"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListRevisionChanges implements listRevisionChanges.
func (a *API) ListRevisionChanges(ctx context.Context, r oapi.ListRevisionChangesRequestObject) (oapi.ListRevisionChangesResponseObject, error) {
	to, err := revisionNumber(ctx, r.Revision)
	if err != nil {
		return nil, err
	}
	p := r.Params
	list := "changes of " + r.Revision
	from, err := parseCursor(list, p.Cursor)
	if err != nil {
		return nil, err
	}
	if from.Revision > 0 {
		to = fleet.Revision(from.Revision)
	}
	if to == 0 {
		return nil, noSuchRevision(fleet.ErrNotFound, 0)
	}
	out, err := a.compareRevisions(ctx, to-1, to, list, from, differenceFilter(p.Type, p.Name, p.Limit))
	return oapi.ListRevisionChanges200JSONResponse(out), err
}

// CompareRevisions implements compareRevisions.
func (a *API) CompareRevisions(ctx context.Context, r oapi.CompareRevisionsRequestObject) (oapi.CompareRevisionsResponseObject, error) {
	p := r.Params
	from, err := revisionNumber(ctx, p.From)
	if err != nil {
		return nil, err
	}
	name := latest
	if p.To != nil {
		name = *p.To
	}
	to, err := revisionNumber(ctx, name)
	if err != nil {
		return nil, err
	}
	list := "comparison of " + p.From + " and " + name
	at, err := parseCursor(list, p.Cursor)
	if err != nil {
		return nil, err
	}
	if at.Revision > 0 && name == latest { // the next page is of what was the latest then
		to = fleet.Revision(at.Revision)
	}
	if at.Revision > 0 && p.From == latest {
		from = fleet.Revision(at.Revision)
	}
	out, err := a.compareRevisions(ctx, from, to, list, at, differenceFilter(p.Type, p.Name, p.Limit))
	return oapi.CompareRevisions200JSONResponse(out), err
}

func differenceFilter(t *oapi.OnlyType, name *string, limit *int) store.DifferenceFilter {
	q := store.DifferenceFilter{Name: deref(name), Limit: pageLimit(limit)}
	if t != nil {
		v := typeOf(*t)
		q.Type = &v
	}
	return q
}

// compareRevisions answers a page of the differences of two revisions.
func (a *API) compareRevisions(ctx context.Context, from, to fleet.Revision, list string, at cursor, q store.DifferenceFilter) (out oapi.Comparison, err error) {
	c := callOf(ctx)
	if err := text("name", q.Name); err != nil {
		return out, err
	}
	if at.Type != "" {
		t, known := fleet.TypeFromSlug(at.Type)
		if !known {
			return out, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
		q.After = store.Cursor{Type: t, Name: at.Name, Variant: at.Variant}
	}
	for _, n := range []fleet.Revision{max(from, to), min(from, to)} {
		if err := a.mustBeKept(ctx, n); err != nil {
			return out, err
		}
	}
	differences, more, err := a.store.Differences(ctx, c.tenant.ID, c.fleet.ID, from, to, q)
	if err != nil {
		return out, err
	}
	out.From, out.To = int64(from), int64(to)
	if out.Items, err = a.tellDifferences(ctx, differences); err != nil {
		return out, err
	}
	if more {
		last := differences[len(differences)-1].Key()
		out.NextCursor = next(cursor{List: list, Type: last.Type.Slug(), Name: last.Name, Variant: last.Variant, Revision: int64(max(from, to))})
	}
	return out, nil
}

// tellDifferences says what differs, as far as one answer goes.
func (a *API) tellDifferences(ctx context.Context, differences []store.Difference) ([]oapi.Difference, error) {
	out, room := make([]oapi.Difference, 0, len(differences)), maxDiffs
	for batch := range slices.Chunk(differences, bodiesAtOnce) {
		if room > 0 {
			var rows []*store.Before
			for _, d := range batch {
				rows = append(rows, d.Before, d.After)
			}
			if err := a.bodiesOf(ctx, rows); err != nil {
				return nil, err
			}
		}
		for _, d := range batch {
			o := differenceOf(d)
			if room > 0 {
				size, err := tellDifference(&o, d)
				if err != nil {
					return nil, err
				}
				room -= size
			}
			if room <= 0 {
				o.Omitted, o.Changes, o.Diff = optional(true), nil, nil
			}
			out = append(out, o)
		}
	}
	return out, nil
}

func differenceOf(d store.Difference) oapi.Difference {
	k := d.Key()
	o := oapi.Difference{
		Type: oapi.ResourceType(k.Type.Slug()), Name: k.Name, Variant: optional(k.Variant), Action: oapi.Update,
		Before: sideOf(d.Before), After: sideOf(d.After),
	}
	switch {
	case d.Before == nil:
		o.Action = oapi.Create
	case d.After == nil:
		o.Action = oapi.Delete
	}
	return o
}

func sideOf(b *store.Before) *oapi.Side {
	if b == nil {
		return nil
	}
	return &oapi.Side{Revision: int64(b.Revision), Version: b.Version, UpdatedAt: b.UpdatedAt, UpdatedBy: optional(b.UpdatedBy)}
}

// tellDifference writes the difference and returns its size in bytes.
func tellDifference(o *oapi.Difference, d store.Difference) (size int, err error) {
	var before, after *shown
	name := titleOf(store.ResourceChange{Type: d.Key().Type, Name: d.Key().Name, Variant: d.Key().Variant})
	was, is := name+" (none)", name+" (none)"
	if d.Before != nil {
		if before, err = shownOf(d.Before.Resource); err != nil {
			return 0, err
		}
		was = fmt.Sprintf("%s (revision %d)", name, d.Before.Revision)
	}
	if d.After != nil {
		if after, err = shownOf(d.After.Resource); err != nil {
			return 0, err
		}
		is = fmt.Sprintf("%s (revision %d)", name, d.After.Revision)
	}
	diff, hidden, err := compare(before, after)
	if err != nil {
		return 0, err
	}
	text := diff.Unified(was, is, docdiff.Context)
	changes := each(diff.Changes(), func(c docdiff.Change) oapi.PlannedChange {
		size += len(c.Pointer) + len(c.Before) + len(c.After)
		out := oapi.PlannedChange{Pointer: c.Pointer, Op: oapi.PlannedChangeOp(c.Op)}
		if c.Op != docdiff.Add {
			out.Before = &c.Before
		}
		if c.Op != docdiff.Remove {
			out.After = &c.After
		}
		return out
	})
	o.Changes, o.Diff, o.Hidden = &changes, optional(text), optional(hidden)
	return size + len(text), nil
}
