package xds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/planner"
)

// stream is one client's stream. The goroutine of run owns everything in it, and sends, which
// does not wait for the client (see room); a reader only receives. When the deadline of a client
// that does not read passes, run returns, and that frees the reader.
type stream struct {
	srv *Server
	ss  grpc.ServerStream
	ctx context.Context //nolint:containedctx // the stream's own
	id  Identity

	requests chan *request // closed at the reader's end
	readErr  error         // why the reader ended
	paces    *paces        // the reader's; on its stack they would double that, by 4 KiB

	protocol
	polls   *session // whose polls are its requests; nil: they come over gRPC
	taken   int      // requests of polls
	relayed bool     // see admitRouted
	node    pinnedNode
	att     Attachment
	counts  metrics.Stream
	client  *planner.Client        // nil until it is attached
	nonces  [fleet.NumTypes]string // of the last response of each type
	count   uint64                 // responses sent
	owed    atomic.Int64           // answers to them that have not come
	room
	strays   strays
	said     [fleet.NumTypes]*said
	counted  countedNames
	unserved map[string]struct{} // type URLs that it asked for and that are not served
	settled  settled
	now      time.Time   // of what happens now
	behind   time.Time   // since when something of the target is not confirmed; zero: all is
	waits    fleet.Waits // as last told
	keeps    keeps       // of these what is withheld

	bell        Bell                                     // wakes the owner; the attachment's
	inspections chan inspection                          // capacity 1; who sends rings
	ended       chan struct{}                            // closed when the owner answers no more
	nacks       [fleet.NumTypes]map[string]fleet.Refusal // see noteNack
	alarm       alarm
	opening     time.Time // until when the client may be telling what it holds; zero: it has told
	leave       time.Time // when the stream has to end; zero: never
	halfClosed  bool      // the client has no more to say
	caughtUp    bool      // what a client may hold that nothing is known of is not later than the target: see mayBeAhead
	heldSince   time.Time // since when nothing is sent for that; zero: it is not so
}

// settled is what was last reported, in which history.
type settled struct {
	history  uint64
	revision fleet.Revision
}

func newStream(s *Server, ss grpc.ServerStream, id Identity, p protocol) *stream {
	st := &stream{
		srv: s, ss: ss, ctx: ss.Context(), id: id, protocol: p,
		requests: make(chan *request),

		strays:      strays{budget: rate.NewLimiter(rate.Limit(s.cfg.Limits.Lookups), s.cfg.Limits.LookupBurst)},
		inspections: make(chan inspection, 1),
		ended:       make(chan struct{}),
	}
	st.paces = newPaces(s.cfg.Limits, p, &st.owed)
	return st
}

// run serves the stream until its end. The reader ends with ctx, which grpc cancels when the
// handler returns.
func (st *stream) run() error {
	go st.read()
	defer func() {
		if st.att != nil {
			st.uncountNames()
			st.srv.release(st.ctx, st.held)
			if st.givenUp() {
				st.att.GaveUp()
			}
			st.counts.Close()
			st.att.Detach(st.client != nil && st.client.Clean())
		}
	}()
	err := st.attach()
	st.arrived()
	switch {
	case errors.Is(err, io.EOF):
		return nil // it had nothing to ask for
	case err != nil:
		st.say(slog.LevelInfo, "stream refused", err)
		st.tellRefused(err)
		return err
	}
	st.debug("stream opened")
	st.srv.streams.add(st)
	defer func() {
		if st.srv.streams.remove(st) {
			st.srv.refusals.forget(st.id.Key)
		}
		close(st.ended)
	}()
	err = st.loop()
	st.tellRefused(err)
	if errors.Is(err, fleet.ErrLimit) {
		st.say(slog.LevelWarn, "stream ended: the client asks for more than it may, and will come back", err)
	}
	st.debug("stream ended", "reason", err)
	return err
}

// arrived notes that the stream is tied to its fleet, or refused.
func (st *stream) arrived() {
	if st.polls != nil {
		st.polls.tied()
		return
	}
	connOf(st.ctx).arrived()
}

// aside calls do, which waits for the database.
func (st *stream) aside(do func()) {
	if st.polls != nil {
		st.polls.aside(do)
		return
	}
	connOf(st.ctx).aside(do)
}

