package delivery

import (
	"log/slog"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// Bounds of what a traced revision costs a server, whatever the number of its nodes.
const (
	mostJourneys = 16               // of a fleet, at the same time
	journeyFor   = 30 * time.Second // it ends then, whoever has not confirmed it
	nodesEach    = 2                // nodes with spans of their own: the first ones that confirm, the last ones, and some that do not
	mostMoments  = 64               // of confirmations that are kept, for their quantiles
)

// How a journey ends.
const (
	journeyConfirmed = "confirmed" // by all nodes that are connected
	journeyBehind    = "behind"    // some have not confirmed it in time
	journeyMany      = "many"      // too many later ones are under way
	journeyCut       = "cut"       // the fleet's history was
	journeyStopped   = "stopped"   // the server was, or has let go of the fleet
)

// journey is a revision that is traced, on its way from this server to its nodes. The fleet's mutex guards it. A nil journey is of a revision that is
// not traced.
type journey struct {
	trace    *traces.Trace
	exemplar *metrics.Exemplar
	head     fleet.Revision // that the server read with it
	begun    time.Time
	nodes    int // connected then

	sent, confirms                   int // nodes
	firstSent, lastSent              time.Time
	moments                          []time.Time // of confirmations, in order: each one of every
	every                            int
	lastConfirmed                    time.Time
	firstNodes, lastNodes, lateNodes []way
}

// way is one node's.
type way struct {
	node string
	plan Planning
	sent time.Time
	ends time.Time // zero: it has not confirmed
}

// beginJourneys begins those of the revisions after before, of which the newest count.
func (f *fleetStatus) beginJourneys(before fleet.Revision, now time.Time) {
	if f.rec.cfg.Traces == nil {
		return
	}
	nodes := 0
	for _, l := range f.roster.levels { // as many as revisions at which nodes are
		nodes += len(l.nodes)
	}
	for _, c := range f.progress.revs { // keepRevisions at most
		if c.Revision <= before {
			continue
		}
		if tr := f.rec.cfg.Traces.Of(f.key, c.Revision); tr != nil {
			c.journey = &journey{trace: tr, exemplar: metrics.NewExemplar(c.Revision, tr.String()), head: f.progress.head, begun: now, nodes: nodes, every: 1}
			f.progress.traced = append(f.progress.traced, c)
		}
	}
	for len(f.progress.traced) > mostJourneys {
		f.endJourney(f.progress.traced[0], journeyMany)
		f.progress.traced = slices.Delete(f.progress.traced, 0, 1)
	}
}

// sending notes that a node is sent the revision.
func (j *journey) sending(now time.Time) *metrics.Exemplar {
	if j == nil {
		return nil
	}
	if j.sent++; j.sent == 1 {
		j.firstSent = now
	}
	j.lastSent = now
	return j.exemplar
}

// confirmed notes that a node has confirmed it. s is what brought it; nil if that is not known.
func (j *journey) confirmed(n *node, s *sending, now time.Time) *metrics.Exemplar {
	if j == nil {
		return nil
	}
	if j.confirms%j.every == 0 {
		if len(j.moments) == mostMoments { // each second one goes
			for i := range mostMoments / 2 {
				j.moments[i] = j.moments[2*i]
			}
			j.moments, j.every = j.moments[:mostMoments/2], 2*j.every
		}
		j.moments = append(j.moments, now)
	}
	j.confirms++
	j.lastConfirmed = now
	if s == nil || s.plan == nil {
		return j.exemplar
	}
	w := way{n.row.Node, *s.plan, s.at, now}
	if len(j.firstNodes) < nodesEach {
		j.firstNodes = append(j.firstNodes, w)
		return j.exemplar
	}
	if len(j.lastNodes) == nodesEach {
		copy(j.lastNodes, j.lastNodes[1:])
		j.lastNodes = j.lastNodes[:nodesEach-1]
	}
	j.lastNodes = append(j.lastNodes, w)
	return j.exemplar
}

// lookAtJourneys ends those that are over, and has the fleet looked at again when the next one will be.
func (f *fleetStatus) lookAtJourneys(now time.Time) {
	if len(f.progress.traced) == 0 {
		return
	}
	least := f.progress.head
	for rev := range f.roster.levels { // as many as revisions at which nodes are
		least = min(least, rev)
	}
	f.progress.traced = slices.DeleteFunc(f.progress.traced, func(c *counter) bool {
		switch until := c.journey.begun.Add(journeyFor); {
		case c.Revision <= least:
			f.endJourney(c, journeyConfirmed)
		case !now.Before(until):
			f.endJourney(c, journeyBehind)
		default:
			f.schedule(until)
			return false
		}
		return true
	})
}

// endJourneys ends all.
func (f *fleetStatus) endJourneys(how string) {
	for _, c := range f.progress.traced {
		f.endJourney(c, how)
	}
	f.progress.traced = nil
}

// endJourney tells of it: one span for all nodes, and three for each of some.
func (f *fleetStatus) endJourney(c *counter, how string) {
	j := c.journey
	c.journey = nil
	behind := f.lateFor(c.Revision, j)
	ends := time.Now()
	if how == journeyConfirmed {
		ends = later(later(j.begun, j.lastSent), j.lastConfirmed)
	}
	s := traces.Span{Parent: j.trace.CatchUp(), Name: "deliver", Begin: j.begun, End: ends, Attrs: []slog.Attr{
		slog.String("fairlead.ended", how), slog.Int64("fairlead.head", int64(j.head)), slog.Int("fairlead.nodes", j.nodes),
		slog.Int("fairlead.nodes.sent", j.sent), slog.Int("fairlead.nodes.confirmed", j.confirms), slog.Int("fairlead.nodes.behind", behind),
	}}
	if how == journeyBehind {
		s.Failed = "nodes have not confirmed it"
	}
	after := func(what string, at time.Time) {
		s.Attrs = append(s.Attrs, slog.Duration("fairlead."+what, at.Sub(j.begun)))
	}
	if j.sent > 0 {
		after("sent.first", j.firstSent)
		after("sent.last", j.lastSent)
	}
	if n := len(j.moments); n > 0 {
		after("confirmed.first", j.moments[0])
		after("confirmed.p50", j.moments[n/2])
		after("confirmed.p90", j.moments[n*9/10])
		after("confirmed.last", j.lastConfirmed)
	}
	parent := j.trace.Add(s)
	for _, w := range slices.Concat(j.firstNodes, j.lastNodes, j.lateNodes) {
		w.tell(j.trace, parent, ends)
	}
}

// tell tells of one node: what it is to be sent was planned, then sent, then confirmed.
func (w way) tell(tr *traces.Trace, parent traces.ID, ends time.Time) {
	node := slog.String("fairlead.node.id", plain(w.node, mostNodeShown))
	plan := tr.Add(traces.Span{Parent: parent, Name: "plan", Begin: w.plan.Begun, End: w.plan.Done, Attrs: []slog.Attr{node}})
	send := tr.Add(traces.Span{Parent: plan, Name: "send", Kind: traces.Server, Begin: w.plan.Done, End: w.sent, Attrs: []slog.Attr{node}})
	ack := traces.Span{Parent: send, Name: "ack", Begin: w.sent, End: w.ends, Attrs: []slog.Attr{node}}
	if w.ends.IsZero() {
		ack.End, ack.Failed = ends, "the node has not confirmed it"
	}
	tr.Add(ack)
}

// mostNodeShown is how much of a node's id a span has, in bytes.
const mostNodeShown = 128

// lateFor counts the nodes that have not confirmed the revision, and keeps some that were sent it. It looks at mostLooked of them at most.
func (f *fleetStatus) lateFor(rev fleet.Revision, j *journey) (behind int) {
	left := mostLooked
	for at, l := range f.roster.levels {
		if at >= rev {
			continue
		}
		behind += len(l.nodes)
		for _, n := range l.nodes[:min(left, len(l.nodes))] {
			if left--; len(j.lateNodes) == nodesEach {
				break
			}
			if s := n.sendingOf(rev); s != nil && s.plan != nil {
				j.lateNodes = append(j.lateNodes, way{node: n.row.Node, plan: *s.plan, sent: s.at})
			}
		}
	}
	return behind
}
