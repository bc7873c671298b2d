package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// Page is how many events of a fleet are read at once.
const Page = 1000

const (
	tick        = 250 * time.Millisecond // between two questions for news
	behindPage  = 100                    // that a listener reads for itself: it holds them alone, for as long as its client does not read
	keptEvents  = 2000                   // that are kept of a fleet for those who listen
	keptBytes   = 1 << 20                // the same, in bytes of their texts
	holdersTick = 4 * time.Second        // between two looks whether the tokens and sessions still hold: what has ended listens for 5 s at most
	patience    = 10 * time.Second       // for how long the database may be away before streams end
)

// Store is what a tail asks the database.
type Store interface {
	EventsMoved(ctx context.Context, feeds []store.EventFeed) (moved, gone []fleet.Key, err error)
	EventsAfter(ctx context.Context, t fleet.TenantID, f fleet.ID, after store.EventPosition, limit int) ([]store.Event, store.EventPosition, bool, error)
	Marks(ctx context.Context, keys []fleet.Key) (map[fleet.Key]store.FleetMarks, error)
	TenantMarks(ctx context.Context, scopes []fleet.Key) ([][]store.NamedMarks, error)
	LiveTokens(ctx context.Context, ids []fleet.CredentialID) (map[fleet.CredentialID]bool, error)
	LiveSessions(ctx context.Context, ids []fleet.SessionID) (map[fleet.SessionID]bool, error)
}

// Tail lets any number of requests listen to the events of any fleets, and follow what changes in any, at the
// price of a question of each kind per tick, and one reading of each fleet that has events. Whoever holds the turn asks
// for all what concerns all, on nobody's share of the connections; the events of a fleet are read by one of those who listen to it, on
// their tenant's: what is slow there, or fails, is theirs alone. There is no goroutine of its own; with the last listener gone nothing is asked.
type Tail struct {
	store Store
	now   func() time.Time
	turn  chan struct{} // capacity 1: who fills it reads

	mu      sync.Mutex // guards what follows and what is in it
	feeds   map[fleet.Key]*feed
	lives   map[fleet.Key]*fleetFeed
	tenants map[fleet.Key]*tenantFeed // of a tenant, or of one fleet alone
	later   time.Time                 // when those are due
	holders map[Holder]*heard
	news    chan struct{} // closed and replaced after each tick
	checked time.Time     // when the tokens and sessions were looked up last
	outages [asks]outage
}

// ask is one of the questions of a tick. One that fails ends the streams that live by it, and no others.
type ask int

const (
	askHolders ask = iota // all streams live by it
	askEvents
	askLives
	askTenants
	asks
)

// outage is since when a question is not answered; zero: it is.
type outage struct {
	since time.Time
	err   error
}

func (o *outage) note(err error, now time.Time) {
	switch {
	case err == nil:
		*o = outage{}
	case o.err == nil:
		*o = outage{since: now, err: err}
	}
}

func (o outage) over(now time.Time) bool { return o.err != nil && now.Sub(o.since) > patience }

// End is why a listener is to go; "" where it is not.
type End string

// Why a listener is to go. The words are what a stream says at its end.
const (
	EndFleet    End = "the fleet is gone"
	EndToken    End = "the token has ended"
	EndSession  End = "the session has ended"
	EndMoved    End = "the tenant is being moved to another cell" // no tail tells it: a token whose tenant has moved has ended here
	EndDatabase End = "the database cannot be reached"
	EndServer   End = "the server stops"
)

// New reads with the store; now is the time of day.
func New(s Store, now func() time.Time) *Tail {
	return &Tail{
		store: s, now: now, turn: make(chan struct{}, 1), feeds: map[fleet.Key]*feed{}, lives: map[fleet.Key]*fleetFeed{}, tenants: map[fleet.Key]*tenantFeed{}, holders: map[Holder]*heard{},
		news: make(chan struct{}),
	}
}

// takeTurn pauses, then asks for all. A reader whose request ends, be it by a panic, gives
// the turn back, and another listener takes it.
func (t *Tail) takeTurn(ctx context.Context, stop <-chan struct{}) {
	defer func() { <-t.turn }()
	if !pausedFor(ctx, stop, tick) {
		return
	}
	errs := t.read(ctx)
	if ctx.Err() != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, err := range errs {
		t.outages[i].note(err, t.now())
	}
	close(t.news)
	t.news = make(chan struct{})
}

// read asks all questions. One that takes too long by itself keeps the others from nothing; a database that is away does.
func (t *Tail) read(ctx context.Context) (errs [asks]error) {
	for i, question := range [asks]func(context.Context) error{t.checkHolders, t.readEvents, t.readLives, t.readTenants} {
		if i > 0 && errs[i-1] != nil && !tookLong(errs[i-1]) {
			errs[i] = errs[i-1]
			continue
		}
		errs[i] = question(ctx)
	}
	return errs
}

// tookLong reports whether the database has given up the question's own work.
func tookLong(err error) bool {
	var e *store.TimeoutError
	return errors.As(err, &e) && e.Wait == store.WaitWork
}
