package delivery

import (
	"time"

	"fairlead/internal/fleet"
)

// progress is where a fleet is, and what this server has settled of it.
type progress struct {
	head    fleet.Revision
	token   fleet.Token    // of the head
	settled fleet.Revision // of the server, as last reported or tried
	acked   bool           // the database holds that
	revs    revisions
	traced  []*counter // those with a journey, ascending; mostJourneys at most
}

// advance takes a new head; false: it is none.
func (p *progress) advance(at fleet.Position, committedAt, now time.Time) bool {
	if at.Revision <= p.head && len(p.revs) > 0 {
		return false
	}
	p.head, p.token = at.Revision, at.Token
	p.revs.add(at.Revision, committedAt, now)
	return true
}

// restart begins anew: nothing of before counts.
func (p *progress) restart(at fleet.Position, committedAt, now time.Time) {
	*p = progress{head: at.Revision, token: at.Token}
	p.revs.add(at.Revision, committedAt, now)
}

// next is the revision that every node without a row of its own has confirmed.
// Nodes that are behind a revision that has been known for longer than lagAfter, or
// behind what the server has claimed already, get a row of their own and do not hold it
// back; but when all are behind, they follow the foremost of them, and where all are
// at the same revision nobody needs a row. Nodes whose refusals are about to be told hold it
// back for longer, or a burst of refusals would cost a row of each: they are in back, with what
// may be said that they have settled.
func (p *progress) next(live levels, back map[*node]fleet.Revision, now time.Time) fleet.Revision {
	floor, heldFloor := max(p.revs.knownFor(lagAfter, now), p.settled), max(p.revs.knownFor(holdMost, now), p.settled)
	least, foremost, found := p.head, p.settled, false
	see := func(at, floor fleet.Revision) {
		foremost = max(foremost, at)
		if at >= floor {
			found, least = true, min(least, at)
		}
	}
	apart := make(map[fleet.Revision]int) // how many of a level are in back
	for n, at := range back {
		apart[n.settled]++
		if at < n.settled {
			see(at, heldFloor)
		} else {
			see(at, floor)
		}
	}
	for rev, l := range live {
		if len(l.nodes) > apart[rev] {
			see(rev, floor)
		}
	}
	if found {
		return least
	}
	return foremost
}

// claim notes what a report says of the server; nobody knows yet what the database holds.
func (p *progress) claim(settled fleet.Revision) { p.settled, p.acked = settled, false }

// counts are the revisions that somebody has confirmed since they were last reported.
func (p *progress) counts() (cs []*counter) {
	for _, c := range p.revs {
		if c.dirty && c.Acked > 0 {
			cs = append(cs, c)
		}
	}
	return cs
}

// forget makes all of it unflushed.
func (p *progress) forget() {
	p.acked = false
	for _, c := range p.revs {
		c.dirty = true
	}
}
