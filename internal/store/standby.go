package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

const (
	// standbyWait is how long a reading waits for a standby: until that has what the primary has, and then for each next row. It is less than a
	// place among the quick questions of a replica is held.
	standbyWait = 500 * time.Millisecond
	// standbyMost is how long a reading takes there at most: who comes first to a fleet waits 5 s for it.
	standbyMost = 3 * time.Second
	standbyRest = 5 * time.Second // StandbyConfig.Rest
	// standbyLook is the time between two looks at whether it has come so far.
	standbyLook = 10 * time.Millisecond
)

var (
	errBehind  = fmt.Errorf("it does not have what the primary has: %w", fleet.ErrUnavailable)
	errSilent  = fmt.Errorf("it did not answer in time: %w", fleet.ErrUnavailable)
	errForeign = fmt.Errorf("it is no standby of this database, but of another cluster: %w", fleet.ErrInvalid)
	// errPrimary is wrapped by what the primary has answered.
	errPrimary = errors.New("ask the primary")
)

// StandbyConfig is what a Standby needs besides the store of the primary.
type StandbyConfig struct {
	// URL is of a hot standby, or of several, and of a member of the role fairlead_node.
	URL      string
	Patience int              // as of Config
	Rest     time.Duration    // for how long it is left alone after it was not to be used; 0: 5 s
	Metrics  *metrics.Standby // nil: nobody is told
	Logger   *slog.Logger     // nil: slog.Default()
}

// Standby is the store of a primary of which fleets are read from a hot standby (docs/adr/0031). The primary is asked where the fleet is. What the
// standby tells counts if it was read at that place, or at a later one that the primary has too. What it does not
// tell in time the primary does. All else is asked of the primary. It is safe for concurrent use.
type Standby struct {
	*Store
	conf    Config
	rest    time.Duration
	metrics *metrics.Standby
	log     *slog.Logger

	mu     sync.Mutex // guards all below, never held while a database is asked
	store  *Store     // nil: it was not reached yet
	away   error      // why it is not asked; nil: it is
	tryAt  time.Time  // while it is away: when somebody asks it again
	times  int        // that it went away
	closed bool
}

// NewStandby reaches for the standby once. One that is not to be used is told in the log, and tried again later.
func NewStandby(ctx context.Context, primary *Store, c StandbyConfig) *Standby {
	s := &Standby{
		Store: primary, rest: cmp.Or(c.Rest, standbyRest), metrics: cmp.Or(c.Metrics, metrics.Discard().Standby), log: cmp.Or(c.Logger, slog.Default()),
		conf: Config{URL: c.URL, Role: "fairlead_node", Patience: c.Patience, Logger: c.Logger, standby: true},
	}
	ctx, cancel := context.WithTimeout(ctx, 4*s.wait()) // nobody waits for a fleet yet
	defer cancel()
	if _, err := s.open(ctx); err != nil {
		s.failed(err)
	}
	return s
}

// Close gives the standby's connections back. The primary's store stays open.
func (s *Standby) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed = true; s.store != nil {
		s.store.Close()
	}
}

// CatchUp is Store's.
func (s *Standby) CatchUp(ctx context.Context, known []fleet.Known) (changes []fleet.Change, err error) {
	if len(known) != 1 { // nobody asks so
		return s.Store.CatchUp(ctx, known)
	}
	read, err := s.read(ctx, known[0], func(ctx context.Context, from *Store, h head, alive func()) (fleet.Position, error) {
		if changes, err = from.catchUp(ctx, known, alive); err != nil || len(changes) == 0 {
			return fleet.Position{}, err
		}
		changes[0].Now = h.now // the primary's clock is the one that counts
		return changes[0].At, nil
	})
	switch {
	case err != nil:
		return nil, err
	case read:
		return changes, nil
	}
	return s.Store.CatchUp(ctx, known)
}

// ResourcesAt is Store's.
func (s *Standby) ResourcesAt(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	return s.earlier(ctx, key, at, (*Store).resourcesAt)
}

// ChangesUpTo is Store's.
func (s *Standby) ChangesUpTo(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	return s.earlier(ctx, key, at, (*Store).changesUpTo)
}

// earlier reads of the history from the standby, else from the primary.
func (s *Standby) earlier(ctx context.Context, key fleet.Key, at fleet.Revision,
	of func(from *Store, ctx context.Context, key fleet.Key, at fleet.Revision, alive func()) ([]fleet.Row, fleet.Position, error),
) (rows []fleet.Row, err error) {
	var refused error // as the primary would refuse
	read, err := s.read(ctx, fleet.Known{Key: key}, func(ctx context.Context, from *Store, _ head, alive func()) (now fleet.Position, err error) {
		rows, now, err = of(from, ctx, key, at, alive)
		refused = nil
		if errors.Is(err, fleet.ErrNotFound) || errors.Is(err, fleet.ErrLimit) {
			refused, err = err, nil
		}
		return now, err
	})
	switch {
	case err != nil:
		return nil, err
	case read:
		return rows, refused
	}
	rows, _, err = of(s.Store, ctx, key, at, func() {})
	return rows, err
}

// asking reads from a standby, and tells at which place of the fleet that was. It calls alive with each row.
type asking func(ctx context.Context, from *Store, h head, alive func()) (fleet.Position, error)

