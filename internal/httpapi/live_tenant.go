package httpapi

import (
	"context"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// GetTenantLive implements getTenantLive. What it costs: as GetLive, one question in tenantTick for all
// tenants that somebody follows, which grows with their fleets.
func (a *API) GetTenantLive(ctx context.Context, r oapi.GetTenantLiveRequestObject) (oapi.GetTenantLiveResponseObject, error) {
	c := callOf(ctx)
	stream := wantsStream(c.accept)
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	after, err := livePlace(r.Params.After, r.Params.LastEventID, stream, parseTenantMarks)
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
	what := marks.since(*after)
	if !stream && (len(what) > 0 || wait == 0) {
		return oapi.GetTenantLive200JSONResponse{What: what, Position: marks.String()}, nil
	}
	leave, err := a.beginToWait(ctx)
	if err != nil {
		return nil, err
	}
	l := a.tail.followTenant(scope, holderOf(c), now, marks, *after)
	if stream {
		return liveStream{api: a, ctx: ctx, listener: l, with: l.with, leave: leave}, nil
	}
	defer leave()
	defer l.leave()
	if what, err = awaited(ctx, a, wait, l.next); err != nil {
		return nil, err
	}
	return oapi.GetTenantLive200JSONResponse{What: what, Fleets: some(l.names), Position: l.at.String()}, nil
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
func (a *API) tenantNow(ctx context.Context, scope fleet.Key) (now []store.NamedMarks, _ tenantMarks, err error) {
	if scope == (fleet.Key{}) {
		return nil, tenantMarks{}, nil
	}
	all, err := a.store.TenantMarks(ctx, []fleet.Key{scope})
	if err != nil {
		return nil, tenantMarks{}, err
	}
	var f tenantFeed
	f.post(all[0], a.tail.now())
	return all[0], f.marks, nil
}
