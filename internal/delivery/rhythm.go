package delivery

import (
	"math/rand/v2"
	"time"
)

// How many rows of nodes, and how many of refusals and their ends, are reported at once.
const (
	reportRows = 500
	leastRows  = 10
)

// quickFlush is how many flushes sooner than flushEvery are saved up, one per flushEvery.
const quickFlush = 64

// rhythm is when a fleet is reported.
type rhythm struct {
	dueAt    time.Time // when it is enqueued for; zero: not
	begun    time.Time // the last report's begin
	quiet    bool      // nobody was behind then
	saved    float64   // flushes that may come sooner
	failures int
	retryAt  time.Time // no report before
	most     int       // rows of a report
	rows     int       // the same, at present: halved when the sink fails, a few more after each that it takes
	more     bool      // the next report goes on where the last one ended
}

func newRhythm(rows int) rhythm {
	return rhythm{quiet: true, saved: quickFlush, most: rows, rows: rows}
}

// soon is when something new is worth a report.
func (r *rhythm) soon(now time.Time) time.Time {
	at := now.Add(firstFlush)
	if next := r.begun.Add(flushEvery); at.Before(next) && (!r.quiet || r.saved < 1) {
		return next
	}
	return at
}

// due takes a time at which a report is to be made at the latest, and says when it will be:
// not before a retry. false: it is due by then already.
func (r *rhythm) due(at time.Time) (time.Time, bool) {
	at = later(at, r.retryAt)
	if !r.dueAt.IsZero() && !at.Before(r.dueAt) {
		return at, false
	}
	r.dueAt = at
	return at, true
}

// begin notes that a report begins, and pays for one that comes sooner than flushEvery
// after the last, unless it goes on with that one.
func (r *rhythm) begin(now time.Time, quiet bool) {
	since := now.Sub(r.begun)
	if since < flushEvery && !r.more {
		r.saved = max(0, r.saved-1)
	}
	r.saved = min(quickFlush, r.saved+float64(since)/float64(flushEvery))
	r.begun, r.quiet = now, quiet
}

// failed sets when to try again; smaller: with fewer rows.
func (r *rhythm) failed(now time.Time) (smaller bool) {
	r.failures++
	rows := r.rows
	r.rows = max(min(leastRows, r.most), rows/2)
	wait := min(retryMost, retryFirst<<min(r.failures-1, 10))
	r.retryAt = now.Add(wait/2 + rand.N(wait/2+1))
	return r.rows < rows
}

// succeeded ends the wait after failures; more: the report was a part.
func (r *rhythm) succeeded(more bool) {
	r.failures, r.retryAt = 0, time.Time{}
	r.rows, r.more = min(r.most, r.rows+leastRows), more
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
