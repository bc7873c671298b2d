package xds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// stream is one client's stream. The goroutine of run owns everything in it; a reader
// only receives and a writer only sends. A client that does not read blocks the writer
// alone: when the owner's deadline passes, run returns, and that frees both.
type stream struct {
	srv *Server
	ss  grpc.ServerStream
	ctx context.Context //nolint:containedctx // the stream's own
	id  Identity
	log *slog.Logger

	requests chan *request
	readEnd  chan error // capacity 1
	writes   chan *response
	written  chan error // capacity 1

	delta   bool
	node    pinnedNode
	att     Attachment
	client  snapshot.Client
	nonces  [fleet.NumTypes]string // of the last response of each type
	count   uint64                 // responses sent
	writing bool
	settled settled
}

// settled is what was last reported, in which history.
type settled struct {
	history  uint64
	revision fleet.Revision
}

func newStream(s *Server, ss grpc.ServerStream, id Identity, delta bool) *stream {
	return &stream{
		srv: s, ss: ss, ctx: ss.Context(), id: id, delta: delta,
		log:      s.log.With("tenant", id.Key.Tenant, "fleet", id.Key.Fleet, "remote", remote(ss.Context())),
		requests: make(chan *request),
		readEnd:  make(chan error, 1),
		writes:   make(chan *response),
		written:  make(chan error, 1),
		client:   snapshot.Client{Delta: delta, Young: true},
	}
}

// run serves the stream until its end. The reader and the writer end with ctx, which
// grpc cancels when the handler returns.
func (st *stream) run() error {
	go st.read()
	go st.write()
	defer func() {
		if st.att != nil {
			st.att.Detach()
		}
	}()
	if err := st.attach(); err != nil {
		st.log.Info("stream refused", "reason", err)
		return err
	}
	st.log.Debug("stream opened")
	err := st.loop()
	st.log.Debug("stream ended", "reason", err)
	return err
}

func (st *stream) read() {
	defer st.contain(st.readEnd)
	for {
		r := &request{delta: st.delta}
		if err := st.ss.RecvMsg(r); err != nil {
			st.readEnd <- err
			return
		}
		select {
		case st.requests <- r:
		case <-st.ctx.Done():
			return
		}
	}
}

func (st *stream) write() {
	defer st.contain(st.written)
	for {
		select {
		case r := <-st.writes:
			err := st.ss.SendMsg(r)
			st.written <- err
			if err != nil {
				return
			}
		case <-st.ctx.Done():
			return
		}
	}
}

// contain makes of a panic in the reader or the writer the end of this stream alone.
func (st *stream) contain(end chan<- error) {
	if p := recover(); p != nil { //nolint:revive // contain is what is deferred
		st.log.Error("panic in a stream", "panic", p, "stack", stack())
		select {
		case end <- statusOf(fmt.Errorf("panic: %v", p)):
		case <-st.ctx.Done():
		}
	}
}

// attach waits for the first request, which names the node, and ties the stream to its
// fleet. Everything that can be refused is refused here, before the first response: a
// response resets the client's backoff.
func (st *stream) attach() error {
	var first *request
	silence := time.NewTimer(st.srv.cfg.Limits.FirstRequest)
	defer silence.Stop()
	select {
	case first = <-st.requests:
	case err := <-st.readEnd:
		return ended(err)
	case <-silence.C:
		return status.Errorf(codes.DeadlineExceeded, "no request came within %s of the stream's opening", st.srv.cfg.Limits.FirstRequest)
	case <-st.srv.drain:
		return status.Error(codes.Unavailable, "the server is shutting down: connect again")
	case <-st.ctx.Done():
		return st.ctx.Err()
	}
	node, err := pin(first.node)
	if err != nil {
		return err
	}
	st.node = node
	st.log = st.log.With("node", node.node.ID)
	if !st.id.Nodes.Match(node.node.ID) {
		return fmt.Errorf("the credential does not admit the node id %q, it is for %q: use a credential of its own or change node.id: %w", node.node.ID, st.id.Nodes, fleet.ErrForbidden)
	}
	if err := st.check(first); err != nil {
		return err
	}
	st.client.Envoy = node.node.UserAgent == "envoy"
	st.att, err = st.srv.cfg.Source.Attach(st.ctx, st.id, node.node, StreamInfo{
		Protocol: st.protocol(), RemoteAddr: remote(st.ctx), Resumed: first.version != "" || len(first.versions) > 0,
	})
	if err != nil {
		return err
	}
	return st.handle(first)
}

