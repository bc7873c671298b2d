package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// openStore opens the database and, while it cannot be reached, tries again until ctx
// ends: servers and their database start in any order. setting is what holds its URL, as people name it.
func openStore(ctx context.Context, cfg store.Config, setting string, waits *Waits, log *slog.Logger) (*store.Store, error) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		s, err := store.Open(ctx, cfg)
		if err == nil || !errors.Is(err, fleet.ErrUnavailable) {
			return s, OfDatabase(setting, err)
		}
		why := store.Trouble(err, setting)
		waits.tell(why)
		log.Warn("the database cannot be used yet", "reason", err, "means", why)
		select {
		case <-ctx.Done():
			return nil, OfDatabase(setting, err)
		case <-time.After(pause):
		}
	}
}

// URLSetting is what holds the URL of a server's database: of the cell, if it has a name.
func URLSetting(cell string) string {
	if cell != "" {
		return "database_url of cell " + cell + " (--cells-file)"
	}
	return "--database-url (FAIRLEAD_DATABASE_URL)"
}

// OfDatabase names the setting in an error of the database that it leads to, and says what to do where that is known.
func OfDatabase(setting string, err error) error {
	if err == nil {
		return nil
	}
	if what := store.Trouble(err, setting); what != "" && !strings.Contains(err.Error(), what) {
		return fmt.Errorf("%s: %s: %w", setting, what, err)
	}
	return fmt.Errorf("%s: %w", setting, err)
}
