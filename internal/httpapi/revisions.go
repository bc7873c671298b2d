package httpapi

import (
	"context"
	"errors"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// mostReceipts is how many receipts a list of revisions asks for unless it is told.
const mostReceipts = 1

// ListRevisions implements listRevisions: newest first.
func (a *API) ListRevisions(ctx context.Context, c *call, r oapi.ListRevisionsRequestObject) (oapi.ListRevisionsResponseObject, error) {
	p := r.Params
	from, err := parseCursor("revisions", p.Cursor)
	if err != nil {
		return nil, err
	}
	q := store.RevisionFilter{
		Before: fleet.Revision(from.Revision), Limit: pageLimit(p.Limit), Kind: string(deref(p.Kind)), Actor: deref(p.Actor),
		Since: deref(p.Since), Until: deref(p.Until), Name: deref(p.Name), Variant: deref(p.Variant), Type: string(deref(p.Type)),
	}
	switch {
	case q.Name != "" && q.Type == "":
		return nil, badParameter("name", "incomplete", "the name of a resource goes with its type")
	case q.Variant != "" && q.Name == "":
		return nil, badParameter("variant", "incomplete", "a variant goes with the type and the name of its resource")
	case !plainText(q.Actor):
		return nil, badParameter("actor", "invalid_text", "a name is UTF-8 without NUL")
	}
	if err := resourceName(q.Name, p.Variant); err != nil {
		return nil, err
	}
	revisions, more, err := a.store.Revisions(ctx, c.tenant.ID, c.fleet.ID, q)
	if err != nil {
		return nil, err
	}
	out := oapi.ListRevisions200JSONResponse{Items: each(revisions, revisionOf)}
	receipts := mostReceipts
	if p.Receipts != nil {
		receipts = *p.Receipts
	}
	for i := range min(receipts, len(revisions)) {
		receipt, err := a.store.Receipt(ctx, c.tenant.ID, c.fleet.ID, revisions[i].Revision)
		if errors.Is(err, fleet.ErrNotFound) {
			continue // forgotten meanwhile
		}
		if err != nil {
			return nil, err
		}
		out.Items[i].Receipt = optional(oapi.ReceiptState(receipt.State))
	}
	if more > 0 {
		out.NextCursor = next(cursor{List: "revisions", Revision: int64(more)})
	}
	return out, nil
}

// GetRevision implements getRevision.
func (a *API) GetRevision(ctx context.Context, c *call, r oapi.GetRevisionRequestObject) (oapi.GetRevisionResponseObject, error) {
	info, err := a.store.Revision(ctx, c.tenant.ID, c.fleet.ID, fleet.Revision(r.Revision))
	if err != nil {
		return nil, a.noSuchRevision(ctx, c, err, r.Revision)
	}
	return oapi.GetRevision200JSONResponse(revisionOf(info)), nil
}

func revisionOf(r store.RevisionInfo) oapi.Revision {
	run := 0
	if r.RunFrom > 0 {
		run = int(r.Revision-r.RunFrom) + 1
	}
	return oapi.Revision{
		Run:      optional(run),
		Revision: int64(r.Revision), Kind: r.Kind, Message: optional(r.Message), Actor: optional(r.Actor),
		Changed: r.Changes, Created: r.Created, Updated: r.Changes - r.Created - r.Deleted, Deleted: r.Deleted, CommittedAt: r.At,
	}
}
