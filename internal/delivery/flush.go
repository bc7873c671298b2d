package delivery

import (
	"errors"
	"math/rand/v2"
	"time"

	"fairlead/internal/fleet"
)

// report is a status under way and what becomes sure when it is taken.
type report struct {
	status  fleet.Status
	nodes   []*node
	claims  []claim
	waits   []fleet.Waits
	counts  []*counter
	lasting []*node
	seq     uint64
	begun   time.Time
}

// compose reads out of the book what the database should be told; nil if that is
// nothing. All rows of one report are true at the same time: a node that does not
// follow the server's new settled revision has its own row beside it.
func (b *book) compose(now time.Time) *report {
	b.dueAt = time.Time{}
	floor := b.revs.knownFor(lagAfter, now)
	settled, live := b.nextSettled(floor)
	rep := &report{begun: now, seq: b.seq}
	rep.status = fleet.Status{Key: b.key, Server: b.rec.cfg.Server, Settled: settled}
	behind := false
	for _, n := range b.nodes {
		behind = behind || n.live() && n.settled < b.head && !n.want(settled, b.toldWaits(n, now)).own
		b.countDuplicates(n, now)
		b.addRow(rep, n, settled)
		b.addLasting(rep, n)
		b.awaitWaits(n, now)
	}
	if at := b.revs.nextKnownFor(lagAfter, settled, now); live && !at.IsZero() {
		b.schedule(later(at, b.flushed.Add(flushEvery)))
	}
	moved := live && (settled != b.settled || !b.sure)
	if !moved && len(rep.nodes)+len(rep.lasting) == 0 && len(b.refusals)+len(b.resolved) == 0 && !b.acksUntold() {
		return nil
	}
	b.addCounts(rep)
	b.addRefusals(rep)
	b.settled, b.sure = settled, false
	b.spend(now)
	b.quiet = !behind
	return rep
}

// nextSettled is the revision that every node without a row of its own has confirmed.
// Nodes that are behind a revision that has been known for longer than lagAfter, or
// behind what the server has claimed already, get a row of their own and do not hold it
// back; but when all are behind, they follow the foremost of them, and where all are
// at the same revision nobody needs a row. live: there are live nodes.
func (b *book) nextSettled(floor fleet.Revision) (settled fleet.Revision, live bool) {
	floor = max(floor, b.settled)
	least, foremost, found := b.head, b.settled, false
	for _, n := range b.nodes {
		if !n.live() {
			continue
		}
		live = true
		foremost = max(foremost, n.settled)
		if n.settled >= floor {
			found = true
			least = min(least, n.settled)
		}
	}
	if found {
		return least, live
	}
	return foremost, live
}

func (b *book) addRow(rep *report, n *node, settled fleet.Revision) {
	waits := b.toldWaits(n, rep.begun)
	if b.closing && n.live() {
		waits = n.waits.PassedOver(n.settled)
	}
	want := n.want(settled, waits)
	if b.closing && !want.own {
		want = claim{own: true, settled: n.settled}
	}
	connected := n.live() && !b.closing
	ending := b.closing && n.live()
	if n.sure && !n.dirty && n.written == want && n.writtenWaits.Equal(waits) && !ending {
		return
	}
	row := n.row
	row.Connected, row.Streams, row.Clean = connected, len(n.streams), !n.live() && len(n.doubt) == 0
	row.Labels = n.labels
	row.Waits = waits
	if want.own {
		row.Settled = &want.settled
	}
	if b.closing {
		row.Streams = 0
		if ending {
			row.Since = b.rec.dbTime(rep.begun)
		}
	}
	n.dirty, n.sure, n.tried = false, false, n.tried || connected
	rep.status.Nodes = append(rep.status.Nodes, row)
	rep.nodes = append(rep.nodes, n)
	rep.claims = append(rep.claims, want)
	rep.waits = append(rep.waits, waits)
}

