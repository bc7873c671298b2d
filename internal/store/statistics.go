package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// bulk is how many resources a write changes that asks for an analysis at once.
const bulk = 500

// Grown is signalled when a write of this Store has made tables grow in bulk.
func (s *Store) Grown() <-chan struct{} { return s.grown }

// AnalyzeGrown has the tables analyzed that have grown since to twice their size, or were never analyzed, and returns their
// names: after a first import the planner knows nothing of them until autovacuum comes, and where that is off for ever. It is a look
// at the catalog when there is none. Some processes may do it at the same time.
func (s *Store) AnalyzeGrown(ctx context.Context) (tables []string, err error) {
	c := call{limit: mostTimeout, times: s.patience}
	for after := ""; ; {
		var table *string
		b := &pgx.Batch{}
		b.Queue(setPlans, c.statementTimeout())
		b.Queue(`SELECT analyze_grown_table($1)`, after).QueryRow(func(row pgx.Row) error { return row.Scan(&table) })
		if err := kind(c.timeout(s.send(ctx, c, b))); err != nil {
			return tables, fmt.Errorf("analyze the table after %q that has grown: %w", after, err)
		}
		if table == nil {
			return tables, nil
		}
		after = *table
		tables = append(tables, after)
	}
}
