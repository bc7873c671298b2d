package replica

import (
	"context"
	"math/rand/v2"
	"time"

	"fairlead/internal/fleet"
)

// recall asks the database what the node left behind, unless it has a stream here: then
// its past is known, and the answer is nil. What cannot be found out in time is
// missed, and the stream goes on without (SEMANTICS 3.4).
func (o *owner) recall(ctx context.Context, id string) *recalled {
	live, round := o.look(id)
	if live {
		return nil
	}
	// What it left behind here is known before the database has heard of it.
	here, remembered := o.r.cfg.Recorder.Past(o.key, id)
	var without fleet.ServerID
	if remembered {
		without = o.r.cfg.Recorder.Server()
	}
	past, err := o.r.askPast(ctx, o.key, id, without)
	elsewhere := err == nil && (!remembered || past.At.After(here.At))
	if remembered && !elsewhere {
		live := past.Live // on another server: a node that is in two places is believed nothing
		past.Known, past.Settled, past.Clean, past.At, past.View = true, here.Settled, here.Clean && !live, here.At, here.View
	}
	past.Ended = append(past.Ended, here.Untold...)
	return &recalled{past, round, err != nil, elsewhere}
}

// recallBeside asks what a node refuses that has other streams here; it was not asked before.
func (o *owner) recallBeside(ctx context.Context, a *attachment, past *recalled) *recalled {
	if past != nil || a.last.Settled >= o.held.Load().at.Revision {
		return past
	}
	asked, err := o.r.askPast(ctx, o.key, a.node.id, fleet.ServerID{})
	if err != nil {
		return nil
	}
	asked.Settled = a.last.Settled
	return &recalled{LastStream: asked}
}

// recalled is a node's past as it was when so many retries had been heard of.
type recalled struct {
	fleet.LastStream
	round  int
	missed bool // the database did not answer
	// elsewhere: what the database says is newer than what is remembered here.
	elsewhere bool
}

func (o *owner) look(id string) (live bool, round int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes.byID[id]
	return n != nil && len(n.streams) > 0, o.nodes.retried
}

// askPast gives up after pastWait. While the database answers it waits for its turn as well:
// a crowd that nobody believed would be sent everything.
func (r *Replica) askPast(ctx context.Context, key fleet.Key, id string, without fleet.ServerID) (fleet.LastStream, error) {
	begun := time.Now()
	turn, cancel := context.WithTimeout(ctx, pastTurn)
	defer cancel()
	select {
	case r.pasts <- struct{}{}:
		defer func() { <-r.pasts }()
	case <-turn.Done():
	}
	if turn.Err() != nil { // there was a place at that same moment
		return fleet.LastStream{}, context.Cause(turn)
	}
	wait := pastWait
	if r.forgot.Load() {
		wait -= time.Since(begun)
	}
	answer, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	past, err := r.cfg.Feed.NodePast(answer, key, id, without)
	switch {
	case ctx.Err() != nil: // the client has gone
	case err != nil && !r.forgot.Swap(true):
		r.log.Warn("what nodes left behind cannot be read: it is asked for again, and until then they are not believed", "fleet", key, "node", id, "error", err)
	case err == nil:
		r.forgot.Store(false)
	}
	return past, err
}

// Late pasts are asked for between two readings of the fleet: so many, and no further one
// after so long.
const (
	missedAtOnce = 16
	missedFor    = 500 * time.Millisecond
)

// askMissed asks for pasts that could not be read when their nodes came.
func (o *owner) askMissed(ctx context.Context) {
	o.mu.Lock()
	asked := make([]*node, 0, missedAtOnce)
	for n := range o.nodes.missed {
		if asked = append(asked, n); len(asked) == missedAtOnce {
			break
		}
	}
	more := len(o.nodes.missed) > len(asked)
	o.mu.Unlock()
	begun := time.Now()
	for i, n := range asked {
		if i > 0 && (len(o.dirty) > 0 || time.Since(begun) >= missedFor) { // a change of the fleet comes first
			more = true
			break
		}
		asking, cancel := context.WithTimeout(ctx, pastWait)
		past, err := o.r.askPast(asking, o.key, n.id, fleet.ServerID{})
		cancel()
		if err != nil {
			o.retryAt = time.Now().Add(retryMost/2 + rand.N(retryMost))
			return
		}
		o.resolve(func(ns *nodes) []fleet.Resolution { return ns.rememberLate(n, past.Refusals) })
	}
	if more {
		signal(o.dirty)
	}
}
