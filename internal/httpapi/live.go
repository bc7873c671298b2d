package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
)

// GetLive implements getLive. What it costs: while anybody follows a fleet, the process asks one
// question in a quarter of a second for all such fleets, which grows with the fleets and their servers and not
// with who follows or what the fleets hold; of each follower it keeps a position and a goroutine.
// A report of an xDS server writes one row more, its own, so that there is something to see.
func (a *API) GetLive(ctx context.Context, c *call, r oapi.GetLiveRequestObject) (oapi.GetLiveResponseObject, error) {
	stream := wantsStream(c.accept)
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	after, err := livePlace(r.Params.After, r.Params.LastEventID, stream, live.ParseMarks)
	if err != nil {
		return nil, err
	}
	now, err := a.liveNow(ctx, c)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = &now
	}
	what := now.Since(*after)
	if !stream && (len(what) > 0 || wait == 0) {
		return oapi.GetLive200JSONResponse{What: what, Position: now.String()}, nil
	}
	leave, err := a.beginToWait(ctx, c)
	if err != nil {
		return nil, err
	}
	l := a.tail.Follow(keyOf(c), holderOf(c), now, *after)
	if stream {
		return liveStream{api: a, ctx: ctx, listener: l, call: c, leave: leave}, nil
	}
	defer leave()
	defer l.Leave()
	if what, err = awaited(ctx, c, a, wait, l.Next); err != nil {
		return nil, err
	}
	return oapi.GetLive200JSONResponse{What: what, Position: l.Place()}, nil
}

// livePlace is after what the client has been told; nil: from now on.
func livePlace[M any](after, last *string, stream bool, parse func(string) (M, bool)) (*M, error) {
	name, text := "after", deref(after)
	if last := deref(last); last != "" {
		if !stream {
			return nil, badParameter("Last-Event-ID", "invalid", "it goes with Accept: "+eventStreamType+"; one answer takes after")
		}
		name, text = "Last-Event-ID", last
	}
	if text == "" {
		return nil, nil //nolint:nilnil // see above
	}
	at, ok := parse(text)
	if !ok {
		return nil, badParameter(name, "invalid_position", "this is no place: give the id of an event of this stream or the position of an answer, or begin without")
	}
	return &at, nil
}

// liveNow asks for the one fleet of the call, so that what is read after the answer has begun is not older than its place.
func (a *API) liveNow(ctx context.Context, c *call) (live.Marks, error) {
	k := keyOf(c)
	marks, err := a.store.Marks(ctx, []fleet.Key{k})
	if err != nil {
		return live.Marks{}, err
	}
	m, there := marks[k]
	if !there {
		return live.Marks{}, errNoFleet
	}
	return live.MarksOf(m), nil
}

// awaited waits for the first change, by a listener's next.
func awaited[W any](ctx context.Context, c *call, a *API, wait time.Duration, next func(context.Context, <-chan struct{}, <-chan time.Time) ([]W, live.End, error)) ([]W, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	what, end, err := next(ctx, a.draining, timer.C)
	end = a.movedAtEnd(ctx, holderOf(c), end)
	switch {
	case err != nil:
		return nil, err
	case refusalAtEnd(end) != nil:
		return nil, refusalAtEnd(end)
	case what == nil:
		what = []W{}
	}
	return what, nil
}

// liveHeartbeat is the time between two events of a stream that has nothing to tell. A page that hears nothing for
// twice as long takes the stream for dead: connections to a server that stands still stay open, and silent.
const liveHeartbeat = 5 * time.Second

// liveStream is an answer that goes on. Nothing is kept for its client but its place: who reads
// slowly is told less often, and who does not read is ended.
type liveStream struct {
	api      *API
	ctx      context.Context //nolint:containedctx // of the request, which the answer is written in
	listener interface {
		Leave()
		Place() string
		// Tell waits until there is something to tell; nil: it was time for something else.
		Tell(ctx context.Context, stop <-chan struct{}, wake <-chan time.Time) (any, live.End, error)
	}
	call  *call
	leave func()
}

// VisitGetLiveResponse implements oapi.GetLiveResponseObject.
func (s liveStream) VisitGetLiveResponse(w http.ResponseWriter) error { return s.write(w) }

// VisitGetTenantLiveResponse implements oapi.GetTenantLiveResponseObject.
func (s liveStream) VisitGetTenantLiveResponse(w http.ResponseWriter) error { return s.write(w) }

func (s liveStream) write(w http.ResponseWriter) error {
	defer s.leave()
	defer s.listener.Leave()
	s.api.stream(s.ctx, s.call, w, s.run)
	return nil
}

func (s liveStream) run(ctx context.Context, out streamWriter) (live.End, error) {
	beat := time.NewTicker(s.api.liveBeat)
	defer beat.Stop()
	const heartbeat = "event: heartbeat\ndata: {\"what\":[]}\n\n" // a comment is nothing that a browser tells its page of
	// The first one says that events come through.
	if err := out.send(fmt.Sprintf("retry: 2000\nid: %s\n\n", s.listener.Place()) + heartbeat); err != nil {
		return "", err
	}
	for {
		news, end, err := s.listener.Tell(ctx, s.api.draining, beat.C)
		if err != nil || end != "" {
			return end, err
		}
		text := heartbeat
		if news != nil {
			line, err := json.Marshal(news)
			if err != nil {
				return "", fmt.Errorf("encode what has changed: %w", err)
			}
			text = fmt.Sprintf("id: %s\ndata: %s\n\n", s.listener.Place(), line)
		}
		if err := out.send(text); err != nil {
			return "", err
		}
	}
}