// read reports whether ask has read from the standby what the primary would tell. Else the primary is to be asked. An error is the primary's, or of ctx.
func (s *Standby) read(ctx context.Context, k fleet.Known, ask asking) (read bool, err error) {
	if s.rests() {
		s.metrics.Read(metrics.StandbyResting)
		return false, nil
	}
	h, moved, err := s.Store.head(ctx, k)
	switch {
	case err != nil:
		return false, err
	case !moved: // there is nothing to be told
		return true, nil
	case h.gone, h.at.Revision == k.At.Revision && h.at.Token == k.At.Token: // of credentials and settings alone there is little to read
		return false, nil
	}
	times, may := s.may()
	if !may {
		s.metrics.Read(metrics.StandbyResting)
		return false, nil
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch, end := time.AfterFunc(s.wait(), func() { cancel(errSilent) }), time.Now().Add(s.patient(standbyMost))
	defer watch.Stop()
	f := following{Standby: s, key: k.Key, head: h, times: times}
	switch err = f.follow(within, ask, func() { watch.Reset(min(s.wait(), time.Until(end))) }); {
	case err == nil:
		s.metrics.Read(metrics.StandbyRead)
		s.works()
		return true, nil
	case errors.Is(err, errPrimary):
		return false, err
	case ctx.Err() != nil: // of the caller: that says nothing of the standby
		return false, fmt.Errorf("%w: given up by the caller: %w", fleet.ErrUnavailable, context.Cause(ctx))
	case errors.Is(err, errBehind):
		s.metrics.Read(metrics.StandbyBehind)
	default:
		s.metrics.Read(metrics.StandbyFailed)
		if errors.Is(context.Cause(within), errSilent) {
			err = errSilent
		}
	}
	s.failed(err)
	return false, nil
}

// following is one reading.
type following struct {
	*Standby
	key   fleet.Key
	head  head // of the primary
	times int  // that the standby had gone away when it began
}

// follow asks the standby when it has come to where the primary was, until what it tells is what the primary has. It calls alive with each answer.
func (f following) follow(ctx context.Context, ask asking, alive func()) error {
	from, err := f.open(ctx)
	if err != nil {
		return err
	}
	look := time.NewTicker(standbyLook)
	defer look.Stop()
	for end := time.Now().Add(f.wait()); ; {
		if done, err := f.once(ctx, from, ask, alive); done || err != nil && !repeatable(err) { // the primary has removed what was read: it is canceled
			return err
		}
		if time.Now().After(end) || f.leftSince(f.times) {
			return errBehind
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return errBehind
		}
	}
}

// once asks the standby if it has come to where the primary was, and reports whether what it told counts.
func (f following) once(ctx context.Context, from *Store, ask asking, alive func()) (bool, error) {
	there, err := from.hasCome(ctx, f.key, f.head.at)
	if err != nil {
		return false, err
	}
	alive()
	if !there {
		return false, nil
	}
	at, err := ask(ctx, from, f.head, alive)
	if err != nil {
		return false, err
	}
	return f.believed(ctx, at)
}

// believed reports whether the primary has the place at which the standby was read, and that is not before the one where the primary was.
func (f following) believed(ctx context.Context, at fleet.Position) (bool, error) {
	if at == f.head.at || at == (fleet.Position{}) {
		return at == f.head.at, nil
	}
	h, moved, err := f.Store.head(ctx, fleet.Known{Key: f.key, At: at})
	if err != nil {
		return false, fmt.Errorf("%w: %w", errPrimary, err)
	}
	return !moved || h.passed && at.Revision >= f.head.at.Revision && (at.Epoch == f.head.at.Epoch || at.Epoch == h.at.Epoch), nil
}

func (s *Standby) wait() time.Duration { return s.patient(standbyWait) }

func (s *Standby) patient(limit time.Duration) time.Duration {
	return patience(s.conf.Patience).of(limit)
}

// open reaches for the standby if that was not reached yet.
func (s *Standby) open(ctx context.Context) (*Store, error) {
	if opened := s.opened(); opened != nil {
		return opened, nil
	}
	opened, err := Open(ctx, s.conf)
	if err != nil {
		return nil, err
	}
	if err = s.related(ctx, opened); err == nil {
		err = s.opens(opened)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

func (s *Standby) opened() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store
}

func (s *Standby) opens(opened *Store) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.store != nil {
		return fmt.Errorf("it was closed, or opened by another: %w", fleet.ErrUnavailable)
	}
	s.store = opened
	return nil
}

// related says why another store is of no standby of this database. What is read there is judged by its place all the same: this finds a
// wrong URL before anybody waits for it.
func (s *Standby) related(ctx context.Context, other *Store) error {
	ours, err := s.Store.cluster(ctx)
	if err != nil {
		return err
	}
	theirs, err := other.cluster(ctx)
	if err == nil && ours != theirs {
		err = errForeign
	}
	return err
}

// rests reports whether the standby is away, and nobody is to find out yet whether it still is.
func (s *Standby) rests() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away != nil && time.Now().Before(s.tryAt)
}

// may reports whether the standby is to be asked, and how often it has gone away. Of one that is away somebody is to find out when it has rested: who
// is told that it may asks.
func (s *Standby) may() (times int, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away == nil {
		return s.times, true
	}
	now := time.Now()
	if now.Before(s.tryAt) {
		return s.times, false
	}
	s.tryAt = now.Add(s.rest)
	return s.times, true
}

func (s *Standby) leftSince(times int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times != times
}

// failed has the standby left alone for a while. It is told once.
func (s *Standby) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tryAt = time.Now().Add(s.rest)
	if s.away == nil {
		s.times++
		s.log.Warn("the standby is not to be used: fleets are read from the primary", "reason", err)
	}
	s.away = err
}

func (s *Standby) works() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		s.away = nil
		s.log.Info("fleets are read from the standby again")
	}
}
