package replica

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
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
	past.Ended = append(past.Ended, here.Unflushed...)
	return &recalled{past, round, err != nil, elsewhere}
}

// recallBeside asks what a node refuses that has other streams here; it was not asked before.
func (o *owner) recallBeside(ctx context.Context, a *attachment, past *recalled) *recalled {
	if past != nil || a.past.Settled >= o.held.Load().at.Revision {
		return past
	}
	asked, err := o.r.askPast(ctx, o.key, a.node.id, fleet.ServerID{})
	if err != nil {
		return nil
	}
	asked.Settled = a.past.Settled
	return &recalled{NodePast: asked}
}

// recalled is a node's past as it was when so many retries had been heard of.
type recalled struct {
	fleet.NodePast
	round  int
	missed bool // the database did not answer
	// elsewhere: what the database says is newer than what is remembered here.
	elsewhere bool
}

func (o *owner) look(id string) (live bool, round int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.nodes[id]
	return n != nil && len(n.streams) > 0, o.retried
}

// askPast gives up after pastWait. While the database answers it waits for its turn as well:
// a crowd that nobody believed would be sent everything.
func (r *Replica) askPast(ctx context.Context, key fleet.Key, id string, without fleet.ServerID) (fleet.NodePast, error) {
	begun := time.Now()
	turn, cancel := context.WithTimeout(ctx, pastTurn)
	defer cancel()
	select {
	case r.pasts <- struct{}{}:
		defer func() { <-r.pasts }()
	case <-turn.Done():
	}
	if turn.Err() != nil { // there was a place at that same moment
		return fleet.NodePast{}, context.Cause(turn)
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

// remember takes in what a node left behind, when its first stream comes: what it refuses
// becomes exceptions again. A later stream beside it shares that past; one of the same
// kind, or one of all types, finds the node in the midst of something. o.mu is held.
func (o *owner) remember(a *attachment, asked *recalled) (revised []fleet.Refusal, resolved []fleet.Resolution) {
	n := a.node
	if len(n.streams) > 0 {
		a.past = n.past
		if n.overlaps(a) {
			a.past = xds.Past{Known: true, Settled: max(a.past.Settled, n.confirmed())}
		}
		for x := range n.streams {
			if x.seat.view.id != a.seat.view.id {
				a.past.Settled = 0 // the other one's labels are others
			}
		}
		return nil, nil
	}
	n.past = xds.Past{}
	if n.left != nil {
		n.left.lost, n.left.ahead = nil, nil
	}
	if asked == nil || asked.missed {
		o.missed[n] = struct{}{}
		signal(o.dirty)
	}
	switch {
	case asked == nil, asked.missed && !asked.Known: // it may have left anything behind
		n.past.Known = a.resumed
		a.past = n.past
		return nil, nil
	case !asked.Known:
		return nil, nil
	}
	snap := a.seat.view.snap
	n.past = xds.Past{Known: true, Settled: asked.Settled, Clean: asked.Clean}
	if n.past.Settled > snap.Revision || asked.View != a.seat.view.id {
		n.past.Settled = 0 // of a history that was cut, or further than this server is; or of other content
	}
	a.past = n.past
	if asked.round != o.retried {
		return nil, nil // it may have been read before them: the node is offered all of it once more
	}
	left := n.left
	if left == nil {
		left = &seat{serves: servedBy("")}
	}
	left.labels, left.view = a.seat.labels, a.seat.view // it may have come back with other labels
	if asked.elsewhere && len(asked.Refusals) < mostRefusals {
		left.list = slices.DeleteFunc(left.list, func(e snapshot.Exception) bool { // ended there
			return !slices.ContainsFunc(asked.Refusals, func(f fleet.PastRefusal) bool {
				return f.Type == e.Type && f.Name == e.Name && f.Version == e.Refused
			})
		})
	}
	revised, resolved = left.readopt(o, n.id, asked.Refusals)
	n.left = left // which inherit hands on
	return revised, resolved
}

// mostRefusals is how many the database tells of a node: with so many there may be more.
const mostRefusals = 1_000

// Late pasts are asked for between two readings of the fleet: so many, and no further one
// after so long.
const (
	missedAtOnce = 16
	missedFor    = 500 * time.Millisecond
)

// askMissed asks for pasts that could not be read when their nodes came.
func (o *owner) askMissed(ctx context.Context) {
	o.mu.Lock()
	nodes := make([]*node, 0, missedAtOnce)
	for n := range o.missed {
		if nodes = append(nodes, n); len(nodes) == missedAtOnce {
			break
		}
	}
	more := len(o.missed) > len(nodes)
	o.mu.Unlock()
	begun := time.Now()
	for i, n := range nodes {
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
		o.r.cfg.Recorder.Resolved(o.key, o.rememberLate(n, past.Refusals))
	}
	if more {
		signal(o.dirty)
	}
}

// rememberLate takes in what a node refused before streams that live by now. Those have
// been offered it again: what they took is over, and so is what a new client refused.
func (o *owner) rememberLate(n *node, refusals []fleet.PastRefusal) (resolved []fleet.Resolution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.missed[n]; !ok {
		return nil // it has gone meanwhile
	}
	delete(o.missed, n)
	var a *attachment
	for a = range n.streams {
		var stands []fleet.PastRefusal
		for _, f := range refusals {
			switch {
			case !a.seat.serves[f.Type]:
			case f.Name == "", a.concerns(f, o.content.history):
				stands = append(stands, f)
			default:
				resolved = append(resolved, fleet.Resolution{Node: n.id, Type: f.Type, Name: f.Name, Version: f.Version, By: a.seat.view.snap.Revision, At: o.r.now()})
			}
		}
		revised, ended := a.seat.readopt(o, n.id, stands)
		a.record.Revise(revised)
		resolved = append(resolved, ended...)
		signal(a.changed)
	}
	unserved := slices.DeleteFunc(slices.Clone(refusals), func(f fleet.PastRefusal) bool { return n.serves(f.Type) })
	if len(unserved) > 0 {
		left := n.left
		if left == nil {
			left = &seat{labels: a.seat.labels, view: a.seat.view, serves: servedBy("")}
		}
		revised, ended := left.readopt(o, n.id, unserved)
		a.record.Revise(revised)
		resolved = append(resolved, ended...)
		n.leave(left)
	}
	return append(n.ended(resolved), o.renew(n)...)
}

// concerns reports whether a past refusal may be the stream's client's: it was told before
// the stream began, and the client, which brought something with it, has not taken it since.
func (a *attachment) concerns(f fleet.PastRefusal, history uint64) bool {
	return f.Revision > a.seat.view.snap.Revision || a.seat.refuses(f.Type, f.Name, f.Version) ||
		a.resumed && !f.At.After(a.begun) && !a.took(f.Type, f.Name, f.Version, history)
}

// serves reports whether some stream of the node can ask for the type.
func (n *node) serves(t fleet.Type) bool {
	for x := range n.streams {
		if x.seat.serves[t] {
			return true
		}
	}
	return false
}

// overlaps reports whether the node has a stream for some type that a serves too.
func (n *node) overlaps(a *attachment) bool {
	for x := range n.streams {
		if x.kind == a.kind || x.aggregated() || a.aggregated() {
			return true
		}
	}
	return false
}

// confirmed is what all streams of a node that has some have settled.
func (n *node) confirmed() fleet.Revision {
	for x := range n.streams {
		return x.record.Confirmed()
	}
	return 0
}

func (a *attachment) aggregated() bool { return strings.HasSuffix(a.kind, "ADS") }

// readopt makes exceptions of the refusals that still apply, and ends the others. Those of
// revisions that this server does not know yet are judged again when it does.
func (s *seat) readopt(o *owner, node string, refusals []fleet.PastRefusal) (revised []fleet.Refusal, resolved []fleet.Resolution) {
	snap := s.view.snap
	for _, f := range refusals {
		if f.Name == "" {
			continue // nobody was held responsible
		}
		if f.Revision > snap.Revision {
			s.ahead = append(s.ahead, f)
		}
		e := snapshot.Exception{Type: f.Type, Name: f.Name, Refused: f.Version}
		switch {
		case s.refuses(e.Type, e.Name, e.Refused), s.frozen[f.Type].has(f.Name):
			continue // it is remembered here
		case !e.Applies(snap):
			if f.Revision <= snap.Revision && !isGood(refusals, f) {
				resolved = append(resolved, fleet.Resolution{Node: node, Type: f.Type, Name: f.Name, Version: f.Version, By: snap.Revision})
			}
			continue
		case s.excepts(f.Type, f.Name):
			continue
		case strings.HasPrefix(f.Action, actionLeft):
			e.Leave = true
		case f.Good == "" && !strings.HasPrefix(f.Action, fleet.ActionRemoved) && !strings.HasPrefix(f.Action, fleet.ActionFrozen):
			continue // nothing was done about it
		case f.Good != "":
			if e.Good = o.revive(f); e.Good == nil {
				s.lose(fleet.Ref{Type: f.Type, Name: f.Name}, f.Version)
				f.Action = actionLost
				revised = append(revised, f.Refusal)
				continue
			}
		}
		if s.frozen[e.Type] == nil && s.count(e.Type) < maxExceptions {
			s.insert(e)
			continue
		}
		s.freeze(snap, nil, e.Type, xds.Culprit{Refused: snap.Types[e.Type].Get(e.Name), Good: e.Good})
	}
	return revised, resolved
}

// catchUpWith judges the refusals that were ahead of this server when the stream came. o.mu
// is held.
func (o *owner) catchUpWith(a *attachment) (resolved []fleet.Resolution) {
	ahead := a.seat.ahead
	if len(ahead) == 0 {
		return nil
	}
	a.seat.ahead = nil
	revised, resolved := a.seat.readopt(o, a.node.id, ahead)
	a.record.Revise(revised)
	return append(a.node.ended(resolved), o.renew(a.node)...)
}

// isGood: a version that stood in and was refused too stays so while what it stands in for
// is refused.
func isGood(refusals []fleet.PastRefusal, f fleet.PastRefusal) bool {
	return slices.ContainsFunc(refusals, func(x fleet.PastRefusal) bool {
		return x.Type == f.Type && x.Name == f.Name && x.Good == f.Version
	})
}

// revive makes of what is stored the resource that stands in; nil if its bytes are not to
// be had.
func (o *owner) revive(f fleet.PastRefusal) *snapshot.Resource {
	if f.Row == nil {
		if empty := snapshot.EmptyEndpoint(f.Name); f.Type == fleet.Endpoint && f.Good == empty.Version {
			return empty // which nobody wrote
		}
		return nil
	}
	value := f.Row.Body
	if f.Type == fleet.Secret {
		plain, err := o.r.cfg.Opener.Open(o.key, f.Row.Name, f.Row.Version, f.Row.Body)
		if err != nil {
			o.r.log.Error("a secret that stands in for a refused one cannot be opened: it is left alone; compare the server's sealing key with the API's",
				"fleet", o.key, "name", f.Row.Name, "revision", f.Row.Revision, "error", err)
			return nil
		}
		value = plain
	}
	return snapshot.NewResource(f.Type, *f.Row, value)
}

// lose remembers that the client confirmed the name once, so that it is never removed.
func (x *exceptions) lose(ref fleet.Ref, version string) {
	if x.lost == nil {
		x.lost = make(map[fleet.Ref]string)
	}
	x.lost[ref] = version
}
