package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/jsonpointer"
	"fairlead/internal/store"
)

// words say of each limit whose it is and what it counts; remedy is what makes room,
// empty where a request is not refused for it or where waiting is all.
var words = map[store.LimitName]struct {
	of                  oapi.LimitScope
	whose, noun, remedy string
}{
	store.LimitFleets:            {oapi.LimitScopeTenant, "the tenant", "fleets", "delete one"},
	store.LimitDeletedFleets:     {oapi.LimitScopeTenant, "the tenant", "deleted fleets whose data is kept", "wait until some of it is removed"},
	store.LimitTokens:            {oapi.LimitScopeTenant, "the tenant", "API tokens", "revoke one"},
	store.LimitAuditDays:         {oapi.LimitScopeTenant, "the tenant", "days of audit events", ""},
	store.LimitAuditBytes:        {oapi.LimitScopeTenant, "the tenant", "bytes of audit events", "wait until old ones have been kept for as long as they are to be"},
	store.LimitIdempotencyBytes:  {oapi.LimitScopeTenant, "the tenant", "bytes of answers that are kept for repeats", "send fewer requests with an Idempotency-Key"},
	store.LimitCredentials:       {oapi.LimitScopeFleet, "the fleet", "credentials", "revoke one"},
	store.LimitResources:         {oapi.LimitScopeFleet, "the fleet", "resources", "delete some"},
	store.LimitFleetBytes:        {oapi.LimitScopeFleet, "the fleet", "bytes of resources", "delete some, or make them smaller"},
	store.LimitHistoryBytes:      {oapi.LimitScopeFleet, "the fleet", "bytes of history", "wait until the oldest revisions are dropped, within an hour"},
	store.LimitEventBytes:        {oapi.LimitScopeFleet, "the fleet", "bytes of events", ""},
	store.LimitRefusalBytes:      {oapi.LimitScopeFleet, "the fleet", "bytes of refusals", ""},
	store.LimitWaitingPolls:      {oapi.LimitScopeTenant, "the tenant", "requests that wait", ""},
	store.LimitTokenWaitingPolls: {oapi.LimitScopeToken, "the token", "requests that wait", ""},
	store.LimitWrites:            {oapi.LimitScopeTenant, "the tenant", "writes", ""},
	store.LimitTokenWrites:       {oapi.LimitScopeToken, "the token", "writes", ""},
	store.LimitReads:             {oapi.LimitScopeTenant, "the tenant", "reads and renewals of leases", ""},
	store.LimitTokenReads:        {oapi.LimitScopeToken, "the token", "reads and renewals of leases", ""},
}

// limitReached tells a client what it would have exceeded.
func limitReached(at *store.LimitError) *problem {
	w := words[at.What]
	p := refuse(http.StatusConflict, "limit_reached", fmt.Sprintf("%s has %d %s, this would make it %d, and %d is the limit: %s, or ask the operator for a higher limit",
		w.whose, at.Used, w.noun, at.Wanted, at.Limit, w.remedy))
	if at.Wanted == at.Used { // nothing of it is added
		p.detail = fmt.Sprintf("%s has %d %s, and %d is the limit: %s, or ask the operator for a higher limit", w.whose, at.Used, w.noun, at.Limit, w.remedy)
	}
	p.at = at
	return p
}

