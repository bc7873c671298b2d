package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

const (
	openWithin = 5 * time.Second // an attempt to open a cell
	openPause  = 2 * time.Second // between two of them
)

// openNow tries once.
func openNow(ctx context.Context, cfg store.Config, setting string, waits *Waits, _ *slog.Logger) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	s, err := store.Open(ctx, cfg)
	if err != nil {
		waits.tell(store.Trouble(err, setting))
	}
	return s, OfDatabase(setting, err)
}

// openOne tries to open all cells, again and again, until one is open. The others are opened by runCell.
func (a *API) openOne(ctx context.Context) error {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, openPause) {
		var all sync.WaitGroup
		errs := make([]error, len(a.cells))
		for i, c := range a.cells {
			all.Go(func() { errs[i] = a.openCell(ctx, c) })
		}
		all.Wait()
		for _, err := range errs {
			if errors.Is(err, errOneDatabase) {
				return err
			}
		}
		for _, c := range a.cells {
			if c.handler != nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no cell can be used: %w", fleet.ErrUnavailable)
		case <-time.After(pause):
		}
	}
}

// openCell tries once. What keeps one cell from being used, an older schema as well, ends nothing else once the server has started.
func (a *API) openCell(ctx context.Context, c *apiCell) error {
	err := lifecycle.Contain(c.log, "the opening of a cell", func() error {
		within, cancel := context.WithTimeout(ctx, openWithin)
		defer cancel()
		if err := a.apart.check(within, c.name, c.url); err != nil {
			return err
		}
		return c.open(ctx, openNow)
	})
	switch {
	case err == nil:
		a.several.Open(c.name, c.handler)
		c.log.Info("the cell is open")
	case ctx.Err() == nil:
		a.several.Waits(c.name, c.waits.reason())
		c.log.Warn("the cell cannot be used yet", "reason", err)
	}
	return err
}

// runCell opens the cell, unless it is open already, and does there what is done beside requests.
func (a *API) runCell(ctx context.Context, c *apiCell) error {
	for c.handler == nil {
		_ = a.openCell(ctx, c) // it is logged
		if c.handler != nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(openPause):
		}
	}
	return lifecycle.Run(ctx, c.components()...)
}
