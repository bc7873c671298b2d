package httpapi

import (
	"context"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListTenantEvents implements listTenantEvents: newest first.
func (a *API) ListTenantEvents(ctx context.Context, c *call, r oapi.ListTenantEventsRequestObject) (oapi.ListTenantEventsResponseObject, error) {
	const list = "tenant events"
	after, err := eventCursor(list, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	events, more, err := a.store.TenantEvents(ctx, c.tenant.ID, after, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListTenantEvents200JSONResponse{Items: each(events, tenantEventOf)}
	if more {
		last := events[len(events)-1]
		out.NextCursor = nextEvent(list, last.At, last.ID)
	}
	return out, nil
}

func tenantEventOf(e store.TenantEvent) oapi.TenantEvent {
	out := oapi.TenantEvent{At: e.At, Kind: e.Kind, Object: e.Object, By: makerOf(e.By)}
	if e.Detail != nil {
		out.Detail = &e.Detail
	}
	return out
}
