package live

import (
	"context"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

const (
	pollSoonest = 20 * time.Millisecond
	pollLatest  = 250 * time.Millisecond
)

// Receipts lets any number of requests wait for receipts of a fleet at the price of one
// reader: whoever holds the turn asks the database for all. There is no goroutine of its
// own; with the last waiter gone nothing is asked.
type Receipts struct {
	read func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error)

	mu     sync.Mutex // guards fleets and what is in them, but for turn
	fleets map[fleet.Key]*watched
}

// watched is one fleet while somebody waits for it.
type watched struct {
	turn    chan struct{} // capacity 1: who fills it reads
	waiters int
	topics  map[fleet.Revision]*topic
	pause   time.Duration
	news    chan struct{} // closed and replaced after each reading
}

// topic is one revision that somebody waits for.
type topic struct {
	waiters int
	receipt fleet.Receipt
	err     error
	read    bool
}

// NewReceipts reads a receipt by read.
func NewReceipts(read func(context.Context, fleet.Key, fleet.Revision) (fleet.Receipt, error)) *Receipts {
	return &Receipts{read: read, fleets: map[fleet.Key]*watched{}}
}

// Wait returns the receipt as soon as it is settled, and the last known one when ctx
// or stop ends first. It ends with the error of may, which is asked each time.
func (b *Receipts) Wait(ctx context.Context, stop <-chan struct{}, k fleet.Key, rev fleet.Revision, last fleet.Receipt, may func(context.Context) error) (fleet.Receipt, error) {
	w := b.join(k, rev)
	defer b.leave(k, w, rev)
	for {
		if err := may(ctx); err != nil {
			return last, err
		}
		receipt, known, news, err := b.known(w, rev)
		if err != nil {
			return receipt, err
		}
		if known {
			last = receipt
		}
		if Settled(last) {
			return last, nil
		}
		select {
		case w.turn <- struct{}{}:
			b.takeTurn(ctx, stop, k, w)
		case <-news:
		case <-stop:
			return last, nil
		case <-ctx.Done():
			return last, nil
		}
		if ctx.Err() != nil || closed(stop) {
			return last, nil
		}
	}
}

// Settled reports whether waiting longer is for nothing (SEMANTICS 5.5).
func Settled(r fleet.Receipt) bool { return r.State != fleet.ReceiptPending || r.Blocked() }

func (b *Receipts) join(k fleet.Key, rev fleet.Revision) *watched {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.fleets[k]
	if w == nil {
		w = &watched{turn: make(chan struct{}, 1), topics: map[fleet.Revision]*topic{}, news: make(chan struct{})}
		b.fleets[k] = w
	}
	t := w.topics[rev]
	if t == nil {
		t = &topic{}
		w.topics[rev] = t
	}
	w.waiters++
	t.waiters++
	w.pause = pollSoonest // somebody new: news are likely
	return w
}

func (b *Receipts) leave(k fleet.Key, w *watched, rev fleet.Revision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.waiters--
	if t := w.topics[rev]; t.waiters > 1 {
		t.waiters--
	} else {
		delete(w.topics, rev)
	}
	if w.waiters == 0 {
		delete(b.fleets, k)
	}
}

func (b *Receipts) known(w *watched, rev fleet.Revision) (fleet.Receipt, bool, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := w.topics[rev]
	return t.receipt, t.read, w.news, t.err
}

// takeTurn pauses, then reads every revision that is waited for. A reader whose request
// ends, be it by a panic, gives the turn back unread, and another waiter takes it.
func (b *Receipts) takeTurn(ctx context.Context, stop <-chan struct{}, k fleet.Key, w *watched) {
	defer func() { <-w.turn }()
	b.mu.Lock()
	pause := w.pause
	w.pause = min(2*pause, pollLatest)
	b.mu.Unlock()
	if !pausedFor(ctx, stop, pause) {
		return
	}
	for _, rev := range b.revisions(w) {
		receipt, err := b.read(ctx, k, rev)
		if ctx.Err() != nil {
			return
		}
		b.post(w, rev, receipt, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	close(w.news)
	w.news = make(chan struct{})
}

// pausedFor waits, and reports whether it waited to the end: neither ctx nor stop ended it.
func pausedFor(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
	case <-ctx.Done():
	}
	return false
}

func (b *Receipts) revisions(w *watched) []fleet.Revision {
	b.mu.Lock()
	defer b.mu.Unlock()
	revs := make([]fleet.Revision, 0, len(w.topics))
	for rev := range w.topics {
		revs = append(revs, rev)
	}
	return revs
}

func (b *Receipts) post(w *watched, rev fleet.Revision, receipt fleet.Receipt, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := w.topics[rev]; t != nil { // else its last waiter left meanwhile
		t.receipt, t.err, t.read = receipt, err, true
	}
}
