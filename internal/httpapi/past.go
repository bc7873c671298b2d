package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

func (a *API) mustBeKept(ctx context.Context, c *call, n fleet.Revision) error {
	kept, err := a.store.Kept(ctx, c.tenant.ID, c.fleet.ID, time.Time{})
	if err != nil {
		return err
	}
	return notKept(kept, n)
}

// notKept tells why the content of a revision cannot be had; nil where it can.
func notKept(kept store.Kept, n fleet.Revision) error {
	switch {
	case n > kept.Newest:
		return errMissing(oapi.MissingRevision, fmt.Sprintf("the fleet has no revision %d yet: its newest is %d", n, kept.Newest))
	case n < kept.Oldest:
		return refuse(http.StatusGone, "forgotten", fmt.Sprintf("revision %d is forgotten: the oldest whose content is kept is %d", n, kept.Oldest))
	}
	return nil
}

// asOf is the revision that a read is about, by its number or by a time; nil: it is about now.
func (a *API) asOf(ctx context.Context, c *call, revision *int64, at *time.Time) (*fleet.Revision, error) {
	switch {
	case revision == nil && at == nil:
		return nil, nil //nolint:nilnil // said above
	case revision != nil && at != nil:
		return nil, badParameter("at", "not_allowed", "give revision or at, not both")
	case revision != nil:
		n := fleet.Revision(*revision)
		return &n, a.mustBeKept(ctx, c, n)
	}
	kept, err := a.store.Kept(ctx, c.tenant.ID, c.fleet.ID, *at)
	if err != nil {
		return nil, err
	}
	if kept.At < kept.Oldest {
		return nil, refuse(http.StatusGone, "forgotten", fmt.Sprintf("what the fleet was at %s is forgotten: the oldest whose content is kept is %d",
			at.UTC().Format(time.RFC3339Nano), kept.Oldest))
	}
	return &kept.At, nil
}

// pastResources lists what the fleet had at a revision.
func (a *API) pastResources(ctx context.Context, c *call, filter store.Filter, at fleet.Revision, from *string) (out oapi.ResourceList, err error) {
	if filter.Prefix != "" || len(filter.Labels) > 0 {
		return out, badParameter("prefix", "not_allowed", "a list of what was takes neither prefix nor label")
	}
	list := fmt.Sprintf("resources@%d", at)
	if filter.Type != nil {
		list += "/" + filter.Type.Slug()
	}
	if filter.After, err = resourceCursor(list, from); err != nil {
		return out, err
	}
	rows, more, err := a.store.ResourcesOf(ctx, c.tenant.ID, c.fleet.ID, at, filter)
	if err != nil {
		return out, err
	}
	if slices.ContainsFunc(rows, func(r *store.Before) bool { return r != nil && r.Type == fleet.Secret }) {
		a.told(c, secretsRead, "listResources")
	}
	out.Items = make([]oapi.Resource, 0, len(rows))
	room := answerBytes
	for batch := range slices.Chunk(rows, bodiesAtOnce) {
		if !filter.NoBodies {
			if err := a.bodiesOf(ctx, c, batch); err != nil {
				return out, err
			}
		}
		items, err := a.entries(ctx, c, each(batch, func(b *store.Before) store.Resource { return b.Resource }), len(rows), filter.NoBodies, room)
		if err != nil {
			return out, err
		}
		for i, item := range items {
			room -= entryBytes(item)
			batch[i].Body = nil
		}
		if out.Items = append(out.Items, items...); room <= 0 {
			break
		}
	}
	if told := len(out.Items); told < len(rows) {
		last := rows[told-1].Cursor()
		more = &last
	}
	if more != nil {
		out.NextCursor = next(cursor{List: list, Type: more.Type.Slug(), Name: more.Name, Variant: more.Variant})
	}
	return out, nil
}

// bodiesOf reads the bodies of what there was; a Secret's is sealed and stays where it is.
func (a *API) bodiesOf(ctx context.Context, c *call, rows []*store.Before) error {
	var which []*store.Before
	for _, r := range rows {
		if r != nil && r.Type != fleet.Secret {
			which = append(which, r)
		}
	}
	if len(which) == 0 {
		return nil
	}
	return a.store.PlannedBodies(ctx, c.tenant.ID, which)
}

// ListResourceHistory implements listResourceHistory.
func (a *API) ListResourceHistory(ctx context.Context, c *call, r oapi.ListResourceHistoryRequestObject) (oapi.ListResourceHistoryResponseObject, error) {
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	key := store.Cursor{Type: typeOf(r.Type), Name: r.Name, Variant: deref(r.Params.Variant)}
	list := "history of " + key.Type.Slug() + "/" + key.Name + "/" + key.Variant
	from, err := parseCursor(list, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	before := fleet.Revision(from.Revision)
	if before == 0 {
		before = c.fleet.Revision + 1
	}
	changes, more, err := a.store.Changes(ctx, c.tenant.ID, c.fleet.ID, key, before, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 && from.Revision == 0 {
		return nil, missing(fleet.ErrNotFound, oapi.MissingResource, "the fleet has no "+resourceWords(key.Type, key.Name, key.Variant)+", and had none as far back as its history goes")
	}
	out := oapi.ListResourceHistory200JSONResponse{Items: each(changes, changeOf)}
	if more {
		out.NextCursor = next(cursor{List: list, Revision: int64(changes[len(changes)-1].Revision)})
	}
	return out, nil
}

func changeOf(c store.Change) oapi.ResourceChange {
	out := oapi.ResourceChange{
		Revision: int64(c.Revision), Action: oapi.Update, At: c.UpdatedAt, Actor: optional(c.UpdatedBy),
		Kind: optional(c.Of.Kind), Message: optional(c.Of.Message), Changed: optional(c.Of.Changes), Version: optional(c.Version),
	}
	switch {
	case c.Deleted:
		out.Action = oapi.Delete
		return out
	case c.Created:
		out.Action = oapi.Create
	}
	out.Etag = optional(c.ETag())
	return out
}