// acksUntold reports whether somebody confirmed a revision and it was not told.
func (b *book) acksUntold() bool {
	for _, c := range b.revs {
		if c.dirty && c.Acked > 0 {
			return true
		}
	}
	return false
}

func (b *book) addCounts(rep *report) {
	for _, c := range b.revs {
		if c.dirty && c.Acked > 0 {
			c.dirty = false
			rep.counts = append(rep.counts, c)
			rep.status.Delivered = append(rep.status.Delivered, c.Delivered)
		}
	}
}

func (b *book) addRefusals(rep *report) {
	for _, p := range b.refusals {
		rep.status.Refusals = append(rep.status.Refusals, p.Refusal)
	}
	for _, p := range b.resolved {
		rep.status.Resolved = append(rep.status.Resolved, p.Resolution)
	}
}

// spend pays for a report that comes sooner than flushEvery after the last one.
func (b *book) spend(now time.Time) {
	since := now.Sub(b.flushed)
	if since < flushEvery {
		b.saved = max(0, b.saved-1)
	}
	b.saved = min(quickFlush, b.saved+float64(since)/float64(flushEvery))
	b.flushed = now
}

// finish takes the sink's answer. After an error nobody knows what the database holds:
// all that was in the report is in the next one again.
func (b *book) finish(rep *report, err error, now time.Time) {
	if errors.Is(err, fleet.ErrNotFound) {
		err = nil // the fleet was deleted: nobody asks any more
	}
	if err != nil {
		for _, c := range rep.counts {
			c.dirty = true
		}
		b.failed(now)
		return
	}
	b.failures, b.retryAt, b.sure = 0, time.Time{}, true
	for i, n := range rep.nodes {
		n.sure, n.written, n.writtenWaits = true, rep.claims[i], rep.waits[i]
		if n.labels == rep.status.Nodes[i].Labels {
			n.labels = nil // they may be many, and the database has them
		}
	}
	for _, n := range rep.lasting {
		if !n.lookAt.After(rep.begun) { // else it came back meanwhile
			n.lookAt = time.Time{}
		}
	}
	b.told(rep.seq)
	b.trimGone(now)
}

// failed sets when to try again.
func (b *book) failed(now time.Time) {
	b.failures++
	wait := min(retryMost, retryFirst<<min(b.failures-1, 10))
	b.retryAt = now.Add(wait/2 + rand.N(wait/2+1))
	b.schedule(b.retryAt)
}

// next is compose. What it had put into a report when it broke off is not sure, and so in
// the next one again.
func (b *book) next(now time.Time) *report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.compose(now)
}

// answered takes in what became of a report: nil if it could not be composed, or there was
// nothing to tell.
func (b *book) answered(rep *report, err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case rep != nil:
		b.finish(rep, err, now)
	case err != nil:
		b.failed(now)
	}
	b.rec.dropIfDone(b)
}

func (b *book) revive(lost bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case lost:
		b.again(now)
	case b.failures > 0:
		b.retryNow(now)
	}
}

// close says that the server stops.
func (b *book) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closing = true
}

// told removes refusals and resolutions up to seq and frees those who wait for them.
func (b *book) told(seq uint64) {
	for k, p := range b.refusals {
		if p.seq <= seq {
			delete(b.refusals, k)
		}
	}
	for k, p := range b.resolved {
		if p.seq <= seq {
			delete(b.resolved, k)
		}
	}
	for done, at := range b.waiters {
		if at <= seq {
			close(done)
			delete(b.waiters, done)
		}
	}
}

// again makes everything untold: the database may have lost it with the lease.
func (b *book) again(now time.Time) {
	b.sure = false
	for _, n := range b.nodes {
		if n.live() {
			n.sure = false
		}
	}
	for _, c := range b.revs {
		c.dirty = true
	}
	b.retryNow(now)
}

// retryNow ends the wait after failures.
func (b *book) retryNow(now time.Time) {
	b.retryAt = time.Time{}
	b.schedule(now)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
