package delivery

import (
	"fmt"
	"slices"
	"time"

	"fairlead/internal/fleet"
)

// walked is what a report must hold, as it comes of looking at every node of the fleet.
type walked struct {
	settled      fleet.Revision
	moved        bool // the server's settled revision is to be told
	early        map[string]row
	follow       map[string]row
	duplicates   map[string]int
	lasting      []string
	tickets      int
	more, behind bool      // more: refusals are left
	due          time.Time // when to look again if nothing happens; zero: never
}

// walk is compose without its economy: a plain function over all nodes, which changes nothing.
func walk(f *fleetStatus, now time.Time) walked {
	w := walked{early: map[string]row{}, follow: map[string]row{}, duplicates: map[string]int{}}
	var s fleet.Status
	tickets, left, more := f.outbox.take(&s, f.rhythm.rows)
	w.tickets, w.more = len(tickets), more
	settled, live := walkNext(f, left, now)
	w.settled, w.moved = settled, live && (settled != f.progress.settled || !f.progress.acked)
	for id, n := range f.roster.nodes {
		r := f.rowOf(n, settled, left, now)
		w.behind = w.behind || n.live() && n.settled < f.progress.head && !r.claim.own
		w.walkDuplicates(n, now)
		switch {
		case n.lookAt.IsZero() || !n.live() || f.closing:
		case n.lookAt.After(now):
			w.lookAgain(n.lookAt)
		default:
			w.lasting = append(w.lasting, id)
		}
		for _, l := range n.lost {
			if at := l.until(); n.live() && !f.closing && at.After(now) {
				w.lookAgain(at)
			}
		}
		if n.live() && !f.closing && n.subsAt.After(now) {
			w.lookAgain(n.subsAt)
		}
		if at := n.waitsSince.Add(lagAfter); !n.waitsSince.IsZero() && at.After(now) {
			w.lookAgain(at)
		}
		switch {
		case !f.changed(r) && w.duplicates[id] == n.row.Duplicates:
		case r.early():
			w.early[id] = r
		default:
			w.follow[id] = r
		}
	}
	if at := f.progress.revs.nextKnownFor(lagAfter, settled, now); live && !at.IsZero() {
		w.lookAgain(later(at, f.rhythm.begun.Add(flushEvery)))
	}
	if !w.due.IsZero() {
		w.due = later(w.due, f.rhythm.retryAt)
	}
	return w
}

func (w *walked) lookAgain(at time.Time) {
	if w.due.IsZero() || at.Before(w.due) {
		w.due = at
	}
}

// walkNext is the revision that every node without a row of its own has confirmed.
func walkNext(f *fleetStatus, left held, now time.Time) (settled fleet.Revision, live bool) {
	p := &f.progress
	floor, heldFloor := max(p.revs.knownFor(lagAfter, now), p.settled), max(p.revs.knownFor(holdMost, now), p.settled)
	least, foremost, found := p.head, p.settled, false
	for _, n := range f.roster.nodes {
		if !n.live() {
			continue
		}
		live = true
		at := left.settled(n, p.settled)
		foremost = max(foremost, at)
		if at >= floor || at < n.settled && at >= heldFloor {
			found, least = true, min(least, at)
		}
	}
	if found {
		return least, live
	}
	return foremost, live
}

func (w *walked) walkDuplicates(n *node, now time.Time) {
	kinds := map[string]int{}
	for s := range n.streams {
		old := s.begun.Add(duplicateAfter)
		switch {
		case len(n.streams) == 1 || !single(s.kind):
		case old.After(now):
			w.lookAgain(old)
		default:
			kinds[s.kind]++
		}
	}
	w.duplicates[n.row.Node] = 0
	for _, many := range kinds {
		if many > 1 {
			w.duplicates[n.row.Node] = max(w.duplicates[n.row.Node], many)
		}
	}
}

// compare says how a report differs from what it must hold; rows is how many it may have.
func (w *walked) compare(f *fleetStatus, rep *report, rows int) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !f.rhythm.dueAt.Equal(w.due) {
		problem("due at %v, not %v", f.rhythm.dueAt, w.due)
	}
	if rep == nil {
		if w.moved || len(w.early)+len(w.follow)+len(w.lasting)+w.tickets > 0 {
			problem("nothing is told of %+v", w)
		}
		return problems
	}
	partial := len(w.early) > rows
	many, told := len(w.early), 0
	if !partial {
		many += len(w.follow)
	}
	if rep.status.Settled != w.settled || rep.status.Partial != partial || f.rhythm.quiet == w.behind {
		problem("settled %d, partial %v, quiet %v: %+v", rep.status.Settled, rep.status.Partial, f.rhythm.quiet, w)
	}
	if len(rep.nodes) != min(many, rows) || len(rep.status.Nodes) != len(rep.nodes) {
		problem("%d rows, not %d: %+v", len(rep.nodes), min(many, rows), w)
	}
	for i, r := range rep.nodes {
		id := r.node.row.Node
		want, early := w.early[id]
		if early {
			told++
		} else {
			want = w.follow[id]
		}
		if s := rep.status.Nodes[i]; want.node != r.node || want.claim != r.claim || !want.waits.Equal(r.waits) || !want.subs.Equal(s.Subscribes) || s.Duplicates != w.duplicates[id] {
			problem("%s: %+v, not %+v", id, s, want)
		}
	}
	if told != min(len(w.early), rows) {
		problem("%d of %d rows that must be there first", told, len(w.early))
	}
	for i, n := range rep.status.Lasting {
		if !slices.Contains(w.lasting, n) || rep.lasting[i].row.Node != n {
			problem("%s lasts", n)
		}
	}
	if len(rep.lasting) != min(len(w.lasting), rows) || len(rep.tickets) != w.tickets {
		problem("%d last, %d tickets: %+v", len(rep.lasting), len(rep.tickets), w)
	}
	if more := w.more || len(w.early)+len(w.follow) > rows || len(w.lasting) > rows; rep.more != more {
		problem("more %v: %+v", rep.more, w)
	}
	return problems
}
