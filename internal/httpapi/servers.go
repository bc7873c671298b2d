package httpapi

import (
	"context"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListServers implements listServers.
func (a *API) ListServers(ctx context.Context, _ *call, r oapi.ListServersRequestObject) (oapi.ListServersResponseObject, error) {
	const list = "servers"
	from, err := parseCursor(list, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q := store.ServerFilter{Limit: pageLimit(r.Params.Limit)}
	if r.Params.State != nil {
		live := *r.Params.State == oapi.ServerStateLive
		q.Live = &live
	}
	if from != (cursor{}) {
		if q.After, err = fleet.ParseServerID(from.Name); err != nil {
			return nil, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
	}
	xs, more, err := a.store.XDSServers(ctx, q)
	if err != nil {
		return nil, err
	}
	out := oapi.ListServers200JSONResponse{Items: each(xs, serverOf)}
	if more {
		out.NextCursor = next(cursor{List: list, Name: xs[len(xs)-1].ID.String()})
	}
	return out, nil
}

// serverOf tells what a server does while it lives.
func serverOf(x store.XDSServer) oapi.Server {
	out := oapi.Server{Id: x.ID.String(), Name: x.Name, State: oapi.ServerStateGone, StartedAt: x.StartedAt, SeenAt: x.SeenAt}
	if x.Live {
		out.State = oapi.ServerStateLive
	}
	if l := x.Load; l != nil {
		out.Version = optional(l.Version)
		if lag := float64(l.Behind) / float64(time.Millisecond); x.Live {
			out.Streams, out.Fleets, out.LagMs, out.SealKey = &l.Streams, &l.Fleets, &lag, optional(l.SealKey)
		}
	}
	return out
}