// givenUp reports whether the client ended the stream, and not its connection with it.
func (st *stream) givenUp() bool {
	c := connOf(st.ctx)
	return st.halfClosed || st.ctx.Err() != nil && c != nil && !c.isClosed()
}

// about are the attributes of a line in the log, but the node's. They are made for a line: nearly all streams write none.
func (st *stream) about() []any {
	return []any{"tenant", st.id.Key.Tenant, "fleet", st.id.Key.Fleet, "remote", remote(st.ctx)}
}

func (st *stream) debug(what string, more ...any) {
	if st.srv.log.Enabled(st.ctx, slog.LevelDebug) {
		st.srv.log.With(st.about()...).With("node", st.node.node.ID).Debug(what, more...)
	}
}

// say writes a line that a node can cause as often as it likes.
func (st *stream) say(level slog.Level, what string, reason error) {
	st.srv.say(level, addressOf(st.ctx), what, slog.Any("tenant", st.id.Key.Tenant), slog.Any("fleet", st.id.Key.Fleet),
		slog.String("node", st.node.node.ID), slog.Any("reason", reason))
}

// read hands on the requests, and says why there are no more.
func (st *stream) read() {
	defer close(st.requests)
	defer func() {
		if v := recover(); v != nil {
			st.readErr = panicStatus(lifecycle.Contained(st.srv.log, "a stream", v, st.about()...))
		}
	}()
	st.readErr = st.receive()
}

func (st *stream) receive() error {
	limits, ended := st.srv.cfg.Limits, st.ctx.Done()
	var own ownLists
	for {
		r := &request{delta: st.delta, bounds: bounds{limits.listed(), &st.srv.lists, &own}}
		err := st.ss.RecvMsg(r)
		switch {
		case err == nil:
			err = r.refused
		case status.Code(err) == codes.ResourceExhausted:
			err = fmt.Errorf("%s: %w", status.Convert(err).Message(), fleet.ErrLimit)
		}
		if err != nil {
			return err
		}
		if st.polls == nil && st.paces.wait(st.ctx, r) != nil { // polls are paced as they come
			break
		}
		select {
		case st.requests <- r:
		case <-ended:
			return st.ctx.Err()
		}
	}
	<-ended // a deadline is known before it passes
	return st.ctx.Err()
}

// first waits for the first request.
func (st *stream) first() (*request, error) {
	limits := st.srv.cfg.Limits
	leave, err := st.srv.streams.open(st.id, limits.Opening)
	if err != nil {
		return nil, err
	}
	defer leave()
	silence := time.NewTimer(limits.FirstRequest)
	defer silence.Stop()
	select {
	case r, ok := <-st.requests:
		if !ok {
			return nil, st.readErr
		}
		st.taken++
		return r, nil
	case <-silence.C:
		return nil, status.Errorf(codes.DeadlineExceeded, "no request came within %s of the stream's opening", limits.FirstRequest)
	case <-st.srv.drain:
		return nil, status.Error(codes.Unavailable, "the server is shutting down: connect again")
	}
}

// attach waits for the first request, which names the node, and ties the stream to its
// fleet. Everything that can be refused is refused here, before the first response: a
// response resets the client's backoff.
func (st *stream) attach() error {
	first, err := st.first()
	if err != nil {
		return err
	}
	node, err := pin(first.node)
	if err != nil {
		return err
	}
	st.node = node
	if !st.id.Nodes.Match(node.node.ID) {
		st.deny(fleet.DeniedNodeID, "")
		return fmt.Errorf("the credential does not admit the node id %q, it is for %q: use a credential of its own or change node.id: %w", node.node.ID, st.id.Nodes, fleet.ErrForbidden)
	}
	if _, _, err := st.check(first); err != nil {
		return err
	}
	st.att, err = st.srv.cfg.Source.Attach(st.ctx, st.id, node.node, StreamInfo{
		Protocol: st.protocol.String(), RemoteAddr: remote(st.ctx), Resumed: first.version != "" || first.versions.N > 0, Delta: st.delta, Aside: st.aside,
	})
	if err != nil {
		return err
	}
	st.bell = st.att.Bell()
	st.alarm.bell = st.bell
	past := st.att.LastStream()
	origin := planner.Origin{Before: past.Before, Between: past.Between}
	if past.Known && !st.polled { // the version that a poll reports was taken in, whatever was refused on the way (PROTOCOL rule 27)
		origin.Past = planner.Past{Unclean: !past.Clean, Settled: past.Settled}
	}
	st.counts = st.srv.cfg.Metrics.Open(st.measured(), node.node.UserAgent, st.id.Key)
	st.now = time.Now()
	st.opening, st.leave = st.now.Add(st.srv.cfg.Limits.OpenedAfter), st.srv.leaves(st.ctx)
	st.client = st.srv.planner.Client(st.id.Key, st.kind(), origin, !st.singleType, st.now)
	return st.handle(first)
}

