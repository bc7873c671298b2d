package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"fairlead/internal/fleet"
)

// The schema's own SQLSTATEs. A stale revision is none of Postgres's own states, least
// of all 40001, which says "try again".
const (
	stateToken        = "FL401" // the caller's own token has ended
	stateForbidden    = "FL403"
	stateNotFound     = "FL404"
	stateNoLease      = "FL407" // of endpoints
	stateLease        = "FL408" // that a report was made under has ended
	stateBusy         = "FL409"
	stateHistoryCut   = "FL411" // a report was made at a revision that the fleet's history does not have
	statePrecondition = "FL412"
	stateNoRoom       = "FL413" // for endpoints
	stateKeyReused    = "FL422"
	stateNothing      = "FL410" // that could be done
	stateDangling     = "FL424"
	stateEnded        = "FL423" // what was to be changed
	stateUnconfirmed  = "FL428"
	stateLimit        = "FL429"

	// Of Postgres's class 57, so that a server of the last release takes it for a database that is away.
	stateMoving = "57FL1"

	// Postgres's own.
	stateDiskFull = "53100"
	stateReadOnly = "25006" // the host takes no writes
)

var (
	// ErrBusy: the first request with the same idempotency key is still running.
	ErrBusy = fmt.Errorf("a request with the same idempotency key is in flight: %w", fleet.ErrConflict)
	// ErrReadMoved: what Write.Read names was changed since it was read. It is a fleet.ErrPrecondition.
	ErrReadMoved = fmt.Errorf("what the write was judged by has changed: %w", fleet.ErrPrecondition)
	// ErrLeaseLost: a report was made under a lease that has ended since. It is a fleet.ErrPrecondition.
	ErrLeaseLost = fmt.Errorf("the lease that the report was made under has ended: %w", fleet.ErrPrecondition)
	// ErrHistoryCut: a report was made at a revision that the fleet's history does not have, as its database was restored. It is a fleet.ErrPrecondition.
	ErrHistoryCut = fmt.Errorf("the fleet's history does not have the revision that the report was made at: %w", fleet.ErrPrecondition)
	// ErrFull: the database has no room on its disk. It is fleet.ErrUnavailable, and nothing was done.
	ErrFull = fmt.Errorf("the database has no room on its disk: %w", fleet.ErrUnavailable)
	// ErrMoving: the tenant is on its way to another cell, and nothing was done. It is fleet.ErrUnavailable.
	ErrMoving = fmt.Errorf("the tenant is being moved to another cell: %w", fleet.ErrUnavailable)
	// ErrKeyReused: the idempotency key belongs to another request.
	ErrKeyReused = fmt.Errorf("the idempotency key was used for another request: %w", fleet.ErrInvalid)
)

// kind gives an error of the driver its kind. Errors that have one already keep it.
func kind(err error) error {
	var pg *pgconn.PgError
	var late *TimeoutError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late), errors.Is(err, errOwner):
		return err
	case errors.As(err, &pg):
		return pgKind(pg)
	case errors.Is(err, pgx.ErrNoRows):
		return fleet.ErrNotFound
	case isKind(err):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), isConnection(err):
		return fmt.Errorf("%w: %w", fleet.ErrUnavailable, err)
	}
	return err
}

// isConnection reports whether err comes from the connection and not from an answer.
func isConnection(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, puddle.ErrClosedPool)
}

func isKind(err error) bool {
	for _, k := range []error{fleet.ErrInvalid, fleet.ErrNotFound, fleet.ErrConflict, fleet.ErrPrecondition, fleet.ErrForbidden,
		fleet.ErrLimit, fleet.ErrUnavailable} {
		if errors.Is(err, k) {
			return true
		}
	}
	return false
}

// ownStates are the states that our functions raise, and what each means.
var ownStates = map[string]func(*pgconn.PgError) error{
	stateToken:        words(fleet.ErrUnauthenticated),
	stateForbidden:    words(fleet.ErrForbidden),
	stateEnded:        words(fleet.ErrConflict),
	stateNotFound:     words(fleet.ErrNotFound),
	stateMoving:       is(ErrMoving),
	stateLease:        is(ErrLeaseLost),
	stateHistoryCut:   is(ErrHistoryCut),
	stateNoLease:      func(pg *pgconn.PgError) error { return &NoLeaseError{Lease: pg.Detail} },
	stateNoRoom:       func(pg *pgconn.PgError) error { return &NoRoomError{Detail: pg.Message} },
	stateBusy:         is(ErrBusy),
	statePrecondition: precondition,
	stateUnconfirmed:  unconfirmed,
	stateKeyReused:    is(ErrKeyReused),
	stateNothing:      is(ErrNothingRefused),
	stateLimit:        limitError,
	stateDangling:     danglingError,
}

// words are those of the database, of a kind of error.
func words(kind error) func(*pgconn.PgError) error {
	return func(pg *pgconn.PgError) error { return fmt.Errorf("%s: %w", pg.Message, kind) }
}

func is(err error) func(*pgconn.PgError) error { return func(*pgconn.PgError) error { return err } }

func pgKind(pg *pgconn.PgError) error {
	if kind, ours := ownStates[pg.Code]; ours {
		return kind(pg)
	}
	switch pg.Code {
	case "23505": // unique_violation
		return fmt.Errorf("%w: there is one already: %w", fleet.ErrConflict, pg)
	case "23503": // foreign_key_violation
		return fmt.Errorf("%w: %w", fleet.ErrNotFound, pg)
	case "42501": // insufficient_privilege
		return fmt.Errorf("%w: %w", fleet.ErrForbidden, pg)
	case "57014", "55P03", "25P03", "40001", "40P01", "25006":
		// A timeout of the statement, of a lock, of an idle transaction; a deadlock; a standby.
		return fmt.Errorf("%w: %w", fleet.ErrUnavailable, pg)
	case stateDiskFull:
		return fmt.Errorf("%w: %w", ErrFull, pg)
	}
	switch pg.Code[:2] {
	case "08", "53", "57", "28", "3D": // connection, resources, the server is stopping or starting; a role or a database that is not there, as until a restore has come so far
		return fmt.Errorf("%w: %w", fleet.ErrUnavailable, pg)
	case "22", "23": // bad data, a constraint
		return fmt.Errorf("%w: %w", fleet.ErrInvalid, pg)
	}
	return pg
}

// repeatable reports whether a write that failed with err did nothing and may succeed
// at once: a body that it counted on was collected in between, or a deadlock. So may a reading that a standby has cancelled.
func repeatable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40P01" || pg.Code == "40001" || pg.Code == "23503" && strings.Contains(pg.ConstraintName, "_hash_"))
}
