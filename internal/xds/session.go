package xds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/planner"
)

const (
	// firstLife is how long a session lasts after its first poll. After later ones it lasts so many intervals as there were between the
	// last two, within shortLife and longLife.
	firstLife = 90 * time.Second
	shortLife = 30 * time.Second
	longLife  = 10 * time.Minute
	intervals = 3
	// quickPolls: who polls again so soon after an answer waits for a change, and so long, if it does not say more.
	quickPolls = 5 * time.Second
	// maxPolls is how many polls of one session may wait at once: two processes with one node id, and those of connections that are lost.
	maxPolls = 16
	// timesSent is how often a response is given to a client that goes on to ask with the version before: the first answer may have been lost.
	timesSent = 2
)

// session is a stream whose requests are the polls of one client for one type and certain names, and whose responses are their
// answers. It lives between them. Its lock is never held while something is waited for.
type session struct {
	of       *sessions
	key      sessionKey
	ctx      context.Context //nolint:containedctx // the stream's own
	cancel   context.CancelFunc
	requests chan *request // at most one waits: the next is given when that was taken in
	done     chan struct{} // closed when the stream has ended
	budget   *rate.Limiter
	first    *webConn // of the poll that it was begun for, until it is tied; of the stream's goroutine

	mu      sync.Mutex // guards what follows
	polls   []*poll    // that are not answered
	given   int        // requests
	resting bool       // all that was given was taken in, and there is nothing to send
	current bool       // then: the version that the client has is the target's
	alone   bool       // nobody waited when the stream last looked for something to send
	leaves  bool       // it is to end: a poll that comes begins another one
	ready   bool       // the stream is tied to its fleet, or was refused: who polls has arrived
	over    bool
	err     error // why it ended
	// The client has the version held, or has it once it takes what was sent.
	held  string
	noted []string  // what of is told that the client has
	out   *response // what was sent and is not answered for; nil: nothing
	sends int       // how often it was given to a poll

	life    *time.Timer
	arrived time.Time // the last poll
	settled time.Time // the last answer; zero: there was none
}

// poll is one request over HTTP.
type poll struct {
	*request
	from   *jsonNode
	conn   *webConn      // may be nil
	wait   time.Duration // for a change; negative: as the session sees fit
	until  time.Time     // when that is over; zero: it is in no session yet
	most   time.Duration // what the client waits for at most; 0: it does not say
	answer chan answered // capacity 1
	timer  *time.Timer   // while it waits for a change
	in     *session      // the last one that it was given to
}

// answered is what a poll ends with. Neither: what it has is current.
type answered struct {
	response *planner.Response
	again    bool // the session is another one
	err      error
}

var (
	errPollsWait = fmt.Errorf("%d polls of this node for the same names wait already: give each proxy a node.id of its own, and wait for the answer before the next poll: %w", maxPolls, fleet.ErrLimit)
	errPollsFast = fmt.Errorf("the polls come faster than they are answered: poll less often, or wait for changes with ?wait=SECONDS: %w", fleet.ErrLimit)
	errNotYet    = fmt.Errorf("there is no answer yet: the next poll may have it: %w", fleet.ErrUnavailable)
	errLeaves    = fmt.Errorf("the server is shutting down: ask another one: %w", fleet.ErrUnavailable)
)

// run serves the session's stream until it ends.
func (x *session) run(id Identity) func() {
	return func() {
		srv := x.of.srv
		st := newStream(srv, pollStream{x}, id, protocol{singleType: true, polled: true, only: x.key.only})
		st.polls = x
		err := lifecycle.Contain(srv.log, "a session of polls", st.run)
		x.cancel()
		x.end(err)
	}
}

// aside calls do, with which the stream waits for the database: other connections may arrive meanwhile.
func (x *session) aside(do func()) { x.first.aside(do) }

// tied is told by the stream when it is tied to its fleet, or refused. What polls wait for from then on costs nothing: they hold up no
// connection that comes.
func (x *session) tied() {
	x.first = nil
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ready = true
	for _, p := range x.polls {
		p.conn.arrived()
	}
}

