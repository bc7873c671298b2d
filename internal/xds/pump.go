package xds

import (
	"strconv"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// tellAfter is how long a client may be behind before its waits are looked for. Those that
// last are recorded a second later.
const tellAfter = 250 * time.Millisecond

// tellWaits tells what keeps a client that has been behind for long from the target, and
// at once what counts as settled although it is withheld.
func (st *stream) tellWaits(target *snapshot.Target) {
	long := false
	switch {
	case st.client.Settled() >= target.Revision:
		st.behind = time.Time{}
	case st.behind.IsZero():
		st.behind = st.now
	default:
		long = st.now.Sub(st.behind) >= tellAfter
	}
	var w fleet.Waits
	if long || st.client.Keeps() {
		w = st.client.Waits(st.now, target, long)
	}
	if !w.Equal(st.waits) {
		st.waits = w
		st.att.Waits(w)
		st.noteWithheld(target, w)
	}
	st.tellWithheld()
	st.counts.Stands(!target.Plain(), st.keeps.told())
}

// pump sends the next response, if there is room and there is one, and reports what is
// settled. It says whether it sent one.
func (st *stream) pump() (wrote bool, err error) {
	ahead := st.mayBeAhead()
	target := st.att.Current() // has the fleet see that the stream looks, also where it must wait
	if st.waiting != nil {
		return st.offer()
	}
	if ahead {
		return false, nil
	}
	st.lookUp()
	step := st.client.Step(st.now, target)
	for step.Response == nil && step.Any() {
		st.pass(step.Findings)
		st.now = time.Now() // the record of a refusal may have taken a second
		target = st.att.Current()
		step = st.client.Step(st.now, target)
	}
	var planned time.Time
	if st.srv.cfg.Traces != nil && step.Response != nil {
		planned = time.Now()
	}
	st.pass(step.Findings)
	if subscribes, changed := st.client.Subscribes(); changed {
		st.att.Subscribes(subscribes) // before what counts as settled, so that one row tells both
	}
	st.tellSettled(target, step.Response == nil)
	next := step.Response
	if st.polls != nil && !st.polls.wants(st.taken) {
		return false, nil // it is worked out again when somebody asks
	}
	if next == nil {
		next = st.absence(target)
	}
	if next != nil {
		wrote, err = st.hand(next, planned)
	}
	return wrote, err
}

// mayBeAhead reports whether the client may hold a later set than there is here, as of clusters: nothing is known of its version, and the database was not read
// since it came. An older set in its place would end what its routes go to. Until then the client goes on with what it has.
func (st *stream) mayBeAhead() bool {
	if st.caughtUp || !st.client.HoldsUnknownSet() {
		return false
	}
	switch st.caughtUp = st.att.CaughtUp(); {
	case st.caughtUp:
		st.heldSince = time.Time{}
	case st.heldSince.IsZero():
		st.heldSince = st.now
	}
	return !st.caughtUp
}

// heldPoll is after how long a poll is told that there is no answer yet.
const heldPoll = time.Second

// tellSettled tells what has been confirmed since it was last told. rests: there is nothing to send.
func (st *stream) tellSettled(target *snapshot.Target, rests bool) {
	s := settled{target.History, st.client.Settled()}
	moved := s.history != st.settled.history || s.revision > st.settled.revision
	if moved || rests {
		st.tellWaits(target) // what is withheld before what counts as settled
	}
	if moved {
		st.settled = s
		if st.node.node.Confirms() {
			st.att.Settled(s.revision)
		}
	}
}

// hand sends a response, or has it wait for room, which is the same to the planner.
func (st *stream) hand(r *planner.Response, planned time.Time) (wrote bool, err error) {
	st.count++
	st.owed.Add(1) // before it is sent
	nonce := strconv.FormatUint(st.count, 36)
	st.waiting, st.since = newResponse(r, nonce, st.polled), st.now
	st.counts.Response(r.Type, st.waiting.size())
	wrote, err = st.offer()
	st.nonces[r.Type] = nonce
	st.client.Sent(st.now, r, nonce)
	st.noteOffer(r)
	if r.Changes() {
		st.att.Sent(r.Revision, st.now, planned)
	}
	return wrote, err
}
