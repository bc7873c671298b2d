package load

import (
	"context"
	"time"

	"fairlead/bench/internal/xds"
)

// storm connects all clients for the first time, until each is complete.
func (r *Runner) storm(ctx context.Context, fail context.CancelCauseFunc, res *Result) (err error) {
	if res.Idle, err = r.memory(ctx); err != nil {
		return err
	}
	if err := r.warm(); err != nil {
		return err
	}
	r.start = time.Now()
	res.Storm, err = r.measure(ctx, func(ctx context.Context) error {
		if err := r.connect(ctx, fail); err != nil {
			return err
		}
		select {
		case <-r.full:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	res.Full = newDist(r.fullAt)
	return err
}

// changes makes one change after the other, each when all clients have the one before.
func (r *Runner) changes(ctx context.Context, _ context.CancelCauseFunc, res *Result) (err error) {
	for range r.cfg.Changes {
		var c Change
		var made Made
		c.Usage, err = r.measure(ctx, func(ctx context.Context) (err error) {
			if made, err = r.change(ctx); err != nil {
				return err
			}
			return r.epochs.wait(ctx, made.Epoch, len(r.clients))
		})
		if err != nil {
			return err
		}
		c.Latency = r.epochs.latencies(made.Epoch)
		res.Changes = append(res.Changes, c)
	}
	res.Rest, err = r.memory(ctx)
	return err
}

// atRest has nothing happen for a while.
func (r *Runner) atRest(ctx context.Context, _ context.CancelCauseFunc, res *Result) error {
	if r.cfg.AtRest == 0 {
		return nil
	}
	before, err := r.usage()
	if err != nil {
		return err
	}
	start := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(r.cfg.AtRest):
	}
	took := time.Since(start)
	after, err := r.usage()
	res.AtRest = after.since(before)
	res.AtRest.Seconds = took.Seconds()
	return err
}

// same has all clients come back to the server that they have left.
func (r *Runner) same(ctx context.Context, fail context.CancelCauseFunc, res *Result) (err error) {
	res.Same, err = r.mean(func() (Usage, error) {
		r.disconnect()
		if err := r.settle(ctx); err != nil {
			return Usage{}, err
		}
		return r.measure(ctx, func(ctx context.Context) error { return r.connect(ctx, fail) })
	})
	return err
}

// other has all clients come to a server that has never seen them.
func (r *Runner) other(ctx context.Context, fail context.CancelCauseFunc, res *Result) error {
	r.disconnect()
	if err := r.quiesce(ctx); err != nil {
		return err
	}
	err := call(ctx, r.cfg.Control+"/another", &r.server)
	if err != nil {
		return err
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	res.Other, err = r.measure(ctx, func(ctx context.Context) error { return r.connect(ctx, fail) })
	return err
}

// changed has all clients come back to that one after a change that they have missed.
func (r *Runner) changed(ctx context.Context, fail context.CancelCauseFunc, res *Result) (err error) {
	res.Changed, err = r.mean(func() (Usage, error) {
		r.disconnect()
		made, err := r.change(ctx)
		if err != nil {
			return Usage{}, err
		}
		if err := r.settle(ctx); err != nil {
			return Usage{}, err
		}
		return r.measure(ctx, func(ctx context.Context) error {
			if err := r.connect(ctx, fail); err != nil {
				return err
			}
			return r.epochs.wait(ctx, made.Epoch, len(r.clients))
		})
	})
	return err
}

// mean repeats a return as often as the configuration says, and is what one of them cost: garbage is collected in some of them alone.
func (r *Runner) mean(back func() (Usage, error)) (sum Usage, err error) {
	n := max(1, r.cfg.Returns)
	for range n {
		u, err := back()
		if err != nil {
			return sum, err
		}
		sum = sum.plus(u)
	}
	return sum.by(n), nil
}

// killedAnew has the server killed, and all clients come to another one as new processes, which hold nothing.
func (r *Runner) killedAnew(ctx context.Context, fail context.CancelCauseFunc, res *Result) (err error) {
	if r.cfg.Protocol == xds.REST {
		return nil // who polls has no streams that end
	}
	res.KilledAnew, err = r.killed(ctx, fail, func() {
		for _, c := range r.clients {
			c.forget()
		}
	})
	return err
}

// killedSame has the server killed, and all clients come to another one and say what they hold.
func (r *Runner) killedSame(ctx context.Context, fail context.CancelCauseFunc, res *Result) (err error) {
	if r.cfg.Protocol == xds.REST {
		return nil
	}
	res.KilledSame, err = r.killed(ctx, fail, func() {})
	return err
}

// killed has the server killed between two changes: one that all clients have just got, so that it may have told nobody
// of that, and one that they miss.
func (r *Runner) killed(ctx context.Context, fail context.CancelCauseFunc, between func()) (k Killed, err error) {
	made, err := r.change(ctx)
	if err != nil {
		return k, err
	}
	if err := r.epochs.wait(ctx, made.Epoch, len(r.clients)); err != nil {
		return k, err
	}
	r.dying.Store(true)
	err = call(ctx, r.cfg.Control+"/killed", &r.server)
	r.disconnect()
	r.dying.Store(false)
	if err != nil {
		return k, err
	}
	between()
	if made, err = r.change(ctx); err != nil {
		return k, err
	}
	if k.Idle, err = r.memory(ctx); err != nil {
		return k, err
	}
	if err := r.settle(ctx); err != nil {
		return k, err
	}
	k.Usage, err = r.measure(ctx, func(ctx context.Context) error {
		if err := r.connect(ctx, fail); err != nil {
			return err
		}
		return r.epochs.wait(ctx, made.Epoch, len(r.clients))
	})
	if err != nil {
		return k, err
	}
	k.Rest, err = r.memory(ctx)
	return k, err
}

// change has a change made.
func (r *Runner) change(ctx context.Context) (made Made, err error) {
	err = call(ctx, r.cfg.Control+"/change", &made)
	if err == nil {
		r.epochs.made(made)
	}
	return made, err
}
