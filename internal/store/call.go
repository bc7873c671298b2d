package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// call is what a call of the database may take: how long, once it has its connection, of
// which connections, and whom it waits for before it takes one.
type call struct {
	limit  time.Duration
	lane   lane
	tenant fleet.TenantID // whose share of an app's connections it uses; zero: nobody's
	head   fleet.ID       // the fleet whose head it locks; zero: none
	plans  string         // setJoins, setNames, setOrder, or ""
	times  patience
}

// patience is by how much longer calls may take than their limits say; 0 is 1.
type patience int

func (p patience) of(limit time.Duration) time.Duration { return limit * time.Duration(max(1, p)) }

// most is how long the call may take.
func (c call) most() time.Duration { return c.times.of(c.limit) }

// Wait is what a call has waited for until it was given up.
type Wait int

// What a call waits for.
const (
	WaitWork  Wait = iota // its own work in the database
	WaitHead              // other writes of the fleet
	WaitShare             // other calls of the tenant
	WaitConn              // other calls of anybody, which had all connections
)

// TimeoutError tells that a call was given up because it took too long, or would have, and
// changed nothing. It is a fleet.ErrUnavailable.
type TimeoutError struct {
	Wait  Wait
	Limit time.Duration // that the call had for it
	// Crowded: so many waited already that it did not wait at all.
	Crowded bool
	cause   error
}

func (e *TimeoutError) Error() string {
	what := [...]string{WaitWork: "the database", WaitHead: "other writes of the fleet", WaitShare: "other requests of the tenant", WaitConn: "other requests"}
	if e.Crowded {
		return fmt.Sprintf("too many wait for %s: %v", what[e.Wait], fleet.ErrUnavailable)
	}
	return fmt.Sprintf("%s took longer than %v: %v: %v", what[e.Wait], e.Limit, fleet.ErrUnavailable, e.cause)
}

// Unwrap returns fleet.ErrUnavailable and the cause.
func (e *TimeoutError) Unwrap() []error { return []error{fleet.ErrUnavailable, e.cause} }

// statementTimeout is how long Postgres lets a statement of the call work, in its words:
// less than the call's limit, so that it answers in time that nothing was done.
func (c call) statementTimeout() string { return fmt.Sprint((c.most() - c.most()/10).Milliseconds()) }

// lockTimeout is how long Postgres lets the call wait for a lock: what locks a fleet's head
// waits for writes of other processes too, and the longer the more it has to do.
func (c call) lockTimeout() time.Duration {
	if c.head == (fleet.ID{}) {
		return c.times.of(lockTimeout)
	}
	return max(c.times.of(lockTimeout), c.most()*3/4)
}

// timeout makes a TimeoutError of the database's own; others stay what they are.
func (c call) timeout(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "57014": // the statement_timeout
		return &TimeoutError{Wait: WaitWork, Limit: c.most(), cause: pg}
	case "55P03": // the lock_timeout: of the fleet's head, or of what bounds the tenant
		if c.head == (fleet.ID{}) {
			return &TimeoutError{Wait: WaitShare, Limit: c.lockTimeout(), cause: pg}
		}
		return &TimeoutError{Wait: WaitHead, Limit: c.lockTimeout(), cause: pg}
	}
	return err
}

// send waits until the call may take a connection, for at most its limit, and then runs
// the batch within its limit.
func (s *Store) send(ctx context.Context, c call, b *pgx.Batch) (err error) {
	caller, begun := ctx, time.Now()
	c.times = s.patience
	defer func() { s.countFailed(caller, c, err) }()
	leave, err := s.conns.enter(ctx, c)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := s.conns.acquire(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Release()
	turn := time.Now()
	s.metrics.Waited(c.lane.measured(), turn.Sub(begun))
	defer func() { s.metrics.Worked(c.lane.measured(), time.Since(turn)) }()
	ctx, cancel := context.WithTimeout(ctx, c.most())
	defer cancel()
	switch err = conn.SendBatch(ctx, b).Close(); {
	case hasState(err, stateReadOnly):
		_ = conn.Conn().Close(ctx) // the next one may be to another host
	case hasState(err, stateDiskFull):
		s.full.Store(time.Now().UnixNano())
	}
	return err
}

// fullFor is how long a disk counts as full after a write has failed for it: who would make another write is sent elsewhere meanwhile.
const fullFor = time.Minute

// FullAt is when a write failed last because the database has no room on its disk; zero if that is more than a minute ago.
func (s *Store) FullAt() time.Time {
	if at := time.Unix(0, s.full.Load()); time.Since(at) < fullFor {
		return at
	}
	return time.Time{}
}

// hasState reports whether err is an answer of the database with that SQLSTATE.
func hasState(err error, state string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == state
}
