package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// GetGuard implements getGuard.
func (a *API) GetGuard(context.Context, *call, oapi.GetGuardRequestObject) (oapi.GetGuardResponseObject, error) {
	return oapi.GetGuard200JSONResponse{LogPaths: a.compiler.LogPaths(), Items: each(resource.Rules(), func(r resource.Rule) oapi.GuardRule {
		roles := each(a.guard.Writers(r), func(role auth.Role) oapi.Role { return oapi.Role(role) })
		return oapi.GuardRule{Rule: string(r), Code: write.GuardCode(r), Covers: r.Covers(), Reason: r.Reason(), Roles: roles}
	})}, nil
}

// refusedFields are the faults of what the caller may not write. The decision is the token's row's alone.
func (a *API) refusedFields(c *call, found []resource.Guarded, prefix string) []oapi.FieldError {
	return a.guard.Refused(c.principal.Role, c.fleet.LocalPorts, found, prefix, a.compiler.LogPaths())
}

// errGuarded refuses a write with all of its places.
func errGuarded(faults []oapi.FieldError) *problem {
	detail := fmt.Sprintf("the guard rules do not let this token's role write %d of the fields", len(faults))
	if len(faults) == 1 {
		detail = faults[0].Detail
	}
	code := "guarded"
	if !slices.ContainsFunc(faults, func(f oapi.FieldError) bool { return f.Code != write.CodeUsesSecret }) {
		code = write.CodeUsesSecret
		if len(faults) > 1 {
			detail = fmt.Sprintf("this token may not use the secrets of %d of the fields", len(faults))
		}
	}
	return refuse(http.StatusForbidden, code, detail, boundFaults(faults)...)
}

func boundFaults(faults []oapi.FieldError) []oapi.FieldError {
	if len(faults) <= write.MaxFaults {
		return faults
	}
	last := fault(nil, nil, codeTooMany, fmt.Sprintf("more than %d: the rest is left out", write.MaxFaults))
	return append(faults[:write.MaxFaults:write.MaxFaults], last)
}

// guarded is what of a write the caller may not write, by the change's place in it.
type guarded map[int][]oapi.FieldError

// some leaves out what has no faults.
func (g guarded) some() guarded {
	maps.DeleteFunc(g, func(_ int, faults []oapi.FieldError) bool { return len(faults) == 0 })
	return g
}

// problem is nil when there is nothing.
func (g guarded) problem() error {
	var all []oapi.FieldError
	for _, i := range slices.Sorted(maps.Keys(g)) {
		all = append(all, g[i]...)
	}
	if len(all) == 0 {
		return nil
	}
	return errGuarded(all)
}

// maxLooks bounds how often a write is checked anew because the fleet has moved.
const maxLooks = 5

// writeGuarded makes a write of which the caller may not write some. What is stored
// already, byte for byte, is no change and may stand in it: each such change is tied to
// the ETag under which it was found the same, so that it cannot become a change. write is
// the store's call.
func (a *API) writeGuarded(ctx context.Context, c *call, w store.Write, not guarded, write func(context.Context, *call, store.Write) (store.Result, error)) (store.Result, error) {
	if len(not) == 0 {
		return write(ctx, c, w)
	}
	for look := 1; ; look++ {
		tied, refused, err := a.tie(ctx, c, w, not)
		if err != nil {
			return store.Result{}, err
		}
		if err := refused.problem(); err != nil {
			return a.replayed(ctx, c, w, err)
		}
		result, err := write(ctx, c, tied)
		var stale *store.StaleError
		switch {
		case !errors.As(err, &stale) || w.Seen != nil || not[stale.Changed[0].Index] == nil || preconditioned(w.Changes[stale.Changed[0].Index]):
			return result, err
		case look == maxLooks:
			return result, errMoving()
		}
	}
}

// preconditioned holds of a change of which the caller said what must be stored.
func preconditioned(c store.ResourceChange) bool {
	return c.IfMatch != "" || c.IfNoneMatch || c.ReadAt != nil || c.ReadTag != ""
}

// errMoving tells that others wrote each time between the check of a write and the write.
func errMoving() error {
	p := refuse(http.StatusConflict, "conflict", "the fleet changed each time while this was checked; repeat the request")
	p.retry = retryAfter
	return p
}

// tie reads what is stored of the changes that the caller may not make: it returns the
// write with the ETags of those that are none, and the others.
func (a *API) tie(ctx context.Context, c *call, w store.Write, not guarded) (store.Write, guarded, error) {
	refused, order := guarded{}, slices.Sorted(maps.Keys(not))
	which := make([]store.Cursor, len(order))
	for n, i := range order {
		which[n] = cursorOf(w.Changes[i])
	}
	stored, err := a.store.Stored(ctx, c.tenant.ID, c.fleet.ID, which)
	if err != nil {
		return w, nil, err
	}
	w.Changes = slices.Clone(w.Changes)
	for _, i := range order {
		change := &w.Changes[i]
		row, there := stored[cursorOf(*change)]
		switch {
		case !there || row.DocHash != change.DocHash:
			refused[i] = not[i]
		case change.IfMatch == "" || change.IfMatch == "*":
			change.IfMatch = row.ETag()
		case change.IfMatch != row.ETag(): // it fails now, and may fit what somebody is about to write
			change.ReadTag = row.ETag()
		}
	}
	return w, refused, nil
}

func cursorOf(c store.ResourceChange) store.Cursor {
	return store.Cursor{Type: c.Type, Name: c.Name, Variant: c.Variant}
}

// replayed answers a repeat of a write that was made, although it would be refused now;
// of any other the answer is the refusal.
func (a *API) replayed(ctx context.Context, c *call, w store.Write, refusal error) (store.Result, error) {
	if w.Idempotency == nil {
		return store.Result{}, refusal
	}
	w.Actor = c.actor
	result, err := a.store.Replay(ctx, c.tenant.ID, c.fleet.ID, w)
	if errors.Is(err, fleet.ErrNotFound) {
		return result, refusal
	}
	return result, err
}
