package run

import (
	"context"
	"log/slog"
	"time"
)

const (
	denialsEvery = 5 * time.Second // give or take a fifth
	denialsEnd   = 5 * time.Second // for the last ones, when the server stops
)

// denials writes down, every few seconds, which requests the API has denied.
type denials struct {
	api interface {
		RecordDenials(ctx context.Context, end bool) error
	}
	log *slog.Logger
}

func (d denials) run(ctx context.Context) error {
	err := routine{log: d.log, name: "the record of denied requests", first: denialsEvery, every: denialsEvery, once: func(ctx context.Context) bool { return d.once(ctx, false) }}.run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), denialsEnd)
	defer cancel()
	d.once(last, true)
	return err
}

func (d denials) once(ctx context.Context, end bool) (failed bool) {
	err := d.api.RecordDenials(ctx, end)
	if err != nil {
		d.log.Warn("denied requests are not all in the audit", "error", err)
	}
	return err != nil
}
