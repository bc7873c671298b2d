package delivery

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// Run holds the server's lease and reports, until ctx ends. Then it reports all nodes
// as disconnected, ends the lease, and returns nil: within 5 s, also if the sink does
// not answer.
func (r *Recorder) Run(ctx context.Context) error {
	leased := make(chan struct{})
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { r.holdLease(ctx, leased); return nil })
	g.Go(func() error { r.report(ctx, leased); return nil })
	_ = g.Wait() // neither fails
	select {
	case <-leased:
		r.leave(context.WithoutCancel(ctx))
	default: // nobody knows of this server
	}
	return nil
}

// holdLease renews the lease. When it was lost in between, everything is reported
// again: rows under a dead lease may have been taken away.
func (r *Recorder) holdLease(ctx context.Context, leased chan<- struct{}) {
	var last time.Time // the begin of the last call that went well
	failed := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		begun := time.Now()
		err := r.call(ctx, "renew the server's lease", func(ctx context.Context) error {
			return r.cfg.Sink.Lease(ctx, r.cfg.Server, r.cfg.Name, leaseTTL)
		})
		switch {
		case err != nil:
			failed = true
		case last.IsZero():
			close(leased)
			last, failed = begun, false
		default:
			r.revive(begun.Sub(last) > leaseTTL, failed)
			last, failed = begun, false
		}
		timer.Reset(max(0, leaseEvery-time.Since(begun)))
	}
}

// revive is called after every renewal: lost says that the lease had run out, failed
// that the sink was away.
func (r *Recorder) revive(lost, failed bool) {
	if !lost && !failed {
		return
	}
	now := time.Now()
	for _, b := range r.allBooks() {
		b.mu.Lock()
		switch {
		case lost:
			b.again(now)
		case b.failures > 0:
			b.retryNow(now)
		}
		b.mu.Unlock()
	}
}

// report gives the sink what is due, some fleets at the same time, one report per fleet.
func (r *Recorder) report(ctx context.Context, leased <-chan struct{}) {
	select {
	case <-leased:
	case <-ctx.Done():
		return
	}
	var g errgroup.Group
	g.SetLimit(flushAtOnce)
	defer func() { _ = g.Wait() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kick:
		case <-timer.C:
		}
		due, next := r.take(time.Now())
		for _, b := range due {
			g.Go(func() error { r.flush(ctx, b); return nil })
		}
		if !next.IsZero() {
			timer.Reset(max(0, time.Until(next)))
		}
	}
}

// take removes the books that are due from the queue and says when the next one is.
func (r *Recorder) take(now time.Time) (due []*book, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for b, at := range r.queue {
		if _, busy := r.busy[b]; busy {
			continue // looked at again when its report is done
		}
		if !at.After(now) {
			due = append(due, b)
			delete(r.queue, b)
			r.busy[b] = struct{}{}
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return due, next
}

func (r *Recorder) flush(ctx context.Context, b *book) {
	b.mu.Lock()
	rep := b.compose(time.Now())
	b.mu.Unlock()
	if rep != nil {
		err := r.call(ctx, "report a fleet's status", func(ctx context.Context) error {
			return r.cfg.Sink.Report(ctx, rep.status)
		})
		b.mu.Lock()
		b.finish(rep, err, time.Now())
		b.mu.Unlock()
	}
	b.mu.Lock()
	r.dropIfDone(b)
	b.mu.Unlock()

	r.mu.Lock()
	delete(r.busy, b)
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// call asks the sink, for at most callTimeout, and logs when it stops or begins to
// answer: once per change and not once per call.
func (r *Recorder) call(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := f(ctx)
	switch {
	case err == nil && r.down.CompareAndSwap(true, false):
		r.log.Info("status is recorded again")
	case err != nil && ctx.Err() != context.Canceled && r.down.CompareAndSwap(false, true):
		r.log.Warn("status is not recorded: streams go on, receipts stand still until the database answers",
			"doing", what, "error", err)
	}
	return err
}

// leave tells that all nodes are gone, and gives up the lease.
func (r *Recorder) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(flushAtOnce)
	for _, b := range r.allBooks() {
		g.Go(func() error {
			b.mu.Lock()
			b.closing = true
			b.mu.Unlock()
			r.flush(ctx, b)
			return nil
		})
	}
	_ = g.Wait()
	if err := r.cfg.Sink.Release(ctx, r.cfg.Server); err != nil {
		r.log.Info("the server's lease was not released: it ends by itself", "within", leaseTTL, "error", err)
	}
}