// Client features, as a node declares them.
const (
	featureWrapped = "xds.config.supports-resource-in-sotw"
	featureTTL     = "xds.config.supports-resource-ttl"
)

// kind is what the client can do. An Envoy understands TTLs in delta without saying
// so; in state of the world it crashes when one runs out (PROTOCOL rule 20). Every
// client but Envoy's own gRPC, which names no user agent there, takes 4 MiB at once unless its bootstrap says more.
func (st *stream) kind() planner.Kind {
	n := st.node.node
	k := planner.Kind{Delta: st.delta, SingleType: st.singleType, Polls: st.polled, Envoy: n.UserAgent == "envoy"}
	if st.polled {
		return k
	}
	k.Follows = strings.HasPrefix(n.UserAgent, "gRPC ")
	k.Errors = !k.Envoy && readsErrors(n) // an Envoy ends no wait by them
	ttl := slices.Contains(n.ClientFeature, featureTTL)
	if st.delta {
		k.TTL = ttl || k.Envoy
	} else {
		k.TTL = ttl && !k.Envoy && slices.Contains(n.ClientFeature, featureWrapped)
	}
	for _, agent := range metadata.ValueFromIncomingContext(st.ctx, "user-agent") {
		if strings.HasPrefix(agent, "grpc-") {
			k.MaxSet = maxResponse(n)
		}
	}
	return k
}

// loop waits for little at once: what a stream waits for costs it each time. All but the client rings the bell; what a clock decides, one alarm does.
func (st *stream) loop() error {
	drain := st.srv.drain
	defer st.alarm.stop()
	for {
		if err := st.att.Ended(); err != nil {
			return err
		}
		st.now = time.Now()
		select {
		case <-drain:
			drain, st.leave = nil, st.now.Add(spread(st.srv.cfg.DrainSpread))
		default:
		}
		if !st.leave.IsZero() && !st.now.Before(st.leave) {
			return nil
		}
		if !st.opening.IsZero() && !st.now.Before(st.opening) {
			st.opening = time.Time{}
			st.client.Opened(st.now)
		}
		wrote, err := st.pump()
		if err != nil {
			return ended(err)
		}
		if wrote {
			continue // there may be more to say
		}
		st.setAlarm()
		st.answerInspection()
		if st.polls != nil && (st.heldSince.IsZero() || !st.now.Before(st.heldSince.Add(heldPoll))) {
			st.polls.rests(st.taken, !st.client.HoldsUnknown(st.only))
		}
		select {
		case r, ok := <-st.requests:
			if !ok {
				if st.halfClosed = errors.Is(st.readErr, io.EOF); st.halfClosed {
					st.complete()
				}
				return ended(st.readErr)
			}
			st.now = time.Now()
			st.taken++
			if r.look {
				continue
			}
			if err := st.handle(r); err != nil {
				return err
			}
		case <-st.bell:
		case <-st.freed(): // pump sends what waits
		}
	}
}

// complete tells what a client has confirmed that has no more to say while it might have told what it holds: it has told that.
func (st *stream) complete() {
	if st.opening.IsZero() {
		return
	}
	st.now, st.opening = time.Now(), time.Time{}
	st.client.Opened(st.now)
	st.tellSettled(st.att.Current(), true)
}

// ended makes of the end of a connection what it is: io.EOF is a client that has no more
// to say, anything else is its going away.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
