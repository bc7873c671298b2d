package replica

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// pastOf asks the database what the node left behind, unless it has a stream here: then
// its past is known, and the answer is nil. What cannot be found out in time is
// missed, and the stream goes on without (SEMANTICS 3.4).
func (o *owner) pastOf(ctx context.Context, id string, s xds.StreamInfo) *nodePast {
	live, round := o.isLive(id)
	if live {
		return nil
	}
	// What it left behind here is known before the database has heard of it.
	untold := o.r.cfg.Recorder.Untold(o.key, id)
	here, remembered := o.r.cfg.Recorder.LastStream(o.key, id)
	var without fleet.ServerID
	if remembered {
		without = o.r.cfg.Recorder.Server()
	}
	begun := time.Now()
	past, err := o.askAside(ctx, s, fleet.AskedNode{Node: id, Without: without})
	o.fold(&past, id, untold)
	elsewhere := err == nil && (!remembered || past.At.After(here.At))
	if remembered && !elsewhere {
		live := past.Live // on another server: a node that is in two places is believed nothing
		past.Known, past.Settled, past.Held, past.Clean, past.At, past.View = true, here.Settled, here.Held, here.Clean && !live, here.At, here.View
	}
	return &nodePast{LastStream: past, round: round, begun: begun, missed: err != nil}
}

// fold adds to what the database knows what it had not heard of when it was asked, and what has happened since.
func (o *owner) fold(past *fleet.LastStream, node string, untold []fleet.Refusal) {
	untold = append(untold, o.r.cfg.Recorder.Untold(o.key, node)...)
	for _, r := range untold {
		past.Offer = max(past.Offer, r.Offer)
	}
	past.Refusals, past.Ended = refusal.Fold(past.Refusals, past.Ended, untold)
}

// askAside lets other streams begin while the database is asked.
func (o *owner) askAside(ctx context.Context, s xds.StreamInfo, n fleet.AskedNode) (past fleet.LastStream, err error) {
	s.Await(func() { past, err = o.asker.ask(ctx, n) })
	return past, err
}

// pastBeside asks what a node refuses that has other streams here; it was not asked before.
func (o *owner) pastBeside(ctx context.Context, s xds.StreamInfo, a *attachment, past *nodePast) *nodePast {
	if past != nil || a.last.Settled >= o.held.Load().at.Revision {
		return past
	}
	untold := o.r.cfg.Recorder.Untold(o.key, a.node.id)
	asked, err := o.askAside(ctx, s, fleet.AskedNode{Node: a.node.id})
	if err != nil {
		return nil
	}
	o.fold(&asked, a.node.id, untold)
	asked.Settled, asked.Held = a.last.Settled, a.held
	return &nodePast{LastStream: asked}
}

// nodePast is a node's past as it was when so many retries had been heard of.
type nodePast struct {
	fleet.LastStream
	round  int
	begun  time.Time // when it was asked for
	missed bool      // the database did not answer
}

// ended reports whether the refusal that an exception comes from stands no more, by what the
// database and this server know: another server has ended it, whichever of the node's streams was there last.
func (p *nodePast) ended(e snapshot.Exception) bool {
	return !p.missed && len(p.Refusals) < mostRefusals && !slices.ContainsFunc(p.Refusals, isOf(e))
}

// isOf reports whether an exception comes from a refusal.
func isOf(e snapshot.Exception) func(fleet.Refusal) bool {
	return func(f fleet.Refusal) bool { return refusal.KeyOf(f) == e.Key() }
}

// endedAfter are the refusals that a later revision has ended: a server that is behind keeps its version back until then.
func (p *nodePast) endedAfter(at fleet.Revision) (later []fleet.Refusal) {
	for _, f := range p.Ended {
		if f.By > at {
			later = append(later, f)
		}
	}
	return later
}

// isLive reports whether the node has a stream, and how many retries there were.
func (o *owner) isLive(id string) (live bool, round int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes.byID[id]
	return n != nil && len(n.streams) > 0, o.nodes.retried
}

// missedFor is how long those that came late may keep a change of the fleet waiting, for a
// place; then for one answer.
const missedFor = 500 * time.Millisecond

// askMissed asks between two readings of the fleet for what could not be read when its nodes
// came: once, and once more after the next reading if that were not all.
func (o *owner) askMissed(ctx context.Context) {
	missed := o.someMissed(nodesAtOnce)
	if len(missed) == 0 {
		return
	}
	asked, untold := make([]fleet.AskedNode, len(missed)), make([][]fleet.Refusal, len(missed))
	for i, n := range missed {
		untold[i] = o.r.cfg.Recorder.Untold(o.key, n.id)
		asked[i] = fleet.AskedNode{Node: n.id, Without: o.r.cfg.Recorder.Server()}
	}
	var answers []fleet.LastStream
	err := o.r.lastStreams.do(ctx, &o.missedPace, missedFor, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, lastStreamsWait)
		defer cancel()
		answers, err = o.r.cfg.Feed.LastStreams(ctx, o.key, asked)
		return err
	})
	if err != nil {
		o.retryAt = time.Now().Add(retryMost/2 + rand.N(retryMost))
		return
	}
	o.resolve(func(ns *nodes) (resolved []fleet.Refusal) {
		for i, x := range answers {
			o.fold(&x, missed[i].id, untold[i])
			resolved = append(resolved, ns.rememberLate(missed[i], x)...)
		}
		if len(ns.missed) > 0 {
			signal(ns.missing)
		}
		return resolved
	})
}

func (o *owner) someMissed(most int) (some []*node) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := range o.nodes.missed {
		if some = append(some, n); len(some) == most {
			break
		}
	}
	return some
}
