package xds

import (
	"container/list"
	"context"
	"fmt"
	"runtime"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
)

const (
	// mostAnswers is how many bytes answers to polls may have together while they are made and written. Those of one tenant have a quarter: who reads slowly has it for long.
	mostAnswers = 512 << 20
	// mostAnswersKept is the same of those that were written, and are kept for polls that get the same. Those of one tenant have a quarter.
	mostAnswersKept = 64 << 20
	// freeAnswer is how many bytes of resources an answer has that is made without asking for room.
	freeAnswer = 4 << 10
	// jsonSize is about how many bytes of JSON one byte of a resource becomes.
	jsonSize = 4
)

var errAnswersHeld = fmt.Errorf("the answers to polls that are not read yet have as many bytes as there is room for: read them faster, or poll again: %w", fleet.ErrUnavailable)

// pollAnswers are responses as JSON. Polls that get the same response share one. It stands here and not with the response, which a session keeps until the next poll: one
// credential has thousands of them, each with a set of its own.
type pollAnswers struct {
	room *readRoom
	// turns are of half of the processors, and a tenant has one: who asks for what nobody had before has it made, and can ask without end.
	turns     *readRoom
	resources jsonCache

	mu     sync.Mutex // guards what follows, and of answers what is said to be
	of     map[*planner.Response]*pollAnswer
	kept   list.List // of those that no poll has, the last one that was used at the end
	size   int       // of kept
	tenant map[fleet.TenantID]*keptAnswers
}

// keptAnswers are those of a tenant in kept.
type keptAnswers struct {
	kept list.List
	size int
}

// pollAnswer is one of them.
type pollAnswer struct {
	tenant   fleet.TenantID
	response *planner.Response
	turn     chan struct{} // capacity 1; who has sent has what follows
	json     []byte
	give     func() // gives its room back; nil: it has none

	polls    int           // guarded by pollAnswers.mu, as what follows
	all, own *list.Element // in kept; nil while a poll has it
}

func newPollAnswers() *pollAnswers {
	return &pollAnswers{
		room: newRoom(mostAnswers, mostAnswers/4), turns: newRoom(int64(max(1, runtime.GOMAXPROCS(0)/2)), 1),
		of: map[*planner.Response]*pollAnswer{}, tenant: map[fleet.TenantID]*keptAnswers{},
	}
}

// take makes the answer, when there is room. Who gets no error calls leave, once.
func (as *pollAnswers) take(ctx context.Context, t fleet.TenantID, r *planner.Response) (*pollAnswer, error) {
	a := as.enter(t, r)
	if err := as.make(ctx, a); err != nil {
		as.leave(a)
		return nil, err
	}
	return a, nil
}

func (as *pollAnswers) enter(t fleet.TenantID, r *planner.Response) *pollAnswer {
	as.mu.Lock()
	defer as.mu.Unlock()
	a := as.of[r]
	if a == nil {
		a = &pollAnswer{tenant: t, response: r, turn: make(chan struct{}, 1)}
		as.of[r] = a
	}
	a.polls++
	as.unkeep(a)
	return a
}

func (as *pollAnswers) make(ctx context.Context, a *pollAnswer) (err error) {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return errAnswersHeld
	}
	defer func() { <-a.turn }()
	if a.give == nil {
		if a.give, err = as.enough(ctx, a); err != nil {
			return errAnswersHeld
		}
	}
	if a.json != nil {
		return nil
	}
	end, err := as.turns.take(ctx, a.tenant, 1)
	if err != nil {
		return errAnswersHeld
	}
	defer end()
	a.json, err = a.response.JSON(as.resources.of)
	return err //nolint:wrapcheck // who asks tells what it is
}

// enough waits until there is room for an answer.
func (as *pollAnswers) enough(ctx context.Context, a *pollAnswer) (give func(), err error) {
	size := len(a.json)
	if a.json == nil {
		for _, x := range a.response.Resources {
			size += jsonSize * x.Size()
		}
	}
	if size <= jsonSize*freeAnswer {
		return func() {}, nil
	}
	return as.room.take(ctx, a.tenant, min(int64(size), mostAnswers/4)) // a larger one has all of it
}

// leave notes that one poll less has the answer.
func (as *pollAnswers) leave(a *pollAnswer) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a.polls--; a.polls > 0 {
		return
	}
	if a.give != nil {
		a.give()
		a.give = nil
	}
	as.keep(a)
}

// keep keeps an answer that no poll has, if it is not too large, and forgets others for it. as.mu is held.
func (as *pollAnswers) keep(a *pollAnswer) {
	if a.json == nil || a.size() > mostAnswersKept/4 {
		delete(as.of, a.response)
		return
	}
	own := as.tenant[a.tenant]
	if own == nil {
		own = &keptAnswers{}
		as.tenant[a.tenant] = own
	}
	a.all, a.own = as.kept.PushBack(a), own.kept.PushBack(a)
	as.size, own.size = as.size+a.size(), own.size+a.size()
	for own.size > mostAnswersKept/4 {
		as.forget(own.kept.Front())
	}
	for as.size > mostAnswersKept {
		as.forget(as.kept.Front())
	}
}

func (as *pollAnswers) forget(e *list.Element) {
	a, _ := e.Value.(*pollAnswer)
	delete(as.of, a.response)
	as.unkeep(a)
}

// unkeep takes an answer out of those that no poll has, if it is one. as.mu is held.
func (as *pollAnswers) unkeep(a *pollAnswer) {
	if a.all == nil {
		return
	}
	own := as.tenant[a.tenant]
	as.kept.Remove(a.all)
	own.kept.Remove(a.own)
	as.size, own.size = as.size-a.size(), own.size-a.size()
	if a.all, a.own = nil, nil; own.size == 0 {
		delete(as.tenant, a.tenant)
	}
}

// size is what it takes while it is kept, with its response.
func (a *pollAnswer) size() int { return len(a.json) + 1024 }
