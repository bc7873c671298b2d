package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// openStore opens the database and, while it cannot be reached, tries again until ctx
// ends: servers and their database start in any order.
func openStore(ctx context.Context, cfg store.Config, log *slog.Logger) (*store.Store, error) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		s, err := store.Open(ctx, cfg)
		if err == nil || !errors.Is(err, fleet.ErrUnavailable) {
			return s, err
		}
		log.Warn("the database cannot be used yet", "reason", err)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}
