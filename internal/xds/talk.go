package xds

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// talk is a call beside discovery, of the client status service, of reflection, or of load reports. A
// credential has so many at once, each is paced, and none outlives its credential, its
// connection or its server. One goroutine receives and sends.
type talk struct {
	grpc.ServerStream
	srv     *Server
	ctx     context.Context //nolint:containedctx // the call's own
	cancel  context.CancelCauseFunc
	once    bool
	id      Identity // whom the last request spoke for
	pace    *rate.Limiter
	silence *time.Timer            // ends a call that begins with none
	recheck *time.Timer            // looks whether the credential is still valid
	every   time.Duration          // after which silence it does
	held    atomic.Pointer[handed] // the last answer
}

// How often the credential of a talk is looked at while its client is silent: a request has it looked at too. A stream of reports is told nothing
// that is secret, and there are many, which report more often than that.
const recheckTalk, recheckReports = 5 * time.Second, 30 * time.Second

// converse is the handler of a talk that lasts: do receives and sends until an error.
func (s *Server) converse(do func(*talk) error) grpc.StreamHandler {
	return s.talks(do, false, recheckTalk, s.streams.ask)
}

// once is the handler of a talk with one request and one answer. Ageing and draining do
// not cut it off: it ends by itself.
func (s *Server) once(do func(*talk) error) grpc.StreamHandler {
	return s.talks(do, true, recheckTalk, s.streams.ask)
}

// talks is the handler of a talk that enter counts.
func (s *Server) talks(do func(*talk) error, once bool, recheck time.Duration, enter func(Identity) (leave func(), err error)) grpc.StreamHandler {
	return func(_ any, ss grpc.ServerStream) error {
		id, ok := identityOf(ss.Context())
		if !ok {
			return statusOf(ss.Context(), errNoIdentity)
		}
		leave, err := enter(id)
		if err != nil {
			return statusOf(ss.Context(), err)
		}
		defer leave()
		t := s.newTalk(ss, id, recheck)
		t.once = once
		defer func() { s.release(ss.Context(), t.held.Load()) }()
		defer t.cancel(nil)
		defer t.silence.Stop()
		end := make(chan error, 1)
		go func() { end <- t.run(do) }() // the handler's return frees it
		return statusOf(ss.Context(), t.await(end, id))
	}
}

func (s *Server) newTalk(ss grpc.ServerStream, id Identity, recheck time.Duration) *talk {
	limits := s.cfg.Limits
	ctx, cancel := context.WithCancelCause(ss.Context())
	return &talk{
		ServerStream: ss, srv: s, ctx: ctx, cancel: cancel, id: id, pace: rate.NewLimiter(rate.Limit(limits.Requests), limits.Burst),
		recheck: time.NewTimer(recheck), every: recheck,
		silence: time.AfterFunc(limits.FirstRequest, func() {
			cancel(status.Errorf(codes.DeadlineExceeded, "no request came within %s of the stream's opening", limits.FirstRequest))
		}),
	}
}

func (t *talk) run(do func(*talk) error) error {
	return ended(lifecycle.Contain(t.srv.log, "a call", func() error { return do(t) }))
}

// await returns what the talk of id's credential ends with.
func (t *talk) await(end <-chan error, id Identity) error {
	var leaves <-chan time.Time
	drain, at := t.srv.drain, t.srv.leaves(t.ctx)
	switch {
	case t.once:
		drain = nil
	case !at.IsZero():
		leaves = time.After(time.Until(at))
	}
	defer t.recheck.Stop()
	for {
		select {
		case err := <-end:
			return err
		case <-t.ctx.Done():
			return context.Cause(t.ctx)
		case <-leaves:
			return nil
		case <-drain:
			return nil
		case <-t.recheck.C:
			t.recheck.Reset(t.every)
			// A database that does not answer ends nothing.
			if _, err := t.srv.recheck(t.ctx, id); err != nil && !errors.Is(err, fleet.ErrUnavailable) {
				return err
			}
		}
	}
}

// Context is the call's.
func (t *talk) Context() context.Context { return t.ctx }

// RecvMsg waits until the client may ask again, and for its request. It fails if the
// credential is not valid any more by then.
func (t *talk) RecvMsg(m any) error {
	if t.pace.Wait(t.ctx) != nil {
		<-t.ctx.Done() // a deadline is known before it passes
		return context.Cause(t.ctx)
	}
	q := &question{message: m}
	if err := t.ServerStream.RecvMsg(q); err != nil {
		return err
	}
	t.silence.Stop()
	if q.err != nil || t.once { // once: the interceptor has just asked
		return q.err
	}
	id, err := t.srv.recheck(t.ctx, t.id)
	t.id = id
	t.recheck.Reset(t.every)
	return err
}

// SendMsg returns when the client was sent all of the message. It ends the talk if the client
// reads nothing for long.
func (t *talk) SendMsg(m any) error {
	message, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("send a %T: %w", m, fleet.ErrInvalid)
	}
	limit := t.srv.cfg.Limits.Write
	stuck := time.AfterFunc(limit, func() {
		t.cancel(status.Errorf(codes.ResourceExhausted, "the client read nothing for %s", limit))
	})
	defer stuck.Stop()
	a := &answer{message: message}
	a.hand(time.Now(), limit)
	t.held.Store(&a.handed)
	if err := t.ServerStream.SendMsg(a); err != nil {
		return err
	}
	select {
	case <-a.gone:
		return nil
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	}
}