// GetLimits implements getLimits.
func (a *API) GetLimits(ctx context.Context, c *call, _ oapi.GetLimitsRequestObject) (oapi.GetLimitsResponseObject, error) {
	list, err := a.store.Limits(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	return oapi.GetLimits200JSONResponse{Items: each(list, limitOf)}, nil
}

// UpdateLimits implements updateLimits.
func (a *API) UpdateLimits(ctx context.Context, c *call, r oapi.UpdateLimitsRequestObject) (oapi.UpdateLimitsResponseObject, error) {
	names := store.LimitNames()
	set := map[store.LimitName]*int64{}
	for text, most := range *r.Body {
		name := store.LimitName(text)
		if !slices.Contains(names, name) {
			return nil, badField("/"+jsonpointer.Escape(text), "unknown_field", fmt.Sprintf("there is no such limit; they are %v", names))
		}
		if name == store.LimitAuditDays && most != nil && (*most < store.LeastAuditDays || *most > store.MostAuditDays) {
			return nil, badField("/"+text, "out_of_range", fmt.Sprintf("audit events are kept for %d to %d days", store.LeastAuditDays, store.MostAuditDays))
		}
		set[name] = most
	}
	if err := a.store.SetLimits(ctx, c.tenant.ID, c.actor, set); err != nil {
		return nil, err
	}
	list, err := a.store.Limits(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	return oapi.UpdateLimits200JSONResponse{Items: each(list, limitOf)}, nil
}

func limitOf(l store.Limit) oapi.Limit {
	return oapi.Limit{What: oapi.LimitName(l.Name), Of: words[l.Name].of, Limit: l.Most, Default: l.Default, Overridden: l.Overridden}
}

// GetUsage implements getUsage. A caller that is bound to a fleet is told of that one.
func (a *API) GetUsage(ctx context.Context, c *call, r oapi.GetUsageRequestObject) (oapi.GetUsageResponseObject, error) {
	from, err := parseCursor("usage", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if c.principal.Fleet != nil {
		return a.usageOfOwnFleet(ctx, c)
	}
	list, err := a.store.Limits(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	u, err := a.store.Usage(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	out := oapi.GetUsage200JSONResponse{Fleets: []oapi.FleetNumbers{}, Items: each(list, func(l store.Limit) oapi.Limit {
		switch n, counted := u.Of(l.Name); {
		case counted:
			return withUsed(l, n)
		case l.Name != store.LimitEventBytes && l.Name != store.LimitRefusalBytes:
			if n, counted := u.Fullest.Of(l.Name); counted {
				return withUsed(l, n)
			}
		}
		return a.inProcess(c, l)
	})}
	if c.principal.Operator {
		return out, nil
	}
	fleets, more, err := a.store.FleetsUsage(ctx, c.tenant.ID, from.Name, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out.Fleets = each(fleets, numbersOf)
	if more {
		out.NextCursor = next(cursor{List: "usage", Name: fleets[len(fleets)-1].Fleet})
	}
	return out, nil
}

func (a *API) usageOfOwnFleet(ctx context.Context, c *call) (oapi.GetUsageResponseObject, error) {
	out := oapi.GetUsage200JSONResponse{Items: []oapi.Limit{}, Fleets: []oapi.FleetNumbers{}}
	items, u, err := a.usageOf(ctx, c, *c.principal.Fleet)
	if errors.Is(err, fleet.ErrNotFound) { // deleted
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Items, out.Fleets = items, append(out.Fleets, numbersOf(u))
	return out, nil
}

// GetFleetUsage implements getFleetUsage.
func (a *API) GetFleetUsage(ctx context.Context, c *call, _ oapi.GetFleetUsageRequestObject) (oapi.GetFleetUsageResponseObject, error) {
	items, u, err := a.usageOf(ctx, c, c.fleet.ID)
	if err != nil {
		return nil, err
	}
	return oapi.GetFleetUsage200JSONResponse{Fleet: u.Fleet, Items: items}, nil
}

// usageOf tells the limits of a fleet, and to a caller that is bound to it those of its
// token.
func (a *API) usageOf(ctx context.Context, c *call, f fleet.ID) ([]oapi.Limit, store.FleetUsage, error) {
	list, err := a.store.Limits(ctx, c.tenant.ID)
	if err != nil {
		return nil, store.FleetUsage{}, err
	}
	u, err := a.store.FleetUsage(ctx, c.tenant.ID, f)
	if err != nil {
		return nil, u, err
	}
	var items []oapi.Limit
	for _, l := range list {
		n, counted := u.Of(l.Name)
		switch {
		case counted:
			items = append(items, withUsed(l, n))
		case c.principal.Fleet != nil && words[l.Name].of == oapi.LimitScopeToken:
			items = append(items, a.inProcess(c, l))
		}
	}
	return items, u, nil
}

// inProcess tells what is counted here: of the caller's token, or of the tenant.
func (a *API) inProcess(c *call, l store.Limit) oapi.Limit {
	k := access.Counted{Whose: c.tenant.ID, What: l.Name}
	if words[l.Name].of == oapi.LimitScopeToken {
		k.Whose = c.principal.Credential
	}
	switch l.Name {
	case store.LimitWaitingPolls, store.LimitTokenWaitingPolls:
		return withUsed(l, a.polls.Used(k))
	case store.LimitWrites, store.LimitTokenWrites, store.LimitReads, store.LimitTokenReads:
		return withUsed(l, a.pace.Used(k, l.Most))
	}
	return limitOf(l)
}

func withUsed(l store.Limit, n int64) oapi.Limit {
	out := limitOf(l)
	out.Used = &n
	return out
}

func numbersOf(u store.FleetUsage) oapi.FleetNumbers {
	return oapi.FleetNumbers{Fleet: u.Fleet, Resources: u.Resources, FleetBytes: u.Bytes, HistoryBytes: u.HistoryBytes, Credentials: u.Credentials}
}
