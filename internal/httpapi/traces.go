package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"fairlead/internal/door"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/traces"
)

// revisionMade is the revision that a request has made.
type revisionMade struct {
	revision fleet.Revision
	trace    *traces.Trace // nil: it is not traced
	again    bool          // by the first request of the same idempotency key
}

// madeBy runs a write, and notes which revision came of it: for the log, for the caller, and for its trace.
func (a *API) madeBy(ctx context.Context, c *call, write func(context.Context) (store.Result, error)) (store.Result, error) {
	r, err := write(traces.InRequest(ctx))
	if err != nil || r.Changed == 0 {
		return r, err
	}
	n := c.note
	m := &revisionMade{r.Revision, a.traces.Of(fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}, r.Revision), r.Replayed}
	n.made.Store(m)
	if m.trace != nil && n.header != nil {
		n.header.Set(m.trace.Response())
	}
	return r, nil
}

// ids are what a line of the log about the request carries, each under the one name that it has everywhere.
func (n *requestNote) ids() []slog.Attr {
	ids := []slog.Attr{slog.String("request_id", n.id)}
	m := n.made.Load()
	if m == nil {
		return ids
	}
	if m.trace != nil {
		ids = append(ids, slog.String(traces.LogKey, m.trace.String()))
	}
	return append(ids, slog.Int64("revision", int64(m.revision)))
}

// tell adds the request to the trace of the revision that it made: its route, and nothing of what was sent.
func (n *requestNote) tell(ctx context.Context, ww middleware.WrapResponseWriter, r *http.Request, begun time.Time) {
	m := n.made.Load()
	if m == nil || m.trace == nil || m.again {
		return
	}
	method, route := door.Cut(r.Method), route(ctx)
	m.trace.Add(traces.Span{
		ID: m.trace.Request(), Name: method + " " + route, Kind: traces.Server, Begin: begun, End: time.Now(), Caller: traces.CallerOf(r.Header),
		Attrs: []slog.Attr{
			slog.String("http.request.method", method), slog.String("http.route", route), slog.Int("http.response.status_code", ww.Status()), slog.String("fairlead.request_id", n.id),
		},
	})
}

// ofRequests is a log whose lines carry the ids of the request whose context they are written with.
func ofRequests(log *slog.Logger) *slog.Logger { return slog.New(requestLog{log.Handler()}) }

type requestLog struct{ slog.Handler }

// Handle is slog.Handler's, like the two below.
func (l requestLog) Handle(ctx context.Context, r slog.Record) error {
	if n := noteIn(ctx); n != nil {
		r = r.Clone() // it is the caller's
		r.AddAttrs(n.ids()...)
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs keeps the ids.
func (l requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{l.Handler.WithAttrs(attrs)}
}

// WithGroup keeps them too.
func (l requestLog) WithGroup(name string) slog.Handler { return requestLog{l.Handler.WithGroup(name)} }
