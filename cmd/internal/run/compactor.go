package run

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	compactFirst = 10 * time.Minute // after the start, a fifth more at most
	compactEvery = time.Hour        // give or take a fifth
)

// compactor forgets, about once an hour, what need not be kept any longer. Every API
// server has one: what the first has done, the second finds done.
type compactor struct {
	store interface {
		CompactDue(ctx context.Context) (store.Compaction, error)
	}
	log *slog.Logger
}

func (c compactor) run(ctx context.Context) error {
	first := compactFirst + rand.N(compactFirst/5)
	return routine{log: c.log, name: "the compactor", first: first, every: compactEvery, once: c.once}.run(ctx)
}

func (c compactor) once(ctx context.Context) (failed bool) {
	begun := time.Now()
	done, err := c.store.CompactDue(ctx)
	log := c.log.With("tenants", done.Tenants, "fleets", done.Fleets, "compacted", done.Forgot, "failed", done.Failed, "purged", done.Purged, "took", time.Since(begun))
	switch {
	case err == nil:
		log.Info("old history is compacted")
	case ctx.Err() != nil: // the server stops: the next one goes on
	case errors.Is(err, fleet.ErrUnavailable):
		log.Warn("old history is not compacted to the end, the database does not answer: the next run goes on", "error", err)
	default:
		log.Error("old history is not compacted everywhere", "error", err)
	}
	return err != nil
}
