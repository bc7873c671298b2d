package httpapi

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/store"
)

// sentRollback is a rollback, or a plan of one, as it was sent.
type sentRollback struct {
	to    fleet.Revision
	write store.Write
	seen  []seenPlan // what it must come to; that on which the oldest was made is write.Seen
	where *places
}

// seenPlan is the token of a plan, and where it stands.
type seenPlan struct {
	pointer string
	write.PlanToken
}

func sentRollbackOf(c *call, body *oapi.RollbackRequest) (s sentRollback, err error) {
	message := deref(body.Message)
	if err := textField("/message", message, maxMessage); err != nil {
		return s, err
	}
	only, err := onlyOf(body.Resources)
	if err != nil {
		return s, err
	}
	s = sentRollback{to: fleet.Revision(body.Revision), where: newPlaces()}
	s.where.whole = "/revision"
	s.write = store.Write{
		Actor: c.actor, Kind: "rollback", Message: message, Expect: (*fleet.Revision)(body.ExpectedRevision), Only: only, Confirmed: new(store.Reasons),
	}
	for _, sent := range []struct {
		pointer string
		token   *string
	}{{"/plan", body.Plan}, {"/confirm", body.Confirm}} {
		if sent.token == nil {
			continue
		}
		token, ok := write.ParsePlanToken(*sent.token)
		if !ok {
			return s, badField(sent.pointer, "invalid_plan", write.NotAPlan)
		}
		s.seen = append(s.seen, seenPlan{sent.pointer, token})
		if s.write.Seen == nil || token.Seen.Revision < s.write.Seen.Revision {
			s.write.Seen = &token.Seen
		}
		if sent.pointer == "/confirm" {
			s.write.Confirmed = &token.Reasons
		}
	}
	return s, nil
}

// mustBeOf refuses a rollback that comes to something else than what was seen.
func (s sentRollback) mustBeOf(content [16]byte) error {
	for _, seen := range s.seen {
		if seen.Content != content {
			return errRollsBackOther(seen.pointer)
		}
	}
	return nil
}

// refused turns the store's refusal into a problem that points into what was sent.
func (s sentRollback) refused(ctx context.Context, c *call, a *API, err error) error {
	var stale *store.StaleError
	var moved *store.MovedError
	if len(s.seen) > 0 && s.write.Expect == nil && (errors.As(err, &stale) || errors.As(err, &moved)) {
		return errRollsBackOther(s.seen[0].pointer)
	}
	return notAsExpected(s.where.refused(a.noSuchRevision(ctx, c, err, int64(s.to))), s.write, "", nil)
}

// findings tells what is to be said of the fleet because of what is written, and what that was found in.
func (s sentRollback) findings(ctx context.Context, c *call, a *API, ws []written) (*oapi.WriteFindings, *besides) {
	return a.tellWritten(ctx, c, ws, func(oapi.Finding) *string { return &s.where.whole })
}

// Rollback implements rollback.
func (a *API) Rollback(ctx context.Context, c *call, r oapi.RollbackRequestObject) (oapi.RollbackResponseObject, error) {
	s, err := sentRollbackOf(c, r.Body)
	if err != nil {
		return nil, err
	}
	sent, err := json.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	s.write.Idempotency = idempotency(c, r.Params.IdempotencyKey, "rollback", sent)
	result, look, err := a.rollback(ctx, c, s, func(_ rollbackLook, w store.Write) (store.Result, error) {
		return a.madeBy(ctx, c, func(ctx context.Context) (store.Result, error) {
			return a.store.Rollback(ctx, c.tenant.ID, c.fleet.ID, s.to, w)
		})
	})
	if err != nil {
		return nil, repeated(s.refused(ctx, c, a, err), s.write.Idempotency)
	}
	ws := look.writes
	if result.Replayed { // what it changed does not differ any more
		if ws, err = a.writtenSince(ctx, c, result.Revision-1); err != nil {
			a.log.WarnContext(ctx, "look what a rollback changed", "error", err)
			return oapi.Rollback200JSONResponse(writeResult(result, nil, nil)), nil
		}
	}
	found, _ := s.findings(ctx, c, a, ws)
	return oapi.Rollback200JSONResponse(writeResult(result, nil, found)), nil
}

// PlanRollback implements planRollback.
func (a *API) PlanRollback(ctx context.Context, c *call, r oapi.PlanRollbackRequestObject) (oapi.PlanRollbackResponseObject, error) {
	from, err := parseCursor("plan", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	s, err := sentRollbackOf(c, r.Body)
	if err != nil {
		return nil, err
	}
	var p store.Planned
	_, look, err := a.rollback(ctx, c, s, func(look rollbackLook, w store.Write) (_ store.Result, err error) {
		w.Changes, w.Seen = look.resources, nil
		p, err = a.store.PlanRollback(ctx, c.tenant.ID, c.fleet.ID, s.to, w)
		return store.Result{}, err
	})
	if err != nil {
		return nil, s.refused(ctx, c, a, err)
	}
	changes := look.resources
	p.Seen = look.at // what others wrote since is not in it
	out, err := a.planOf(ctx, c, p, changes, func(batch []difference) error { return a.bodiesBack(ctx, c, look.changes, batch) })
	if err != nil {
		return nil, err
	}
	var beside *besides
	if out.Findings, beside = s.findings(ctx, c, a, look.writes); beside != nil {
		withhold(out.Resources, changes, beside)
		out.Reach = a.tellReach(ctx, c, out.Resources, rewritten{changes, p.Before, beside}, idPage{from.Name, pageLimit(r.Params.Limit)})
	}
	out.Warnings = warningsOf(nil, out.Findings)
	return oapi.PlanRollback200JSONResponse(out), nil
}

// bodiesBack reads what a rollback would put; a Secret's body is sealed and stays where it is.
func (a *API) bodiesBack(ctx context.Context, c *call, changes []store.RollbackChange, batch []difference) error {
	bodies, err := a.store.RollbackBodies(ctx, c.tenant.ID, each(batch, func(d difference) store.RollbackChange { return changes[d.place] }))
	if err != nil {
		return err
	}
	for i := range batch {
		batch[i].body = bodies[i]
	}
	return nil
}
