package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// ErrNothingRefused: the node refuses nothing that could be offered again.
var ErrNothingRefused = fmt.Errorf("the node refuses nothing at present: %w", fleet.ErrConflict)

// RetryNode ends all that a node refuses at present, and has the servers offer it again:
// at once where it is connected, else when it comes. It returns what that is, in the
// order of types and names; a refusal for which nothing was held responsible has no name.
// A node that the fleet has not seen is fleet.ErrNotFound, one that refuses nothing
// ErrNothingRefused.
func (s *Store) RetryNode(ctx context.Context, t fleet.TenantID, f fleet.ID, a Actor, node string) ([]fleet.Ref, error) {
	node = clean(node, maxNodeID)
	var refs []fleet.Ref
	err := s.onHead(ctx, writeTimeout, t, f, func(b *pgx.Batch) {
		queueRoom(b)
		b.Queue(`SELECT o_type, o_name FROM node_retry($1, $2)`, f.String(), node).Query(func(rows pgx.Rows) (err error) {
			refs, err = pgx.CollectRows(rows, scanRef)
			return err
		})
		queueAudit(b, a, event{action: "node.retry", object: "node " + node, fleet: f})
	})
	if err != nil {
		return nil, fmt.Errorf("retry node %q: %w", node, err)
	}
	s.ring(t, f)
	return refs, nil
}

func scanRef(row pgx.CollectableRow) (r fleet.Ref, err error) {
	var slug string
	err = row.Scan(&slug, &r.Name)
	r.Type, _ = fleet.TypeFromSlug(slug) // the writer's types are this build's, or older
	return r, err
}
