package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
)

// analyzeEvery is how often, give or take a fifth, an analyzer looks for tables that have grown: one look at the catalog, nearly always in vain.
const analyzeEvery = 10 * time.Second

// analyzer has Postgres analyze tables that have grown to twice their size, which autovacuum does a minute later, or not at all. Every API server
// has one, which begins at once where its own writes changed much. What xDS servers and other API servers wrote it finds by the tables' size.
type analyzer struct {
	store interface {
		AnalyzeGrown(ctx context.Context) ([]string, error)
		Grown() <-chan struct{}
	}
	log *slog.Logger
}

func (a analyzer) run(ctx context.Context) error {
	return routine{log: a.log, name: "the analyzer", every: analyzeEvery, now: a.store.Grown(), rest: analyzeEvery, once: a.once}.run(ctx)
}

func (a analyzer) once(ctx context.Context) (failed bool) {
	tables, err := a.store.AnalyzeGrown(ctx)
	if len(tables) > 0 {
		a.log.Debug("tables that have grown are analyzed", "tables", tables)
	}
	switch {
	case err == nil || ctx.Err() != nil: // the server stops: autovacuum does it, or the next one
	case errors.Is(err, fleet.ErrUnavailable):
		a.log.Debug("tables that have grown are not analyzed: the database does not answer", "error", err)
	default:
		a.log.Error("tables that have grown are not analyzed", "error", err)
	}
	return err != nil
}