func (st *stream) protocol() string {
	if st.delta {
		return "delta ADS"
	}
	return "SotW ADS"
}

func (st *stream) loop() error {
	drain := st.srv.drain
	grown := time.After(st.srv.cfg.Limits.Youth)
	var leave, stuck <-chan time.Time
	for {
		if st.pump() {
			stuck = time.After(st.srv.cfg.Limits.Write)
		}
		if !st.writing {
			stuck = nil
		}
		select {
		case r := <-st.requests:
			if err := st.handle(r); err != nil {
				return err
			}
		case <-st.att.Changed(): // look again: pump does
		case <-grown:
			st.client.Grow()
		case err := <-st.written:
			if err != nil {
				return ended(err)
			}
			st.writing = false
		case err := <-st.readEnd:
			return ended(err)
		case err := <-st.att.Ended():
			return err
		case <-stuck:
			return status.Errorf(codes.ResourceExhausted, "the client read nothing for %s", st.srv.cfg.Limits.Write)
		case <-drain:
			drain = nil
			leave = time.After(spread(st.srv.cfg.DrainSpread))
		case <-leave:
			return nil
		case <-st.ctx.Done():
			return st.ctx.Err()
		}
	}
}

func spread(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return rand.N(d)
}

// pump hands the writer the next response, if it is free and there is one, and reports
// what is settled. It says whether it handed one over.
func (st *stream) pump() bool {
	if st.writing {
		return false
	}
	target := st.att.Current()
	r := st.client.Next(target)
	if s := (settled{target.History, st.client.Settled()}); s.history != st.settled.history || s.revision > st.settled.revision {
		st.settled = s
		st.att.Settled(s.revision)
	}
	if r == nil {
		return false
	}
	st.count++
	nonce := strconv.FormatUint(st.count, 36)
	select {
	case st.writes <- newResponse(r, nonce, st.delta):
	case <-st.ctx.Done():
		return false
	}
	st.writing = true
	st.nonces[r.Type] = nonce
	st.client.Sent(r, nonce)
	if r.Changes() {
		st.att.Sent(r.Revision)
	}
	return true
}

// handle takes in a request that passed check.
func (st *stream) handle(r *request) error {
	if st.att != nil && r.node != nil {
		if err := st.node.check(r.node); err != nil {
			return err
		}
	}
	if err := st.check(r); err != nil {
		return err
	}
	t, _ := fleet.TypeFromURL(r.typeURL)
	// A client may report what the fleet has lost meanwhile, but not without end.
	if most := 2*st.att.Current().Types[t].Len() + st.srv.cfg.Limits.Names; len(r.versions) > most || len(r.dropped) > most {
		return fmt.Errorf("the request names %d versions and drops %d names of %s, %d is the limit: %w", len(r.versions), len(r.dropped), t, most, fleet.ErrLimit)
	}
	first := !st.client.Subscribed(t)
	if st.delta {
		st.handleDelta(t, r, first)
	} else {
		st.handleSotW(t, r, first)
	}
	if n := st.client.Subscription(t).Len(); n > st.srv.cfg.Limits.Names {
		return fmt.Errorf("the stream subscribes to %d %s, %d names is the limit of a stream: %w", n, t, st.srv.cfg.Limits.Names, fleet.ErrLimit)
	}
	if n := st.client.NameBytes(); n > maxNameBytes {
		return fmt.Errorf("the names that the stream subscribes to take %d bytes, %d is the limit of a stream: %w", n, maxNameBytes, fleet.ErrLimit)
	}
	return nil
}

