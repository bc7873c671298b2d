package replica

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

var _ xds.Source = (*Replica)(nil)

// Attach ties a stream to its fleet. The first one of a fleet waits until it is loaded;
// others that come meanwhile wait for the same load. One stream too many is
// fleet.ErrLimit; those that wait count.
func (r *Replica) Attach(ctx context.Context, id xds.Identity, n fleet.Node, s xds.StreamInfo) (_ xds.Attachment, err error) {
	defer func() { r.denied(err, n.ID, s.RemoteAddr) }()
	if !id.Nodes.Match(n.ID) {
		return nil, fmt.Errorf("the node credential is for nodes %q and not for %q: %w", id.Nodes, n.ID, fleet.ErrForbidden)
	}
	if err := r.enter(id); err != nil {
		return nil, err
	}
	kept := false
	defer func() { // by a panic too: it counts against limits
		if !kept {
			r.exit(id)
		}
	}()
	a, err := r.attach(ctx, id, n, s)
	if err != nil {
		return nil, err
	}
	kept = true
	r.uses.use(id, s.RemoteAddr, 1, r.clock.now())
	return a, nil
}

func (r *Replica) enter(id xds.Identity) error {
	err := r.streams.add(id)
	if err == nil {
		r.served.Add(1)
	}
	return err
}

func (r *Replica) exit(id xds.Identity) {
	r.served.Add(-1)
	r.streams.remove(id)
}

func (r *Replica) attach(ctx context.Context, id xds.Identity, n fleet.Node, s xds.StreamInfo) (*attachment, error) {
	o, err := r.use(id.Key)
	if err != nil {
		return nil, err
	}
	var a *attachment
	kept := false
	defer func() { // by a panic too
		if kept {
			return
		}
		defer r.leave(o)
		if a != nil {
			o.untie(a, false)
		}
	}()
	if !closed(o.loaded) {
		if s.Await(func() { err = o.waitUntilLoaded(ctx) }); err != nil {
			return nil, err
		}
	}
	known, err := o.admit(id.Credential, n.ID)
	if err != nil {
		return nil, err
	}
	past, labels := o.pastOf(ctx, n.ID, s), selector.LabelsOf(n)
	o.catchUpWith(ctx, s, past)
	if past == nil || past.Known {
		known()
	}
	if err := o.excludeElsewhere(ctx, n.ID, s, past); err != nil {
		return nil, &deniedError{err, id.Key, id.Credential, fleet.DeniedNodeIDTaken}
	}
	if a, err = o.attach(id, n, s, labels, past); err != nil {
		return nil, err
	}
	o.recall(ctx, s, a, past, labels)
	if past != nil && !past.Known && !past.missed {
		s.Await(func() { a.record.Announce(ctx) })
	}
	kept = true
	return a, nil
}

// recall finds out what the node held before, as far as that decides what it is sent.
func (o *owner) recall(ctx context.Context, s xds.StreamInfo, a *attachment, past *nodePast, labels selector.Labels) {
	if (a.last.Settled > 0 || a.held.At > 0) && (s.Resumed || !a.last.Clean) { // a stuck one may report nothing but of clusters
		a.last.Before = o.before(ctx, s, o.pastBeside(ctx, s, a, past), labels)
	}
	if s.Resumed && !s.Delta { // however the last stream ended that the database knows of: there may have been another one
		a.last.Between = o.between(ctx, s, a, max(a.last.Settled, a.held.At), labels)
	}
}

// waitUntilLoaded waits for the fleet's first load, for attachWait at most: the time in which
// the load has to wait for those of other fleets does not count.
func (o *owner) waitUntilLoaded(ctx context.Context) error {
	begun, queued := time.Now(), o.pace.queued.read()
	timer := time.NewTimer(attachWait)
	defer timer.Stop()
	for {
		select {
		case <-o.loaded:
			return nil
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the fleet's configuration: %w: %w", context.Cause(ctx), fleet.ErrUnavailable)
		}
		own := time.Since(begun) - (o.pace.queued.read() - queued)
		if own >= attachWait {
			return fmt.Errorf("the fleet's configuration is not loaded yet, the database has not answered for %s: the client tries again by itself: %w",
				attachWait, fleet.ErrUnavailable)
		}
		timer.Reset(attachWait - own)
	}
}

