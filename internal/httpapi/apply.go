package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// Apply implements apply.
func (a *API) Apply(ctx context.Context, c *call, r oapi.ApplyRequestObject) (oapi.ApplyResponseObject, error) {
	s, err := a.sentApply(ctx, c)
	if err != nil {
		return nil, err
	}
	s.write.Idempotency = idempotency(c, r.Params.IdempotencyKey, "apply", c.document.bytes)
	result, err := a.writeUsing(ctx, c, s.write, s.not, s.where, a.write)
	if err != nil {
		return nil, repeated(s.toConfirm(c, s.refused(a.suggest(ctx, c, s.where, err))), s.write.Idempotency)
	}
	warnings := append(s.warnings, absent(s.write.Changes, func(i int) bool { return !result.Deleted(i) }, s.at)...)
	found, _ := s.findings(ctx, c, a)
	return oapi.Apply200JSONResponse(writeResult(result, a.withDoubts(ctx, c, warnings, s.write.Changes, s.at), found)), nil
}

// sentApply is an apply, or a plan of one, as it was sent.
type sentApply struct {
	write     store.Write
	resources int // how many of the changes stood in the list of resources; the others in that of deletions
	warnings  []oapi.FieldError
	not       guarded // what the caller may not write
	where     *places
	seen      string // the field whose token tells what was seen
}

func (a *API) sentApply(ctx context.Context, c *call) (s sentApply, err error) {
	sent, in := c.document, resource.Apply{}
	err = a.compute(ctx, c, sizeKind(len(sent.bytes)), func(func() error) error {
		raw, err := sent.json()
		if err == nil {
			in, err = resource.ParseApply(raw)
		}
		return err
	})
	if err != nil {
		return s, err
	}
	s.where, s.resources = newPlaces(), len(in.Resources)
	s.write = store.Write{Actor: c.actor, Kind: "apply", Message: in.Message, Expect: (*fleet.Revision)(in.ExpectedRevision)}
	if s.write.Changes, s.warnings, s.not, err = a.compileAll(ctx, c, in, s.where); err != nil {
		return s, err
	}
	if s.resources == 0 && len(s.write.Changes) > 0 {
		s.write.Kind = "delete"
	}
	s.write.Confirmed = new(store.Reasons)
	if err := s.planned(c, "/plan", in.Plan); err != nil {
		return s, err
	}
	return s, s.planned(c, "/confirm", in.Confirm)
}

// planned reads a token of a plan, which must be of what was sent. Of two the older one tells what was seen.
func (s *sentApply) planned(c *call, pointer, token string) error {
	if token == "" {
		return nil
	}
	plan, ok := write.ParsePlanToken(token)
	switch {
	case !ok:
		return resource.Errors{{Pointer: pointer, Code: "invalid_plan", Detail: write.NotAPlan}}
	case plan.Content != write.ContentOf(c.fleet.ID, s.write.Changes):
		return errNotPlanned(pointer)
	}
	if s.write.Seen == nil || plan.Seen.Revision < s.write.Seen.Revision {
		s.write.Seen, s.seen = &plan.Seen, pointer
	}
	if pointer == "/confirm" {
		s.write.Confirmed = &plan.Reasons
	}
	return nil
}

// at is where a change stood in what was sent.
func (s *sentApply) at(change int) string {
	if change >= s.resources {
		return "/delete/" + strconv.Itoa(change-s.resources)
	}
	return "/resources/" + strconv.Itoa(change)
}

// findings tells what is to be said of the fleet because of what was sent, and what that was found in.
func (s *sentApply) findings(ctx context.Context, c *call, a *API) (*oapi.WriteFindings, *besides) {
	return a.tellBeside(ctx, c, s.write.Changes, s.where.finding(sentAt(s.write.Changes, s.at)))
}

// refused turns the store's refusal into a problem that points into what was sent.
func (s *sentApply) refused(err error) error {
	return notAsExpected(s.where.refused(err), s.write, s.seen, func(c store.Changed) oapi.FieldError {
		pointer := s.at(c.Index)
		if s.write.Seen == nil {
			pointer += readField(s.write.Changes[c.Index], c)
		}
		return oapi.FieldError{Pointer: &pointer}
	})
}

// toConfirm gives a refusal until it is confirmed its token.
func (s *sentApply) toConfirm(c *call, err error) error {
	return toConfirm(err, write.ContentOf(c.fleet.ID, s.write.Changes))
}

// compileAll compiles everything before it complains, so that all faults of a file are
// told at once.
func (a *API) compileAll(ctx context.Context, c *call, in resource.Apply, where *places) ([]store.ResourceChange, []oapi.FieldError, guarded, error) {
	stored, err := a.kept(ctx, c, in.Resources)
	if err != nil {
		return nil, nil, nil, err
	}
	var out compiled
	err = a.compute(ctx, c, sizeKind(len(c.document.bytes)), func(step func() error) (err error) {
		out, err = a.compileEach(c, in, stored, where, step)
		return err
	})
	return out.changes, out.warnings, out.not, err
}

// compiled is what an apply comes to.
type compiled struct {
	changes  []store.ResourceChange
	warnings []oapi.FieldError
	not      guarded
}

func (a *API) compileEach(c *call, in resource.Apply, stored map[store.Cursor]store.Resource, where *places, step func() error) (out compiled, err error) {
	var changes []store.ResourceChange
	var warnings []oapi.FieldError
	var bad resource.Errors
	not := guarded{}
	for i, d := range in.Resources {
		if err := step(); err != nil {
			return out, err
		}
		if len(bad) > write.MaxFaults {
			bad = append(bad[:write.MaxFaults:write.MaxFaults], resource.FieldError{Code: codeTooMany, Detail: fmt.Sprintf("more than %d: the rest is left out", write.MaxFaults)})
			break
		}
		if d.Keep {
			change, faults := keep(d, stored)
			bad, changes = append(bad, faults...), append(changes, change)
			continue
		}
		change, warn, refused, err := a.compile(c, withStep(d, step), where)
		var faults resource.Errors
		switch {
		case errors.As(err, &faults):
			bad = append(bad, faults...)
		case err != nil:
			return out, err
		}
		changes, not[i] = append(changes, change), refused
		if len(warnings) <= write.MaxFaults {
			warnings = append(warnings, warn...)
		}
	}
	for i, d := range in.Delete {
		if err := mayWrite(c, d.Type, d.Name); err != nil {
			return out, err
		}
		changes = append(changes, store.ResourceChange{Type: d.Type, Name: d.Name, Variant: d.Variant, Delete: true})
		where.deleted[fleet.Ref{Type: d.Type, Name: d.Name}] = "/delete/" + strconv.Itoa(i)
	}
	if len(bad) > 0 {
		return out, bad
	}
	return compiled{changes, boundFaults(warnings), not.some()}, nil
}
