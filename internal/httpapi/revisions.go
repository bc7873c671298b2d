package httpapi

import (
	"context"
	"encoding/json"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListRevisions implements listRevisions: newest first.
func (a *API) ListRevisions(ctx context.Context, r oapi.ListRevisionsRequestObject) (oapi.ListRevisionsResponseObject, error) {
	c := callOf(ctx)
	from, err := parseCursor("revisions", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	revisions, more, err := page(pageLimit(r.Params.Limit), func(n int) ([]store.RevisionInfo, error) {
		return a.store.Revisions(ctx, c.tenant.ID, c.fleet.ID, fleet.Revision(from.Revision), n)
	})
	if err != nil {
		return nil, err
	}
	out := oapi.ListRevisions200JSONResponse{Items: each(revisions, revisionOf)}
	if more {
		out.NextCursor = next(cursor{List: "revisions", Revision: int64(revisions[len(revisions)-1].Revision)})
	}
	return out, nil
}

// GetRevision implements getRevision.
func (a *API) GetRevision(ctx context.Context, r oapi.GetRevisionRequestObject) (oapi.GetRevisionResponseObject, error) {
	c := callOf(ctx)
	info, err := a.store.Revision(ctx, c.tenant.ID, c.fleet.ID, fleet.Revision(r.Revision))
	if err != nil {
		return nil, noSuchRevision(err, r.Revision)
	}
	return oapi.GetRevision200JSONResponse(revisionOf(info)), nil
}

// Rollback implements rollback.
func (a *API) Rollback(ctx context.Context, r oapi.RollbackRequestObject) (oapi.RollbackResponseObject, error) {
	c, message := callOf(ctx), deref(r.Body.Message)
	if err := textField("/message", message, maxMessage); err != nil {
		return nil, err
	}
	only, err := onlyOf(r.Body.Resources)
	if err != nil {
		return nil, err
	}
	sent, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	where := newPlaces()
	where.whole = "/revision"
	w := store.Write{Actor: c.actor, Kind: "rollback", Message: message, Expect: (*fleet.Revision)(r.Body.ExpectedRevision), Only: only}
	w.Idempotency = idempotency(ctx, r.Params.IdempotencyKey, "rollback", sent)
	result, ws, err := a.rollback(ctx, fleet.Revision(r.Body.Revision), w)
	if err != nil {
		return nil, repeated(notAsExpected(where.refused(noSuchRevision(err, r.Body.Revision)), w, nil), w.Idempotency)
	}
	if result.Replayed { // what it changed does not differ any more
		if ws, err = a.writtenSince(ctx, result.Revision-1); err != nil {
			a.log.WarnContext(ctx, "look what a rollback changed", "error", err)
			return oapi.Rollback200JSONResponse(writeResult(result, nil, nil)), nil
		}
	}
	found := a.tellFindings(ctx, ws, func(oapi.Finding) *string { return &where.whole })
	return oapi.Rollback200JSONResponse(writeResult(result, nil, found)), nil
}

func revisionOf(r store.RevisionInfo) oapi.Revision {
	return oapi.Revision{
		Revision: int64(r.Revision), Kind: r.Kind, Message: optional(r.Message), Actor: optional(r.Actor),
		Changed: r.Changes, CommittedAt: r.At,
	}
}
