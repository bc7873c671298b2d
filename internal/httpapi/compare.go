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
func (a *API) ListRevisionChanges(ctx context.Context, c *call, r oapi.ListRevisionChangesRequestObject) (oapi.ListRevisionChangesResponseObject, error) {
	p := r.Params
	if r.Revision == 0 {
		return nil, a.noSuchRevision(ctx, c, fleet.ErrNotFound, 0)
	}
	out, err := a.compareRevisions(ctx, c, "changes", r.Revision-1, r.Revision, p.Cursor, differenceFilter(p.Type, p.Name, p.Limit))
	return oapi.ListRevisionChanges200JSONResponse(out), err
}

// CompareRevisions implements compareRevisions.
func (a *API) CompareRevisions(ctx context.Context, c *call, r oapi.CompareRevisionsRequestObject) (oapi.CompareRevisionsResponseObject, error) {
	p, to := r.Params, int64(c.fleet.Revision)
	if p.To != nil {
		to = *p.To
	}
	out, err := a.compareRevisions(ctx, c, "comparison", p.From, to, p.Cursor, differenceFilter(p.Type, p.Name, p.Limit))
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

// compareRevisions answers a page of the differences of two revisions. A page that was begun
// with the newest revision goes on with what was the newest then: its cursor says so.
func (a *API) compareRevisions(ctx context.Context, c *call, list string, first, second int64, at *string, q store.DifferenceFilter) (out oapi.Comparison, err error) {
	if err := text("name", q.Name); err != nil {
		return out, err
	}
	page, err := parseCursor(list, at)
	if err != nil {
		return out, err
	}
	if page.Type != "" {
		var from, to int64
		if _, err := fmt.Sscanf(page.Type, "%d..%d", &from, &to); err != nil || !sameRevision(c, first, from) || !sameRevision(c, second, to) {
			return out, badParameter("cursor", "invalid_cursor", "this cursor is of another comparison: begin again without one")
		}
		first, second = from, to
		q.After = store.Cursor{Type: fleet.Type(page.Revision), Name: page.Name, Variant: page.Variant} //nolint:gosec // checked below
		if page.Revision < 0 || page.Revision >= int64(fleet.NumTypes) {
			return out, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
	}
	from, to := fleet.Revision(first), fleet.Revision(second)
	for _, n := range []fleet.Revision{max(from, to), min(from, to)} {
		if err := a.mustBeKept(ctx, c, n); err != nil {
			return out, err
		}
	}
	differences, more, err := a.store.Differences(ctx, c.tenant.ID, c.fleet.ID, from, to, q)
	if err != nil {
		return out, err
	}
	out.From, out.To = int64(from), int64(to)
	if out.Items, err = a.tellDifferences(ctx, c, differences); err != nil {
		return out, err
	}
	if more {
		last := differences[len(differences)-1].Key()
		out.NextCursor = next(cursor{List: list, Type: fmt.Sprintf("%d..%d", from, to), Name: last.Name, Variant: last.Variant, Revision: int64(last.Type)})
	}
	return out, nil
}

// sameRevision reports whether a revision that is asked for may be the one of the page before: by
// its number, or as the newest, or as the one before that.
func sameRevision(c *call, asked, was int64) bool {
	return asked == was || asked+1 >= int64(c.fleet.Revision) && was < asked
}

// tellDifferences says what differs, as far as one answer goes.
func (a *API) tellDifferences(ctx context.Context, c *call, differences []store.Difference) ([]oapi.Difference, error) {
	out, room := make([]oapi.Difference, 0, len(differences)), maxDiffs
	for batch := range slices.Chunk(differences, bodiesAtOnce) {
		if room > 0 {
			var rows []*store.Before
			for _, d := range batch {
				rows = append(rows, d.Before, d.After)
			}
			if err := a.bodiesOf(ctx, c, rows); err != nil {
				return nil, err
			}
		}
		err := a.computeReading(ctx, c, partBytes(comparedBytes(batch), 2*len(differences)), func(step func() error) error {
			for _, d := range batch {
				if err := step(); err != nil {
					return err
				}
				o := differenceOf(d)
				if room > 0 {
					size, err := tellDifference(&o, d)
					if err != nil {
						return err
					}
					room -= size
				}
				if room <= 0 {
					o.Omitted, o.Changes, o.Diff = optional(true), nil, nil
				}
				out = append(out, o)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// comparedBytes is how large what is compared is.
func comparedBytes(of []store.Difference) (size int) {
	for _, d := range of {
		for _, side := range []*store.Before{d.Before, d.After} {
			if side != nil {
				size += rowBytes + len(side.Body)
			}
		}
	}
	return size
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
	all, whole := diff.Changes(maxDiffs)
	if !whole {
		return maxDiffs + 1, nil
	}
	text := diff.Unified(was, is, docdiff.Context)
	changes := each(all, func(c docdiff.Change) oapi.PlannedChange {
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
