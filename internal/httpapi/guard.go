package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// Guard says of each guard rule the least role whose tokens may write what it names; ""
// is nobody, not even the owner. A rule that is missing is nobody's either.
type Guard map[resource.Rule]auth.Role

// nobody is how a Guard's "" is written.
const nobody = "nobody"

// DefaultGuard leaves what the rules name to admins and owners.
func DefaultGuard() Guard {
	g := Guard{}
	for _, r := range resource.Rules() {
		g[r] = auth.RoleAdmin
	}
	return g
}

// ParseGuard reads "rule=role" for each rule that is not to be as DefaultGuard has it.
func ParseGuard(settings []string) (Guard, error) {
	g := DefaultGuard()
	for _, s := range settings {
		name, who, ok := strings.Cut(s, "=")
		rule := resource.Rule(name)
		if _, known := g[rule]; !ok || !known {
			return nil, fmt.Errorf("guard setting %q: write rule=role, where rule is one of %s: %w", s, rulesText(), fleet.ErrInvalid)
		}
		if who == nobody {
			g[rule] = ""
			continue
		}
		role, err := auth.ParseRole(who)
		if err != nil || role == auth.RoleViewer {
			return nil, fmt.Errorf("guard setting %q: the role is one of ci, editor, admin, owner, nobody: %w", s, fleet.ErrInvalid)
		}
		g[rule] = role
	}
	return g, nil
}

func rulesText() string {
	var names []string
	for _, r := range resource.Rules() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// may reports whether a token of the role may write what the rule names.
func (g Guard) may(role auth.Role, rule resource.Rule) bool {
	return slices.Contains(g.writers(rule), role)
}

// writers are the roles from the rule's least one up.
func (g Guard) writers(rule resource.Rule) []auth.Role {
	i := slices.Index(auth.Roles(), g[rule])
	if i < 0 {
		return nil
	}
	return auth.Roles()[i:]
}

// fault tells of one place: which rule names it, whose tokens may write it, and how to ask for it, or do without.
func (g Guard) fault(found resource.Guarded, pointer string, logPaths []string) oapi.FieldError {
	detail, how := fmt.Sprintf("%s (guard rule %s)", found.Rule.Reason(), found.Rule), "ask one of them to write it"
	switch roles := g.writers(found.Rule); len(roles) {
	case 0:
		detail, how = detail+"; this installation lets no token write it", "ask who runs the installation (--guard)"
	case 1:
		detail += fmt.Sprintf("; only tokens of the role %s may write it", roles[0])
	default:
		names := make([]string, len(roles))
		for i, r := range roles {
			names[i] = string(r)
		}
		last := len(names) - 1
		detail += fmt.Sprintf("; only tokens of the roles %s and %s may write it", strings.Join(names[:last], ", "), names[last])
	}
	if found.Port != 0 && g.may(auth.RoleAdmin, found.Rule) {
		how += fmt.Sprintf(", or an admin to add %d to the fleet's local_ports", found.Port)
		if found.Port == resource.AdminPort {
			how += ", which gives Envoy's admin interface to everybody who writes"
		}
	}
	if found.Rule == resource.RuleFileLogs && len(logPaths) > 0 {
		how += fmt.Sprintf(", or log to one of %s, where every role may", strings.Join(logPaths, ", "))
	}
	return oapi.FieldError{Pointer: &pointer, Code: guardCode(found.Rule), Detail: detail + ": " + how}
}

// open reports whether the fleet gives what a place leads to to everybody who writes. An admin says so; where an
// admin may not write it, it is not theirs to give.
func (g Guard) open(found resource.Guarded, ports []int32) bool {
	return found.Port != 0 && slices.Contains(ports, int32(found.Port)) && g.may(auth.RoleAdmin, found.Rule) //nolint:gosec // a port
}

// GetGuard implements getGuard.
func (a *API) GetGuard(context.Context, oapi.GetGuardRequestObject) (oapi.GetGuardResponseObject, error) {
	return oapi.GetGuard200JSONResponse{LogPaths: a.compiler.LogPaths(), Items: each(resource.Rules(), func(r resource.Rule) oapi.GuardRule {
		roles := each(a.guard.writers(r), func(role auth.Role) oapi.Role { return oapi.Role(role) })
		return oapi.GuardRule{Rule: string(r), Code: guardCode(r), Covers: r.Covers(), Reason: r.Reason(), Roles: roles}
	})}, nil
}

func guardCode(r resource.Rule) string { return "guard_" + string(r) }

// refused are the faults of what the caller may not write, with prefix before their
// pointers. The decision is the token's row's alone.
func (g Guard) refused(ctx context.Context, found []resource.Guarded, prefix string, logPaths []string) (out []oapi.FieldError) {
	c := callOf(ctx)
	for _, f := range found {
		if !g.may(c.principal.Role, f.Rule) && !g.open(f, c.fleet.LocalPorts) {
			out = append(out, g.fault(f, prefix+f.Pointer, logPaths))
		}
		if len(out) > maxFaults {
			break // the answer leaves the rest out
		}
	}
	return out
}

// errGuarded refuses a write with all of its places.
func errGuarded(faults []oapi.FieldError) *problem {
	detail := fmt.Sprintf("the guard rules do not let this token's role write %d of the fields", len(faults))
	if len(faults) == 1 {
		detail = faults[0].Detail
	}
	code := "guarded"
	if !slices.ContainsFunc(faults, func(f oapi.FieldError) bool { return f.Code != codeUsesSecret }) {
		code = codeUsesSecret
		if len(faults) > 1 {
			detail = fmt.Sprintf("this token may not use the secrets of %d of the fields", len(faults))
		}
	}
	return refuse(http.StatusForbidden, code, detail, boundFaults(faults)...)
}

// maxFaults bounds how many faults one answer holds.
const maxFaults = 100

func boundFaults(faults []oapi.FieldError) []oapi.FieldError {
	if len(faults) <= maxFaults {
		return faults
	}
	last := fault(nil, nil, codeTooMany, fmt.Sprintf("more than %d: the rest is left out", maxFaults))
	return append(faults[:maxFaults:maxFaults], last)
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
func (a *API) writeGuarded(ctx context.Context, w store.Write, not guarded, write func(context.Context, store.Write) (store.Result, error)) (store.Result, error) {
	if len(not) == 0 {
		return write(ctx, w)
	}
	for look := 1; ; look++ {
		tied, refused, err := a.tie(ctx, w, not)
		if err != nil {
			return store.Result{}, err
		}
		if err := refused.problem(); err != nil {
			return a.replayed(ctx, w, err)
		}
		result, err := write(ctx, tied)
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
func (a *API) tie(ctx context.Context, w store.Write, not guarded) (store.Write, guarded, error) {
	c := callOf(ctx)
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
func (a *API) replayed(ctx context.Context, w store.Write, refusal error) (store.Result, error) {
	if w.Idempotency == nil {
		return store.Result{}, refusal
	}
	c := callOf(ctx)
	w.Actor = c.actor
	result, err := a.store.Replay(ctx, c.tenant.ID, c.fleet.ID, w)
	if errors.Is(err, fleet.ErrNotFound) {
		return result, refusal
	}
	return result, err
}
