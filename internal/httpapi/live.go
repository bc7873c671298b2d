package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// GetLive implements getLive. What it costs: while anybody follows a fleet, the process asks one
// question in tailTick for all such fleets, which grows with the fleets and their servers and not
// with who follows or what the fleets hold; of each follower it keeps a position and a goroutine.
// A report of an xDS server writes one row more, its own, so that there is something to see.
func (a *API) GetLive(ctx context.Context, r oapi.GetLiveRequestObject) (oapi.GetLiveResponseObject, error) {
	stream := wantsStream(callOf(ctx).accept)
	wait, err := waitOf(r.Params.Wait)
	if err != nil {
		return nil, err
	}
	after, err := livePlace(r.Params, stream)
	if err != nil {
		return nil, err
	}
	now, err := a.liveNow(ctx)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = &now
	}
	if stream {
		leave, err := a.beginToWait(ctx)
		if err != nil {
			return nil, err
		}
		return liveStream{api: a, ctx: ctx, listener: a.follow(ctx, now, *after), leave: leave}, nil
	}
	what := now.since(*after)
	if len(what) == 0 && wait > 0 {
		if what, now, err = a.awaitLive(ctx, now, wait); err != nil {
			return nil, err
		}
	}
	return oapi.GetLive200JSONResponse{What: what, Position: now.String()}, nil
}

// livePlace is after what the client has been told; nil: from now on.
func livePlace(p oapi.GetLiveParams, stream bool) (*liveMarks, error) {
	name, text := "after", deref(p.After)
	if last := deref(p.LastEventID); last != "" {
		if !stream {
			return nil, badParameter("Last-Event-ID", "invalid", "it goes with Accept: "+eventStreamType+"; one answer takes after")
		}
		name, text = "Last-Event-ID", last
	}
	if text == "" {
		return nil, nil //nolint:nilnil // see above
	}
	at, ok := parseLiveMarks(text)
	if !ok {
		return nil, badParameter(name, "invalid_position", "this is no place: give the id of an event of this stream or the position of an answer, or begin without")
	}
	return &at, nil
}

// liveNow asks for the one fleet of the call, so that what is read after the answer has begun is not older than its place.
func (a *API) liveNow(ctx context.Context) (liveMarks, error) {
	k := keyOf(callOf(ctx))
	marks, err := a.store.Marks(ctx, []fleet.Key{k})
	if err != nil {
		return liveMarks{}, err
	}
	m, there := marks[k]
	if !there {
		return liveMarks{}, errNoFleet
	}
	return marksOf(m), nil
}

func (a *API) follow(ctx context.Context, now, after liveMarks) *liveListener {
	c := callOf(ctx)
	return a.tail.follow(keyOf(c), holderOf(c), now, after)
}

// awaitLive waits for the first change.
func (a *API) awaitLive(ctx context.Context, now liveMarks, wait time.Duration) ([]oapi.LiveWhat, liveMarks, error) {
	leave, err := a.beginToWait(ctx)
	if err != nil {
		return nil, now, err
	}
	defer leave()
	l := a.follow(ctx, now, now)
	defer l.leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	what, end, err := l.next(ctx, a.draining, timer.C)
	switch {
	case err != nil:
		return nil, now, err
	case end == endToken:
		return nil, now, errTokenNotValid()
	case end == endSession:
		return nil, now, errSessionOver()
	case end == endFleet:
		return nil, now, errNoFleet
	case what == nil:
		what = []oapi.LiveWhat{}
	}
	return what, l.at, nil
}

// liveStream is an answer that goes on. Nothing is kept for its client but its place: who reads
// slowly is told less often, and who does not read is ended.
type liveStream struct {
	api      *API
	ctx      context.Context //nolint:containedctx // of the request, which the answer is written in
	listener *liveListener
	leave    func()
}

// VisitGetLiveResponse implements oapi.GetLiveResponseObject.
func (s liveStream) VisitGetLiveResponse(w http.ResponseWriter) error {
	defer s.leave()
	defer s.listener.leave()
	s.api.stream(s.ctx, w, s.listener.with, s.run)
	return nil
}

func (s liveStream) run(ctx context.Context, out streamWriter) (streamEnd, error) {
	beat := time.NewTicker(s.api.heartbeat)
	defer beat.Stop()
	if err := out.send(fmt.Sprintf("retry: 2000\nid: %s\n\n", s.listener.at)); err != nil {
		return "", err
	}
	for {
		what, end, err := s.listener.next(ctx, s.api.draining, beat.C)
		if err != nil || end != "" {
			return end, err
		}
		text := ": nothing new\n\n"
		if len(what) > 0 {
			line, err := json.Marshal(struct {
				What []oapi.LiveWhat `json:"what"`
			}{what})
			if err != nil {
				return "", fmt.Errorf("encode what has changed: %w", err)
			}
			text = fmt.Sprintf("id: %s\ndata: %s\n\n", s.listener.at, line)
		}
		if err := out.send(text); err != nil {
			return "", err
		}
	}
}