// maxNameBytes is the most that the names of a stream's subscriptions may take.
const maxNameBytes = 4 << 20

// check refuses what no stream may ask for.
func (st *stream) check(r *request) error {
	if _, ok := fleet.TypeFromURL(r.typeURL); !ok {
		return unknownType(r.typeURL)
	}
	if r.locators {
		return fmt.Errorf("resource locators (xdstp) are not served: subscribe by name: %w", fleet.ErrInvalid)
	}
	longest := 0
	for _, n := range r.names {
		longest = max(longest, len(n))
	}
	for n, v := range r.versions {
		longest = max(longest, len(n), len(v))
	}
	if most := st.srv.cfg.Limits.NameBytes; longest > most {
		return fmt.Errorf("a resource name has %d bytes, %d is the limit: %w", longest, most, fleet.ErrLimit)
	}
	return nil
}

func unknownType(url string) error {
	switch {
	case url == "":
		return fmt.Errorf("type_url is empty: an aggregated stream needs one in every request: %w", fleet.ErrInvalid)
	case strings.Contains(url, "envoy.api.v2.") || strings.HasSuffix(url, ".v2.Runtime"):
		return fmt.Errorf("type_url %q is of xDS v2, which is gone: set resource_api_version and transport_api_version to V3: %w", url, fleet.ErrInvalid)
	}
	if len(url) > 128 {
		url = url[:128]
	}
	return fmt.Errorf("type_url %q is not served: %w", url, fleet.ErrInvalid)
}

// handleSotW: "a request whose nonce is not the last one sent is stale" and says
// nothing; all others carry the whole list of names (PROTOCOL rules 7 and 17).
func (st *stream) handleSotW(t fleet.Type, r *request, first bool) {
	if !first {
		if r.nonce != st.nonces[t] {
			return
		}
		if f := st.client.InFlight(t); f != nil && f.Nonce == r.nonce {
			// With the version of the response itself, error_detail is about an older one: an
			// ACK (PROTOCOL rule 16).
			if r.nack && r.version != f.Version.String() {
				st.refused(t, r)
			} else {
				st.client.Acknowledge(t, r.nonce)
			}
		}
	}
	st.client.Subscribe(snapshot.Request{Type: t, Names: r.names, Version: r.version}, st.att.Current())
}

// handleDelta: the nonce decides what is answered, and changes of the subscription hold
// whatever it says (PROTOCOL rule 17).
func (st *stream) handleDelta(t fleet.Type, r *request, first bool) {
	if !first && r.nonce != "" {
		if f := st.client.InFlight(t); f != nil && f.Nonce == r.nonce {
			if r.nack {
				st.refused(t, r)
			} else {
				st.client.Acknowledge(t, r.nonce)
			}
		}
	}
	if first || len(r.names) > 0 || len(r.dropped) > 0 {
		st.client.Subscribe(snapshot.Request{Type: t, Names: r.names, Dropped: r.dropped, Versions: r.versions}, st.att.Current())
	}
}

// refused takes in a NACK. The refusal is recorded before its repair is sent.
func (st *stream) refused(t fleet.Type, r *request) {
	blamed, ok := st.client.Refuse(t, r.nonce, r.detail)
	if !ok {
		return
	}
	detail := redact(t, r.detail)
	st.log.Warn("resource refused", "type", t.Slug(), "detail", detail)
	culprits := make([]Culprit, len(blamed))
	for i, b := range blamed {
		culprits[i] = Culprit{Refused: b.Refused, Good: b.Good}
	}
	st.att.Refuse(st.ctx, Refusal{Type: t, Detail: detail, Culprits: culprits})
}

// ended makes of the end of a connection what it is: io.EOF is a client that has no more
// to say, anything else is its going away.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func stack() string { return string(debug.Stack()) }
