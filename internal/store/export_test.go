package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// MigrationLock is the advisory lock that Migrate takes.
const MigrationLock = migrationLock

// SchemaVersion is the version of the database's tables, 0 when it has none.
func SchemaVersion(ctx context.Context, url string) (uint, error) {
	conf, err := pgx.ParseConfig(url)
	if err != nil {
		return 0, err
	}
	f, err := inspect(ctx, conf, 1)
	return f.version, err
}

// CompactDueAround is CompactDue with something around the work for each fleet.
func (s *Store) CompactDueAround(ctx context.Context, around func(f fleet.ID, compact func() error) error) (Compaction, error) {
	return s.compactDue(ctx, around)
}

// Send rings what is pending on a connection.
func (n *Notifier) Send(ctx context.Context, conn *pgx.Conn) error { return n.send(ctx, conn) }

// Pending is how many fleets are to be rung.
func (n *Notifier) Pending() int { return len(n.take()) }

// Clean is clean.
func Clean(s string, limit int) string { return clean(s, limit) }

// Wake hands a payload to a listener.
func (l *Listener) Wake(payload string) { l.wake(payload) }

// Payloads is payloads.
func Payloads(ids []fleet.ID) []string { return payloads(ids) }

// Decode runs every decoder of stored JSON.
func Decode(b []byte) error {
	_, derived := decodeDerived(b)
	_, credentials := decodeCredentials(b)
	_, refusals := decodeRefusals("n", b)
	_, nodes := decodeReceiptNodes(b)
	_, waits := decodeWaits(b)
	return errors.Join(derived, credentials, refusals, nodes, waits)
}

// EncodeDerived is encodeDerived, and the way back.
func EncodeDerived(d fleet.Derived) (fleet.Derived, error) {
	b, err := json.Marshal(encodeDerived(d))
	if err != nil {
		return fleet.Derived{}, err
	}
	return decodeDerived(b)
}

// Leftover is the tenant that a call has left behind on the pool's connection.
func (s *Store) Leftover(ctx context.Context) (tenant string, err error) {
	err = s.conns.pool.QueryRow(ctx, `SELECT coalesce(current_setting('app.tenant_id', true), '')`).Scan(&tenant)
	return tenant, err
}

// Stands is stands, and Ended ended.
func Stands(e string) string { return stands(e) }

func Ended(e string) string { return ended(e) }

// ReceiptBy is ReceiptPage by another statement.
func (s *Store) ReceiptBy(ctx context.Context, sql string, t fleet.TenantID, f fleet.ID, rev fleet.Revision, q ReceiptFilter) (fleet.Receipt, bool, error) {
	return s.receiptPage(ctx, sql, t, f, rev, q)
}

// ErrCrowded is errCrowded.
var ErrCrowded = errCrowded

// AtHead is how many calls lock the fleet's head or wait to.
func (s *Store) AtHead(f fleet.ID) int { return s.conns.heads.count(f) }

// AtKey is how many writes have an idempotency key or wait for it.
func (s *Store) AtKey(c fleet.CredentialID, key string) int { return s.keys.count(keyOf{c, key}) }

func (q *turns[K]) count(k K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t := q.of[k]; t != nil {
		return t.users
	}
	return 0
}

// ApplyTimeout is applyTimeout.
func ApplyTimeout(cs []ResourceChange) time.Duration { return applyTimeout(cs) }

// TakeConn takes one of the pool's connections, as a call does.
func (s *Store) TakeConn(ctx context.Context) (release func(), err error) {
	conn, err := s.conns.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Release, nil
}

// Planned is how often the statements that contain text were run on the pool's connection with one plan for all
// values, and how often they were planned for theirs.
func (s *Store) Planned(ctx context.Context, text string) (generic, custom int, err error) {
	err = s.conns.pool.QueryRow(ctx, `SELECT coalesce(sum(generic_plans), 0), coalesce(sum(custom_plans), 0) FROM pg_prepared_statements WHERE strpos(statement, $1) > 0`, text).Scan(&generic, &custom)
	return generic, custom, err
}

// What a move does in which order, and with which tables.
var (
	MoveSteps = moveSteps
	NotMoved  = notMoved
)

// TablesToMove are the names of the tables in the order in which they are copied.
func TablesToMove(ctx context.Context, conn *pgx.Conn) (names []string, err error) {
	tables, err := tablesToMove(ctx, conn)
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names, err
}
