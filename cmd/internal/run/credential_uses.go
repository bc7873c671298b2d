package run

import (
	"context"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
)

const usesEvery = 5 * time.Second // give or take a fifth

// credentialUses writes down now and then which node credentials were used.
type credentialUses struct {
	replica interface {
		NoteUses(ctx context.Context, note func(context.Context, []fleet.CredentialUse) error) error
	}
	store interface {
		NoteCredentialUses(ctx context.Context, us []fleet.CredentialUse) error
	}
	log *slog.Logger
}

// run tells the first of several failures.
func (c credentialUses) run(ctx context.Context) error {
	failing := false
	return routine{log: c.log, name: "the record of which node credentials were used", first: usesEvery, every: usesEvery, once: func(ctx context.Context) bool {
		err := c.replica.NoteUses(ctx, c.store.NoteCredentialUses)
		if err != nil && !failing && ctx.Err() == nil {
			c.log.Warn("it is not written down which node credentials were used: the next run goes on", "error", err)
		}
		failing = err != nil
		return failing
	}}.run(ctx)
}
