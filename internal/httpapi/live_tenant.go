package httpapi

import (
	"context"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// GetTenantLive implements getTenantLive. What it costs: as GetLive, one question a second for all
// tenants that somebody follows, which grows with their fleets.
func (a *API) GetTenantLive(ctx context.Context, c *call, r oapi.GetTenantLiveRequestObject) (oapi.GetTenantLiveResponseObject, error) {
	stream := wantsStream(c.accept)
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	after, err := livePlace(r.Params.After, r.Params.LastEventID, stream, live.ParseTenantMarks)
	if err != nil {
		return nil, err
	}
	scope := scopeOf(c)
	now, marks, err := a.tenantNow(ctx, scope)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = &marks
	}
	what := marks.Since(*after)
	if !stream && (len(what) > 0 || wait == 0) {
		return oapi.GetTenantLive200JSONResponse{What: what, Position: marks.String()}, nil
	}
	leave, err := a.beginToWait(ctx, c)
	if err != nil {
		return nil, err
	}
	l := a.tail.FollowTenant(scope, holderOf(c), now, marks, *after)
	if stream {
		return liveStream{api: a, ctx: ctx, listener: l, call: c, leave: leave}, nil
	}
	defer leave()
	defer l.Leave()
	if what, err = awaited(ctx, c, a, wait, l.Next); err != nil {
		return nil, err
	}
	return oapi.GetTenantLive200JSONResponse{What: what, Fleets: some(l.Names()), Position: l.Place()}, nil
}

// scopeOf is what the caller may be told of: its tenant, the one fleet that its token is bound to, or, an operator, nothing.
func scopeOf(c *call) fleet.Key {
	k := fleet.Key{Tenant: c.principal.Tenant}
	if c.principal.Fleet != nil {
		k.Fleet = *c.principal.Fleet
	}
	return k
}

// tenantNow asks for the scope of the call alone, as liveNow does.
func (a *API) tenantNow(ctx context.Context, scope fleet.Key) (now []store.NamedMarks, _ live.TenantMarks, err error) {
	if scope == (fleet.Key{}) {
		return nil, live.TenantMarks{}, nil
	}
	all, err := a.store.TenantMarks(ctx, []fleet.Key{scope})
	if err != nil {
		return nil, live.TenantMarks{}, err
	}
	return all[0], live.MarksOfFleets(all[0]), nil
}