// behindWait is for how long a node waits for a server that has not what another one gave it.
const behindWait = time.Second

// catchUpWith waits until this server has read what the node has settled at on another one, but for what was withheld from it: else it would give the node older content than it has. It waits for one reading
// that begins now, and for behindWait at most: a database that is away keeps no client out.
func (o *owner) catchUpWith(ctx context.Context, s xds.StreamInfo, past *nodePast) {
	if c := o.shown(); past == nil || c == nil || max(past.Settled, past.Held.At) <= c.revision { // nil: the fleet is gone
		return
	}
	round := o.round()
	s.Await(func() {
		timer := time.NewTimer(behindWait)
		defer timer.Stop()
		signal(o.dirty)
		for next := o.finished.after(round); next != nil; next = o.finished.after(round) {
			select {
			case <-next:
			case <-timer.C:
				return
			case <-ctx.Done():
				return
			}
		}
	})
}

// attachment is one stream's tie to its fleet.
type attachment struct {
	owner      *owner
	node       *node
	subscriber subscriber
	id         xds.Identity
	record     *delivery.Stream
	last       xds.LastStream
	held       fleet.Held // by last.Settled
	// confirmed is a target that the stream has settled at; nil if none is known.
	confirmed atomic.Pointer[snapshot.Target]
	seen      atomic.Pointer[snapshot.Target] // the last one that the stream has looked at
	kind      string                          // what the stream serves, "delta ADS"
	resumed   bool                            // the client said at once that it holds something
	bell      xds.Bell
	why       atomic.Pointer[error] // it must end; nil: it need not
	round     int                   // readings that had begun when it came; guarded by owner.mu
	begun     time.Time             // on the database's clock
}

func (o *owner) attach(id xds.Identity, n fleet.Node, s xds.StreamInfo, labels selector.Labels, asked *nodePast) (*attachment, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if why := o.streams.gone; why != nil {
		return nil, why
	}
	c, ok := o.held.Load().creds[id.Credential]
	if ok {
		if err := ended(c, o.r.clock.now()); err != nil {
			return nil, deniedFor(o.key, c, err)
		}
	} else if id.Credential != (fleet.CredentialID{}) {
		signal(o.dirty) // made a moment ago, or gone
	}
	if o.held.Load().exclusive {
		if err := o.nodes.exclude(n.ID, s.Protocol); err != nil {
			return nil, &deniedError{err, o.key, id.Credential, fleet.DeniedNodeIDTaken}
		}
	}
	a := &attachment{
		owner: o, node: o.nodes.node(n.ID), id: id, round: o.streams.rounds, begun: o.r.clock.now(),
		bell:       xds.NewBell(),
		kind:       s.Protocol,
		resumed:    s.Resumed,
		subscriber: subscriber{labels: labels, serves: servedBy(s.Protocol)},
	}
	done := false
	defer func() {
		if !done { // a panic: nobody has it, so nobody would detach it
			o.untieLocked(a, false)
		}
	}()
	o.views.place(&a.subscriber, len(o.streams.tied)+len(o.nodes.excepted), o.subscribers())
	revised, resolved := o.nodes.remember(a, asked)
	o.nodes.inherit(a)
	a.record = o.r.cfg.Recorder.Connect(o.key, n, delivery.StreamInfo{
		Protocol: s.Protocol, RemoteAddr: s.RemoteAddr, Credential: id.Credential, Resumed: s.Resumed,
		Doubtful: a.last.Known && !a.last.Clean, Before: a.last.Settled, Held: a.held, View: a.subscriber.view.id,
	})
	a.record.Revise(revised)
	a.node.streams[a] = struct{}{}
	o.streams.tied[a] = struct{}{}
	resolved = append(resolved, o.nodes.renew(a.node)...) // it may have come back with other labels
	o.r.cfg.Recorder.Resolved(o.key, resolved)
	done = true
	return a, nil
}

// Current returns what the node should hold. Nodes of one view without exceptions share
// one target.
func (a *attachment) Current() *snapshot.Target {
	t := a.subscriber.target.Load()
	if a.seen.Load() != t {
		a.seen.Store(t)
	}
	return t
}

