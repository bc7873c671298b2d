package delivery

import (
	"errors"
	"time"

	"fairlead/internal/fleet"
)

// report is a status under way and what becomes acked when it is taken.
type report struct {
	status  fleet.Status
	nodes   []*node // in the order of status.Nodes, as claims and waits
	claims  []claim
	waits   []fleet.Waits
	counts  []*counter
	lasting []*node
	seq     uint64
	begun   time.Time
}

// compose reads what the database should be told; nil if that is nothing. All rows of one
// report are true at the same time: a node that does not follow the server's new settled
// revision has its own row beside it.
func (f *fleetStatus) compose(now time.Time) *report {
	f.rhythm.dueAt = time.Time{}
	settled, live := f.progress.next(f.roster.nodes, now)
	rep := &report{begun: now}
	rep.status = fleet.Status{Key: f.key, Server: f.rec.cfg.Server, Settled: settled}
	behind := false
	for _, n := range f.roster.nodes {
		behind = behind || n.live() && n.settled < f.progress.head && !n.want(settled, f.dueWaits(n, now)).own
		f.countDuplicates(n, now)
		f.addRow(rep, n, settled)
		f.addLasting(rep, n)
		f.awaitWaits(n, now)
	}
	if at := f.progress.revs.nextKnownFor(lagAfter, settled, now); live && !at.IsZero() {
		f.schedule(later(at, f.rhythm.begun.Add(flushEvery)))
	}
	moved := live && (settled != f.progress.settled || !f.progress.acked)
	counts := f.progress.counts()
	if !moved && len(rep.nodes)+len(rep.lasting)+len(counts) == 0 && f.outbox.empty() {
		return nil
	}
	rep.addCounts(counts)
	rep.seq = f.outbox.take(&rep.status)
	f.progress.claim(settled)
	f.rhythm.begin(now, !behind)
	return rep
}

func (f *fleetStatus) addRow(rep *report, n *node, settled fleet.Revision) {
	waits := f.dueWaits(n, rep.begun)
	if f.closing && n.live() {
		waits = n.waits.PassedOver(n.settled)
	}
	want := n.want(settled, waits)
	if f.closing && !want.own {
		want = claim{own: true, settled: n.settled}
	}
	connected := n.live() && !f.closing
	ending := f.closing && n.live()
	if n.acked && !n.dirty && n.written == want && n.writtenWaits.Equal(waits) && !ending {
		return
	}
	row := n.row
	row.Connected, row.Streams, row.Clean = connected, len(n.streams), !n.live() && len(n.doubt) == 0
	row.Labels = n.labels
	row.Waits = waits
	if want.own {
		row.Settled = &want.settled
	}
	if f.closing {
		row.Streams = 0
		if ending {
			row.Since = f.rec.dbTime(rep.begun)
		}
	}
	n.dirty, n.acked, n.tried = false, false, n.tried || connected
	rep.status.Nodes = append(rep.status.Nodes, row)
	rep.nodes = append(rep.nodes, n)
	rep.claims = append(rep.claims, want)
	rep.waits = append(rep.waits, waits)
}

func (rep *report) addCounts(cs []*counter) {
	for _, c := range cs {
		c.dirty = false
		rep.status.Delivered = append(rep.status.Delivered, c.Delivered)
	}
	rep.counts = cs
}

// finish takes the sink's answer. After an error nobody knows what the database holds:
// all that was in the report is in the next one again.
func (f *fleetStatus) finish(rep *report, err error, now time.Time) {
	if errors.Is(err, fleet.ErrNotFound) {
		err = nil // the fleet was deleted: nobody asks any more
	}
	if err != nil {
		for _, c := range rep.counts {
			c.dirty = true
		}
		f.failed(now)
		return
	}
	f.rhythm.succeeded()
	f.progress.acked = true
	for i, n := range rep.nodes {
		n.acked, n.written, n.writtenWaits = true, rep.claims[i], rep.waits[i]
		if n.labels == rep.status.Nodes[i].Labels {
			n.labels = nil // they may be many, and the database has them
		}
	}
	for _, n := range rep.lasting {
		if !n.lookAt.After(rep.begun) { // else it came back meanwhile
			n.lookAt = time.Time{}
		}
	}
	f.outbox.ack(rep.seq)
	f.roster.trim(now)
}

func (f *fleetStatus) failed(now time.Time) {
	f.rhythm.failed(now)
	f.schedule(now)
}

// next is compose. What it had put into a report when it broke off is not acked, and so in
// the next one again.
func (f *fleetStatus) next(now time.Time) *report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.compose(now)
}

// answered takes in what became of a report: nil if it could not be composed, or there was
// nothing to tell.
func (f *fleetStatus) answered(rep *report, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case rep != nil:
		f.finish(rep, err, now)
	case err != nil:
		f.failed(now)
	}
	f.rec.dropIfDone(f)
}