// end answers the polls that wait, and forgets the session.
func (x *session) end(err error) {
	ss := x.of
	ss.mu.Lock() // all at once: who begins next counts what is noted of those that it finds
	defer ss.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(ss.byKey, x.key)
	delete(ss.asked[x.key.asked()], x)
	if len(ss.asked[x.key.asked()]) == 0 {
		delete(ss.asked, x.key.asked())
	}
	ss.versions.put(x.key.clientKey, x.noted, nil)
	x.noted = nil
	x.life.Stop()
	x.over, x.err = true, x.why(err)
	for _, p := range slices.Clone(x.polls) {
		x.reply(p, x.last(p))
	}
	close(x.done)
}

// why is what polls are told that come before another session can.
func (x *session) why(err error) error {
	switch {
	case x.leaves, err != nil && errors.Is(err, context.Canceled):
		return nil
	case err == nil:
		return errLeaves
	}
	return err
}

// last is what a poll is answered with by a session that is over.
func (x *session) last(p *poll) answered {
	switch {
	case x.err == nil:
		return answered{again: true}
	case errors.Is(x.err, errLeaves) && x.resting && x.current && x.out == nil && p.version == x.held && p.version != "":
		return answered{}
	}
	return answered{err: x.err}
}

// had reports whether the client has the version by this session.
func (x *session) had(version string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Contains(x.noted, version)
}

// note tells which versions the client has by this session.
func (x *session) note() {
	now := []string{x.held}
	if x.out != nil && x.out.version() != x.held {
		now = append(now, x.out.version())
	}
	x.of.versions.put(x.key.clientKey, x.noted, now)
	x.noted = now
}

// expire ends a session that nobody polls any more.
func (x *session) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.polls) == 0 {
		x.leave()
		return
	}
	x.life.Reset(shortLife)
}

// yield ends a session where nobody waits.
func (x *session) yield() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.polls) == 0 {
		x.leave()
	}
}

func (x *session) leave() {
	x.leaves = true
	x.cancel()
}

// await takes the poll in, and waits for its answer.
func (x *session) await(ctx context.Context, p *poll) answered {
	if a, ends := x.arrive(p); ends {
		return a
	}
	select {
	case a := <-p.answer:
		return a
	case <-ctx.Done():
		x.mu.Lock()
		defer x.mu.Unlock()
		x.drop(p)
		return answered{err: ctx.Err()}
	}
}

func (x *session) arrive(p *poll) (a answered, ends bool) {
	now := time.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.over:
		return x.last(p), true
	case x.leaves:
		return answered{again: true}, true
	case !x.budget.AllowN(now, 1):
		return answered{err: errPollsFast}, true
	case len(x.polls) >= maxPolls:
		return answered{err: errPollsWait}, true
	}
	if !x.arrived.IsZero() {
		x.life.Reset(min(max(intervals*now.Sub(x.arrived), shortLife), longLife))
	}
	x.arrived = now
	if p.until.IsZero() { // a session that takes the place of another one waits for what is left
		p.until = now.Add(x.patience(p, now))
	}
	x.polls = append(x.polls, p)
	if x.ready {
		p.conn.arrived()
	}
	x.step(p)
	return a, false
}

// patience is how long a poll waits for a change.
func (x *session) patience(p *poll, now time.Time) time.Duration {
	wait := p.wait
	if wait < 0 {
		wait = 0
		if !x.settled.IsZero() && now.Sub(x.settled) < quickPolls {
			wait = quickPolls
		}
	}
	if p.most > 0 {
		wait = min(wait, p.most-max(p.most/5, 150*time.Millisecond))
	}
	return wait
}

// step does what the poll that has come calls for. Until the stream has taken in what it was given last nothing is done.
func (x *session) step(p *poll) {
	if p == nil || !x.idle() {
		return
	}
	switch {
	case x.out == nil && p.version != x.held:
		x.leave() // the client began anew, or is another one
	case x.out == nil:
		x.give(&request{look: true})
	case p.nack && p.version == x.held:
		x.refused(p, p.detail)
	case p.version == x.out.version() && (x.sends > 0 || p.version != x.held):
		x.held = p.version
		x.answerOut(p, &request{})
	case p.version != x.held, x.anew(p):
		x.leave()
	case x.sends < timesSent:
		x.deliver()
	default:
		x.refused(p, planner.ProbablyRefused)
	}
}

