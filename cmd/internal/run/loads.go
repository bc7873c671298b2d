package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
)

const loadsEnd = 5 * time.Second // for the last ones, when the server stops

// loads writes down, once in an interval, what proxies have reported of their load. What it costs grows with what was reported, not with the nodes.
type loads struct {
	recorder interface {
		Take() (ls []fleet.Load, leftOut int64)
		Return(back []fleet.Load)
		TakeSeen() fleet.LoadSeen
		ReturnSeen(back fleet.LoadSeen)
	}
	store interface {
		AddLoad(ctx context.Context, ls []fleet.Load) (left []fleet.Load, err error)
		NoteLoad(ctx context.Context, seen fleet.LoadSeen) (left fleet.LoadSeen, err error)
	}
	every time.Duration
	log   *slog.Logger
}

func (l loads) run(ctx context.Context) error {
	var before loadsRun
	err := routine{log: l.log, name: "the record of load", first: l.every, every: l.every, once: func(ctx context.Context) bool {
		before = l.once(ctx, before)
		return before.failing
	}}.run(ctx)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadsEnd)
	defer cancel()
	l.once(last, before)
	return err
}

// loadsRun is what a run came to.
type loadsRun struct {
	failing bool
	over    bool // something was left out
}

// once tells the first of several failures, and the first of several runs in which something was left out.
func (l loads) once(ctx context.Context, before loadsRun) (now loadsRun) {
	ls, leftOut := l.recorder.Take()
	if now.over = leftOut > 0; now.over && !before.over {
		l.log.Warn("load reports say more than there is room for: see docs/load.md for the limits", "left_out", leftOut)
	}
	left, err := l.store.AddLoad(ctx, ls)
	l.recorder.Return(left)
	if err == nil { // else the next run tells it
		var unseen fleet.LoadSeen
		unseen, err = l.store.NoteLoad(ctx, l.recorder.TakeSeen())
		l.recorder.ReturnSeen(unseen)
	}
	if now.failing = err != nil; now.failing && !before.failing && ctx.Err() == nil {
		l.log.Warn("what proxies report of their load is not written: the next run goes on", "error", err)
	}
	return now
}

// loadSweeper removes, about once a minute, what is older than an hour. Every API server has one.
type loadSweeper struct {
	store interface {
		SweepLoad(ctx context.Context) (int, error)
	}
	log *slog.Logger
}

func (s loadSweeper) run(ctx context.Context) error {
	return routine{log: s.log, name: "the sweeper of load", first: about(sweepEvery), every: sweepEvery, once: s.once}.run(ctx)
}

func (s loadSweeper) once(ctx context.Context) (failed bool) {
	_, err := s.store.SweepLoad(ctx)
	switch {
	case err == nil || ctx.Err() != nil: // the server stops: the next one goes on
	case errors.Is(err, fleet.ErrUnavailable):
		s.log.Debug("load of more than an hour ago is not swept: the database does not answer", "error", err)
	default:
		s.log.Error("load of more than an hour ago is not swept", "error", err)
	}
	return err != nil
}
