package replica

import (
	"log/slog"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/traces"
)

// bell is what had a fleet looked at.
type bell struct {
	at time.Time
	by string
}

// Who rings.
const (
	byNotify = "notify"
	byPoll   = "poll"
)

// ring has the fleet looked at, and notes when that was first said where revisions are traced.
func (o *owner) ring(by string) {
	if o.r.cfg.Traces != nil && o.bell.Load() == nil {
		o.bell.CompareAndSwap(nil, &bell{time.Now(), by})
	}
	signal(o.dirty)
}

// catchUp is one reading that has found something.
type catchUp struct {
	turn         time.Time // when it was the fleet's
	bell         *bell     // nil: it was not rung for
	begun, ended time.Time // of the question
	from, to     fleet.Revision
	committed    time.Time // by the database's clock
	rows         int
}

// took notes a change. Of a first load, and of one that cuts the history, nothing is told: no revision was on its way.
func (r *catchUp) took(old *held, c fleet.Change, begun, ended time.Time) {
	if old == nil || c.Reload {
		return
	}
	r.begun, r.ended, r.from, r.to, r.committed, r.rows = begun, ended, old.at.Revision, c.At.Revision, c.CommittedAt, len(c.Rows)
}

// mostTold is of how many revisions a reading is told, the newest ones: as many as are counted.
const mostTold = 200

// tell adds the reading to the traces of its revisions, two spans for each.
func (o *owner) tell(r catchUp) {
	if o.r.cfg.Traces == nil {
		return
	}
	now := time.Now()
	for rev := max(r.from, r.to-mostTold) + 1; rev <= r.to; rev++ {
		tr := o.r.cfg.Traces.Of(o.key, rev)
		if tr == nil {
			continue
		}
		committed := r.committed.Add(-time.Duration(o.r.clock.offset.Load()))
		if r.bell != nil { // one that was rung before the commit was for an earlier one, and found this one
			tr.Add(traces.Span{Parent: tr.Commit(), Name: "bell", Begin: committed, End: r.bell.at, Attrs: []slog.Attr{slog.String("fairlead.bell", r.bell.by)}})
		}
		tr.Add(traces.Span{ID: tr.CatchUp(), Parent: tr.Commit(), Name: "catch-up", Begin: r.turn, End: now, Attrs: []slog.Attr{
			slog.Int64("fairlead.from", int64(r.from)), slog.Int64("fairlead.head", int64(r.to)), slog.Int("fairlead.rows", r.rows),
			slog.Duration("fairlead.waited", r.begun.Sub(r.turn)), slog.Duration("fairlead.asked", r.ended.Sub(r.begun)), slog.Duration("fairlead.derived", now.Sub(r.ended)),
		}})
	}
}