// Bell is rung when the target is another one, and at the end.
func (a *attachment) Bell() xds.Bell { return a.bell }

// CaughtUp reports whether a reading has finished that began after the stream. If not, one begins as soon as it can, and the bell is rung after it.
func (a *attachment) CaughtUp() bool {
	o := a.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished.after(a.round) == nil {
		return true
	}
	o.streams.awaiting[a] = struct{}{}
	signal(o.dirty)
	return false
}

// Ended is the first reason to end the stream.
func (a *attachment) Ended() error {
	if why := a.why.Load(); why != nil {
		return *why
	}
	return nil
}

func (a *attachment) end(err error) {
	if a.why.CompareAndSwap(nil, &err) {
		a.bell.Ring()
	}
}

// Sent records that something of the revision's target went to the stream's client.
func (a *attachment) Sent(r fleet.Revision, begun, planned time.Time) {
	a.record.Sent(r, delivery.Planning{Begun: begun, Done: planned})
}

// Waits records what the stream's client waits for.
func (a *attachment) Waits(w fleet.Waits) { a.record.Waits(w) }

// Subscribes records what the stream's client subscribes to.
func (a *attachment) Subscribes(s fleet.Subscriptions) { a.record.Subscribes(s) }

// Settled records what the stream's client has confirmed.
func (a *attachment) Settled(r fleet.Revision) {
	a.record.Settled(r)
	t := a.subscriber.target.Load()
	if t.Revision == r { // else the next one is on its way
		a.confirmed.Store(t)
	}
	if !a.node.unsettled.Load() {
		return
	}
	a.owner.resolve(func(ns *nodes) []fleet.Refusal {
		resolved := ns.settle(a)
		if t.Revision == r {
			resolved = append(resolved, ns.inStep(a)...)
		}
		ns.retarget(a.node)
		return resolved
	})
}

// Refuse makes the culprits exceptions of the stream and records them, before it tells it
// to look again.
func (a *attachment) Refuse(ctx context.Context, v snapshot.Verdict) {
	refusals, resolved := a.owner.except(a, v)
	a.record.Refused(ctx, refusals)
	a.owner.r.cfg.Recorder.Resolved(a.owner.key, resolved)
	a.bell.Ring()
}

func (o *owner) except(a *attachment, v snapshot.Verdict) ([]fleet.Refusal, []fleet.Refusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.nodes.except(a, v)
}

// Reconsider ends exceptions of the stream, and tells it to look again.
func (a *attachment) Reconsider(doubted []refusal.Key) {
	a.owner.resolve(func(ns *nodes) []fleet.Refusal { return ns.reconsider(a, doubted) })
}

// LastStream is what is known of the node from before this stream. What it held then is told
// once, and not kept: it may be a whole fleet.
func (a *attachment) LastStream() xds.LastStream {
	p := a.last
	a.last.Before, a.last.Between = nil, nil
	return p
}

// GaveUp records that the stream's client ends it.
func (a *attachment) GaveUp() { a.record.GaveUp() }

// Detach ends the tie. clean is for the node's next stream, here or elsewhere.
func (a *attachment) Detach(clean bool) {
	o := a.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, tied := o.streams.tied[a]; !tied {
		return
	}
	defer o.r.exit(a.id)
	defer o.r.uses.use(a.id, "", -1, o.r.clock.now())
	defer o.r.leave(o)
	o.untieLocked(a, clean)
}

func (o *owner) untie(a *attachment, clean bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.untieLocked(a, clean)
}

// untieLocked takes a stream out, also one that a panic has left half tied. o.mu is held.
func (o *owner) untieLocked(a *attachment, clean bool) {
	delete(o.streams.tied, a)
	delete(o.streams.awaiting, a)
	var resolved []fleet.Refusal
	defer func() { o.r.cfg.Recorder.Resolved(o.key, resolved) }()
	if a.record != nil {
		defer a.record.Close(clean)
	}
	if a.node != nil {
		resolved = o.nodes.release(a)
	}
	a.Current() // there is nothing more for it to look at: who wakes it does not wait
}
