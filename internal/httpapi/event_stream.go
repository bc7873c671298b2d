package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/live"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const (
	streamHeartbeat = 15 * time.Second // between two lines of a stream that has nothing to tell
	streamPatience  = 10 * time.Second // for how long a client may not read
	streamPart      = 16 << 10         // bytes of a stream that are sent at once, and the last event or group
)

const eventStreamType = "text/event-stream"

// wantsStream reports whether the client accepts a stream of events, and no JSON before it.
func wantsStream(accept []string) bool {
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		switch kind, _, _ := mime.ParseMediaType(part); kind {
		case eventStreamType:
			return true
		case "application/json", "*/*", "application/*":
			return false
		}
	}
	return false
}

// eventStream is an answer that goes on: server-sent events. Nothing is kept for its client but
// its place: what it has not read yet is with the fleet's events, for all.
type eventStream struct {
	api      *API
	ctx      context.Context //nolint:containedctx // of the request, which the answer is written in
	listener *live.EventListener
	call     *call
	filter   eventFilter
	leave    func()
}

// VisitListEventsResponse implements oapi.ListEventsResponseObject.
func (s eventStream) VisitListEventsResponse(w http.ResponseWriter) error {
	defer s.leave()
	defer s.listener.Leave()
	s.api.stream(s.ctx, s.call, w, s.run)
	return nil
}

// stream is an answer that goes on until run returns, or what the caller came with expires. It ends with a comment that tells why.
func (a *API) stream(request context.Context, c *call, w http.ResponseWriter, run func(context.Context, streamWriter) (live.End, error)) {
	ctx, cancel, with := request, context.CancelFunc(func() {}), holderOf(c)
	if end := c.ends(); !end.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, end)
	}
	defer cancel()
	left := a.metrics.Follow()
	defer left()
	out := streamWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	w.Header().Set("Content-Type", eventStreamType)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that gathers answers would hold it back
	_ = out.control.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	end, err := run(ctx, out)
	if errors.Is(err, context.DeadlineExceeded) && request.Err() == nil {
		end, err = with.End(), nil
	}
	if end = a.movedAtEnd(request, with, end); end != "" {
		err = errors.Join(err, out.send(": "+string(end)+"\n\n"))
	}
	if err != nil && request.Err() == nil { // the status is sent: the log alone can be told
		a.log.WarnContext(request, "a stream of events has ended", slog.String("error", err.Error()))
	}
}

// run writes until the stream is to end, and tells why it is.
func (s eventStream) run(ctx context.Context, out streamWriter) (live.End, error) {
	beat := time.NewTicker(s.api.heartbeat)
	defer beat.Stop()
	if err := out.send(fmt.Sprintf("retry: 2000\nid: %s\n\n", positionText(s.listener.At()))); err != nil {
		return "", err
	}
	for {
		es, end, err := s.listener.Next(ctx, s.api.draining, beat.C)
		if err != nil || end != "" {
			return end, err
		}
		if len(es) == 0 {
			err = out.send(": nothing new\n\n")
		} else {
			err = s.tell(es, out.send)
		}
		if err != nil {
			return "", err
		}
	}
}

// tell sends events, in parts: what waits for a client that does not read is of some kilobytes, however much has happened. In groups the last one alone has a
// place, that of all: who loses the connection in between is told all of them again.
func (s eventStream) tell(es []store.Event, send func(text string) error) error {
	var b strings.Builder
	items := s.filter.items(es)
	for i, e := range items {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
		if !s.filter.grouped {
			fmt.Fprintf(&b, "id: %s\n", *e.Id)
		} else if i == len(items)-1 {
			fmt.Fprintf(&b, "id: %s\n", positionText(es[len(es)-1].Position()))
		}
		fmt.Fprintf(&b, "data: %s\n\n", line)
		if b.Len() < streamPart && i < len(items)-1 {
			continue
		}
		if err := send(b.String()); err != nil {
			return err
		}
		b.Reset()
	}
	return nil
}

// eventFilter is what a listener asks to be told.
type eventFilter struct {
	node    string
	kind    string
	grouped bool
}

func (f eventFilter) items(es []store.Event) []oapi.Event { return f.told(f.own(es)) }

// own are those that are asked for.
func (f eventFilter) own(es []store.Event) []store.Event {
	if f.node == "" && f.kind == "" {
		return es
	}
	var own []store.Event
	for _, e := range es {
		if (f.node == "" || e.Node == f.node) && (f.kind == "" || e.Kind == f.kind) {
			own = append(own, e)
		}
	}
	return own
}

