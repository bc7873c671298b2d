package replica

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// What the database is asked for about nodes that come.
const (
	lastStreamsWait = time.Second     // for an answer
	lastStreamsTurn = 5 * time.Second // while others ask
	nodesAtOnce     = 200             // one question is about
)

var errUnanswered = errors.New("the question was not answered")

// asker asks for the last streams of a fleet's nodes: one question after the other, each for
// all that wait by then. There is no goroutine of its own for it: the one that came first
// asks. It is safe for concurrent use and calls nobody but the feed.
type asker struct {
	key  fleet.Key
	feed Feed
	lane *lane
	log  *slog.Logger

	mu      sync.Mutex  // guards both, never held while the feed is asked
	waiting []*question // first come, first asked for
	busy    bool        // one of them asks, or is told to

	// of the one that asks
	forgot bool // the last question had no answer
	pace   pace
}

// question is about one node.
type question struct {
	node  fleet.AskedNode
	begun time.Time
	lead  chan struct{} // closed: it is to ask, for all
	done  chan struct{} // closed: what follows is set

	answer fleet.LastStream
	err    error
}

// ask gives up after lastStreamsWait. While the database answers it waits for its turn as well:
// a crowd that nobody believed would be sent everything.
func (a *asker) ask(ctx context.Context, n fleet.AskedNode) (fleet.LastStream, error) {
	q := &question{node: n, begun: time.Now(), lead: make(chan struct{}), done: make(chan struct{})}
	a.join(q)
	if err := q.wait(ctx); err != nil && a.withdraw(q) {
		return fleet.LastStream{}, err
	}
	select { // it leads, or is being asked for
	case <-q.lead:
		a.askForAll(context.WithoutCancel(ctx), q)
	case <-q.done:
	}
	return q.answer, q.err
}

// wait returns when it is to ask, or is answered.
func (q *question) wait(ctx context.Context) error {
	if closed(q.lead) {
		return nil
	}
	turn := time.NewTimer(lastStreamsTurn)
	defer turn.Stop()
	select {
	case <-q.lead:
		return nil
	case <-q.done:
		return nil
	case <-turn.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *asker) join(q *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, q)
	if !a.busy {
		a.busy = true
		close(q.lead)
	}
}

// withdraw takes back a question that nobody has asked yet, and is not to ask itself. It costs as
// much as there are waiting.
func (a *asker) withdraw(q *question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.waiting, q)
	if i < 0 || closed(q.lead) {
		return false
	}
	a.waiting = slices.Delete(a.waiting, i, i+1)
	return true
}

// round is one question to the database.
type round struct {
	asked   []*question // nil: there was no place
	answers []fleet.LastStream
	err     error
}

// askForAll asks once, for q and those that wait behind it, and hands over to one of the others.
// A client that goes meanwhile takes nobody's answer away.
func (a *asker) askForAll(ctx context.Context, q *question) {
	r := round{err: errUnanswered}
	defer func() { a.handOver(q, r) }() // by a panic too
	left := func() time.Duration {
		if !a.forgot {
			return lastStreamsWait
		}
		return lastStreamsWait - time.Since(q.begun)
	}
	patience := lastStreamsTurn
	if a.forgot {
		patience = left()
	}
	r.err = a.lane.do(ctx, &a.pace, patience, func(ctx context.Context) (err error) {
		if r.asked == nil {
			r.asked = a.take()
		}
		nodes := make([]fleet.AskedNode, len(r.asked))
		for i, q := range r.asked {
			nodes[i] = q.node
		}
		ctx, cancel := context.WithTimeout(ctx, left())
		defer cancel()
		r.answers, err = a.feed.LastStreams(ctx, a.key, nodes)
		return err
	})
	if r.asked != nil {
		a.learn(r.err)
	}
}

// take takes those that are asked for now.
func (a *asker) take() []*question {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := min(len(a.waiting), nodesAtOnce)
	asked := slices.Clone(a.waiting[:n])
	a.waiting = slices.Delete(a.waiting, 0, n)
	return asked
}

func (a *asker) learn(err error) {
	if err != nil && !a.forgot {
		a.log.Warn("what nodes left behind cannot be read: it is asked for again, and until then they are not believed", "fleet", a.key, "error", err)
	}
	a.forgot = err != nil
}

// handOver ends a round: those that have no answer yet wait again, at the front, and the
// first one that waits goes on.
func (a *asker) handOver(q *question, r round) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.waiting, q); i >= 0 {
		a.waiting, r.asked = slices.Delete(a.waiting, i, i+1), []*question{q}
	}
	if n := max(len(r.answers), 1); r.err == nil && n < len(r.asked) {
		a.waiting = slices.Insert(a.waiting, 0, r.asked[n:]...)
		r.asked = r.asked[:n]
	}
	for i, x := range r.asked {
		if r.err == nil && i < len(r.answers) {
			x.answer = r.answers[i]
		} else {
			x.err = errors.Join(errUnanswered, r.err)
		}
		close(x.done)
	}
	if a.busy = len(a.waiting) > 0; a.busy {
		close(a.waiting[0].lead)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