// anew reports whether a poll without a version is of another process than the one that was answered: it comes by a connection that began after that. Processes that
// end before they poll again refuse nothing, however many they are.
func (x *session) anew(p *poll) bool {
	return x.held == "" && x.sends > 0 && p.conn.since(x.settled)
}

// refused says of what was sent that the client would not have it.
func (x *session) refused(p *poll, words string) { x.answerOut(p, &request{nack: true, detail: words}) }

// answerOut answers what was sent. Each request of state of the world says again what the stream is for: the names of the poll are those of
// the session, which keeps none.
func (x *session) answerOut(p *poll, r *request) {
	next := *p.request
	next.node, next.version, next.nonce, next.nack, next.detail = nil, x.held, x.out.id, r.nack, r.detail
	x.out, x.sends = nil, 0
	x.note()
	x.give(&next)
}

func (x *session) give(r *request) {
	x.given, x.resting = x.given+1, false
	x.requests <- r // there is room: what was given before was taken
}

// idle reports whether another request may be given: the stream rests, or waits for the answer to what it sent.
func (x *session) idle() bool { return x.resting || x.out != nil }

// deliver gives what was sent to the polls that have the version before.
func (x *session) deliver() {
	given := false
	for _, p := range slices.Clone(x.polls) {
		if p.version == x.held {
			x.reply(p, answered{response: x.out.of})
			given = true
		}
	}
	if given {
		x.sends++
	}
	x.next()
}

// next goes on with a poll that waits for the others.
func (x *session) next() {
	if len(x.polls) > 0 {
		x.step(x.polls[0])
	}
}

func (x *session) reply(p *poll, a answered) {
	x.drop(p)
	x.settled = time.Now()
	p.answer <- a
}

func (x *session) drop(p *poll) {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil // another session may have it wait
	}
	x.polls = slices.DeleteFunc(x.polls, func(q *poll) bool { return q == p })
}

// wants reports whether a response may be sent: somebody waits for it, and the last one was answered for. It is asked by the stream, which
// has taken in so many requests.
func (x *session) wants(taken int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.alone = len(x.polls) == 0
	return x.out == nil && taken == x.given && !x.alone
}

// rests is told by the stream when it has nothing to send, or nobody to send it to. It looks once more for a poll that came after it had looked.
func (x *session) rests(taken int, current bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if taken != x.given || x.out != nil || x.resting && x.current == current {
		return
	}
	if x.alone && len(x.polls) > 0 {
		x.give(&request{look: true})
		return
	}
	x.resting, x.current = true, current
	for _, p := range slices.Clone(x.polls) {
		if p.version != x.held {
			x.leave()
			return
		}
		x.waits(p)
	}
}

// waits has the poll wait for a change, until it is over.
func (x *session) waits(p *poll) {
	switch left := time.Until(p.until); {
	case left <= 0:
		x.reply(p, x.unchanged())
	case p.timer == nil:
		p.timer = time.AfterFunc(left, func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			if slices.Contains(x.polls, p) {
				x.reply(p, x.unchanged())
			}
		})
	}
}

// unchanged: 304 is for a version that is current, and for nothing else (PROTOCOL rule 27).
func (x *session) unchanged() answered {
	if x.held == "" || !x.current || !x.resting {
		return answered{err: errNotYet}
	}
	return answered{}
}

// sent is called by the stream with a response.
func (x *session) sent(r *response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.out, x.sends, x.resting = r, 0, false
	x.note()
	x.deliver()
}

// lost is told of a response that was given to a poll and did not go out: who asks again has not refused it.
func (x *session) lost(r *planner.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.out != nil && x.out.of == r {
		x.sends = 0
	}
}

func (r *response) version() string { return r.of.Version.String() }