func (f eventFilter) told(es []store.Event) []oapi.Event {
	if f.grouped {
		return groupsOf(es)
	}
	return each(es, eventOf)
}

// streamWriter sends at once, or not within streamPatience.
type streamWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w streamWriter) send(text string) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(streamPatience)); err != nil {
		return fmt.Errorf("set how long the client may not read: %w", err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write to the stream: %w", err)
	}
	if err := w.control.Flush(); err != nil {
		return fmt.Errorf("write to the stream: %w", err)
	}
	return nil
}

// streamEvents answers with a stream. What can be refused is refused before it begins.
func (a *API) streamEvents(ctx context.Context, c *call, from store.EventPosition, f eventFilter) (oapi.ListEventsResponseObject, error) {
	leave, err := a.beginToWait(ctx, c)
	if err != nil {
		return nil, err
	}
	return eventStream{api: a, ctx: ctx, listener: a.listen(c, from), call: c, filter: f, leave: leave}, nil
}

func (a *API) listen(c *call, from store.EventPosition) *live.EventListener {
	return a.tail.Listen(keyOf(c), holderOf(c), from)
}

// pollEvents answers with what happened after a place, oldest first, and waits for it. Where some are asked for alone it looks at a whole page at once, however
// few are wanted: most may be others.
func (a *API) pollEvents(ctx context.Context, c *call, from store.EventPosition, wait time.Duration, f eventFilter, limit int) (oapi.ListEventsResponseObject, error) {
	look := limit
	if f.node != "" || f.kind != "" {
		look = live.Page
	}
	end := time.Now().Add(wait)
	for {
		es, upto, _, err := a.store.EventsAfter(ctx, c.tenant.ID, c.fleet.ID, from, look)
		if err != nil {
			return nil, err
		}
		own := f.own(es)
		if len(own) > limit {
			own = own[:limit]
			upto = own[limit-1].Position()
		}
		items := f.told(own)
		if from = upto; len(items) == 0 && wait > 0 && len(es) == 0 {
			if items, from, err = a.awaitEvents(ctx, c, from, time.Until(end), f); err != nil {
				return nil, err
			}
		} else if len(items) == 0 && len(es) > 0 {
			continue // nothing that is asked for
		}
		return oapi.ListEvents200JSONResponse{Items: items, Position: positionText(from)}, nil
	}
}

// awaitEvents waits for the first ones, of a node where one is asked for.
func (a *API) awaitEvents(ctx context.Context, c *call, from store.EventPosition, wait time.Duration, f eventFilter) ([]oapi.Event, store.EventPosition, error) {
	leave, err := a.beginToWait(ctx, c)
	if err != nil {
		return nil, from, err
	}
	defer leave()
	l := a.listen(c, from)
	defer l.Leave()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		es, end, err := l.Next(ctx, a.draining, timer.C)
		end = a.movedAtEnd(ctx, holderOf(c), end)
		switch {
		case err != nil:
			return nil, l.At(), err
		case refusalAtEnd(end) != nil:
			return nil, l.At(), refusalAtEnd(end)
		}
		if items := f.items(es); len(items) > 0 || end != "" || len(es) == 0 {
			return items, l.At(), nil
		}
	}
}

// holderOf is what a caller listens with.
func holderOf(c *call) live.Holder {
	h := live.Holder{Token: c.principal.Credential}
	if c.session != nil {
		h.Session = c.session.ID
	}
	return h
}

// movedAtEnd tells a token that has ended from one that another cell knows by now, or is about to. Whoever comes with that again is served: nothing of theirs has
// ended, and a browser keeps its cookie. Where it cannot be asked neither is said.
func (a *API) movedAtEnd(ctx context.Context, with live.Holder, end live.End) live.End {
	if end != live.EndToken && end != live.EndSession {
		return end
	}
	id := with.Token
	if with.Session != (fleet.SessionID{}) {
		id = fleet.CredentialID(with.Session)
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	switch at, err := a.store.PlaceOfID(ctx, id); {
	case err != nil:
		return live.EndDatabase
	case at.Elsewhere():
		return live.EndMoved
	}
	return end
}

// refusalAtEnd is what one is answered who waits for a single answer; nil: with what there is.
func refusalAtEnd(e live.End) error {
	switch e {
	case live.EndToken:
		return errTokenNotValid()
	case live.EndSession:
		return errSessionOver()
	case live.EndMoved:
		return errElsewhere(errOnItsWay)
	case live.EndFleet:
		return errNoFleet
	case live.EndDatabase, live.EndServer:
	}
	return nil
}
