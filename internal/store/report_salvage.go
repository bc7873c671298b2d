package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// isRowRefused reports whether the database refused what a row holds: data that a column cannot
// hold, a constraint, or more than it can work with. All else is no fault of a row.
func isRowRefused(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	switch pg.Code {
	case "23502", "23514": // not null, check
		return true
	}
	return pg.Code[:2] == "22" || pg.Code[:2] == "54" // bad data, a limit of the program
}

// refused are the rows of one report that the database refused.
type refused struct {
	rows int
	node string // of the first one
	why  error
}

func (d *refused) add(node string, why error) {
	if d.rows++; d.rows == 1 {
		d.node, d.why = node, why
	}
}

// salvage writes a report without the rows that the database refuses. They are found by
// halving: each costs about 20 transactions of a report of 1,000 rows. Of such a row is kept
// what the client did not say; if that is refused too, nothing. why is what the database
// said of the whole. What was left out is counted, and told as an event of the fleet.
func (s *Store) salvage(ctx context.Context, r fleet.Status, why error) error {
	var d refused
	if err := s.recordHalves(ctx, r, why, &d); err != nil {
		return err
	}
	all := s.rowsRefused.Add(int64(d.rows))
	told, err := s.tellRefused(ctx, r.Key, d)
	if err != nil || told {
		s.log.Warn("rows of a status report were left out, as the database refuses them", "fleet", r.Key, "node", d.node,
			"rows", d.rows, "since_start", all, "why", d.why, "error", err)
	}
	return nil
}

// recordHalves writes r, which the database has refused for the reason why.
func (s *Store) recordHalves(ctx context.Context, r fleet.Status, why error, d *refused) error {
	var parts []fleet.Status
	switch n := rowsOf(r); n {
	case 0: // it is not a row's fault
		return why
	case 1:
		d.add(nodeOf(r), why)
		bare := withoutWords(r)
		if err := s.record(ctx, bare); !isRowRefused(err) {
			return err
		}
		return s.record(ctx, after(r, 1))
	default:
		parts = []fleet.Status{first(r, n/2), after(r, n/2)}
	}
	for _, part := range parts {
		err := s.record(ctx, part)
		if isRowRefused(err) {
			err = s.recordHalves(ctx, part, err, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf counts the rows that hold anything of a client's.
func rowsOf(r fleet.Status) int {
	return len(r.Nodes) + len(r.Refusals) + len(r.Resolved) + len(r.Lasting)
}

// first is a report's first n rows, nodes before refusals and these before their ends. What
// is true only when all nodes are written is left to the rest.
func first(r fleet.Status, n int) fleet.Status {
	rest := n < rowsOf(r)
	r.Nodes = upTo(r.Nodes, &n)
	r.Refusals = upTo(r.Refusals, &n)
	r.Resolved = upTo(r.Resolved, &n)
	r.Lasting = upTo(r.Lasting, &n)
	if rest {
		r.Delivered, r.Partial = nil, true
	}
	return r
}

// after is a report without its first n rows.
func after(r fleet.Status, n int) fleet.Status {
	r.Nodes = r.Nodes[len(upTo(r.Nodes, &n)):]
	r.Refusals = r.Refusals[len(upTo(r.Refusals, &n)):]
	r.Resolved = r.Resolved[len(upTo(r.Resolved, &n)):]
	r.Lasting = r.Lasting[len(upTo(r.Lasting, &n)):]
	return r
}

// upTo takes at most n of xs and from n.
func upTo[T any](xs []T, n *int) []T {
	take := min(*n, len(xs))
	*n -= take
	return xs[:take:take]
}

// withoutWords is a report of one row without what the client said of itself or of a resource.
func withoutWords(r fleet.Status) fleet.Status {
	switch {
	case len(r.Nodes) == 1:
		n := r.Nodes[0]
		n.UserAgent, n.Version, n.Cluster, n.Labels = "", "", "", &fleet.NodeLabels{Cut: true}
		n.Subscribes = fleet.Subscriptions{}
		r.Nodes = []fleet.NodeStatus{n}
	case len(r.Refusals) == 1:
		x := r.Refusals[0]
		x.Detail = ""
		r.Refusals = []fleet.Refusal{x}
	}
	return r
}

// nodeOf is the node that a report of one row is about.
func nodeOf(r fleet.Status) string {
	switch {
	case len(r.Nodes) == 1:
		return r.Nodes[0].Node
	case len(r.Refusals) == 1:
		return r.Refusals[0].Node
	case len(r.Resolved) == 1:
		return r.Resolved[0].Node
	}
	return r.Lasting[0]
}

// insertRefused tells of rows that were left out, once an hour at most: who sends such rows
// could fill the events with them.
const insertRefused = `
INSERT INTO node_events (tenant_id, fleet_id, id, at, kind, node_id, note)
SELECT app_tenant(), $1::uuid, node_event_id(ARRAY['left out', $1::uuid::text, date_trunc('hour', clock_timestamp(), 'UTC')::text]), clock_timestamp(), 'dropped', $2, $3
ON CONFLICT DO NOTHING RETURNING true`

// tellRefused reports whether it was told, which it is once an hour.
func (s *Store) tellRefused(ctx context.Context, k fleet.Key, d refused) (told bool, err error) {
	state := ""
	var pg *pgconn.PgError
	if errors.As(d.why, &pg) {
		state = pg.Code
	}
	// The node's own id may be what is refused: it is in the words in ASCII.
	note := fmt.Sprintf("the database refuses what was reported of the node %+q (SQLSTATE %s): it was left out, %d rows in all", d.node, state, d.rows)
	for _, node := range []string{d.node, ""} {
		err = s.inTenant(ctx, writeTimeout, k.Tenant, func(b *pgx.Batch) {
			b.Queue(insertRefused, k.Fleet.String(), node, note).Query(func(rows pgx.Rows) error {
				told = rows.Next()
				rows.Close()
				return rows.Err()
			})
		})
		if !isRowRefused(err) {
			break
		}
	}
	return told, err
}
