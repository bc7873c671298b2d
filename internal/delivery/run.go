package delivery

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
)

// Run holds the server's lease and reports, until ctx ends. Then it reports all nodes
// as disconnected, ends the lease, and returns nil: within 5 s, also if the sink does
// not answer.
func (r *Recorder) Run(ctx context.Context) error {
	leased := make(chan struct{})
	g, ctx := errgroup.WithContext(ctx)
	lease := lease{taken: leased}
	g.Go(func() error {
		return lifecycle.PersistThrough(ctx, r.log, "the server's lease", func(ctx context.Context) error { return r.holdLease(ctx, &lease) })
	})
	g.Go(func() error {
		return lifecycle.PersistThrough(ctx, r.log, "the reports", func(ctx context.Context) error { return r.report(ctx, leased) })
	})
	_ = g.Wait() // neither fails
	select {
	case <-leased:
		r.leave(context.WithoutCancel(ctx))
	default: // nobody knows of this server
	}
	return nil
}

// lease is what is known of the server's lease.
type lease struct {
	taken   chan<- struct{} // closed when it was taken first
	failed  bool
	forgets time.Time // when it is looked next whether what was told is to be forgotten
}

// holdLease renews the lease. When it was lost in between, everything is reported
// again: rows under a dead lease may have been taken away.
func (r *Recorder) holdLease(ctx context.Context, l *lease) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		begun := time.Now()
		var term fleet.Term
		err := r.call(ctx, "renew the server's lease", func(ctx context.Context) (err error) {
			term, err = r.cfg.Sink.Lease(ctx, r.cfg.Server, r.cfg.Name, leaseTTL)
			return err
		})
		failed := l.failed
		l.failed = err != nil
		r.cfg.Metrics.Renewed(err == nil)
		if err == nil {
			r.renewed.Store(begun.UnixNano())
			if last := r.hold(term); last == 0 {
				close(l.taken)
			} else {
				r.revive(term != last, failed)
			}
		}
		if !begun.Before(l.forgets) {
			l.forgets = begun.Add(forgetEvery)
			r.forgetTold(begun)
		}
		timer.Reset(max(0, leaseEvery-time.Since(begun)))
	}
}

// held is the term of the lease, 0 before there is one.
func (r *Recorder) held() fleet.Term { return fleet.Term(r.term.Load()) }

// hold takes in the term of a lease that was taken, and returns the last one.
func (r *Recorder) hold(t fleet.Term) (last fleet.Term) { return fleet.Term(r.term.Swap(int64(t))) }

// revive is called after every renewal: lost says that the lease had run out, failed
// that the sink was away.
func (r *Recorder) revive(lost, failed bool) {
	if !lost && !failed {
		return
	}
	now := time.Now()
	for _, f := range r.all() {
		_ = lifecycle.Contain(r.log, "a fleet's report", func() error { f.revive(lost, now); return nil }, "fleet", f.key)
	}
}

// forgetTold forgets what was told long ago, also of fleets that have nothing more to tell. Where too much is left of all
// together, each fleet that has some has an equal share.
func (r *Recorder) forgetTold(now time.Time) {
	kept, fleets := 0, 0
	all := r.all()
	each := func(do func(o *outbox)) {
		for _, f := range all {
			f.mu.Lock()
			do(&f.outbox)
			f.mu.Unlock()
		}
	}
	each(func(o *outbox) {
		o.trim(now)
		kept += len(o.told)
		fleets += min(1, len(o.told))
	})
	if kept > maxToldOfServer {
		each(func(o *outbox) { o.keepNewest(maxToldOfServer/fleets, now) })
	}
}

// report gives the sink what is due, some fleets at the same time, one report per fleet.
func (r *Recorder) report(ctx context.Context, leased <-chan struct{}) error {
	select {
	case <-leased:
	case <-ctx.Done():
		return nil
	}
	var g errgroup.Group
	g.SetLimit(flushAtOnce)
	defer func() { _ = g.Wait() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.kick:
		case <-timer.C:
		}
		due, next := r.take(time.Now())
		for _, f := range due {
			g.Go(func() error { r.flush(ctx, f); return nil })
		}
		if !next.IsZero() {
			timer.Reset(max(0, time.Until(next)))
		}
	}
}

// take removes the fleets that are due from the queue and says when the next one is.
func (r *Recorder) take(now time.Time) (due []*fleetStatus, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for f, at := range r.queue {
		if _, busy := r.busy[f]; busy {
			continue // looked at again when its report is done
		}
		if !at.After(now) {
			due = append(due, f)
			delete(r.queue, f)
			r.busy[f] = struct{}{}
		} else if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return due, next
}

// flush reports a fleet; again: the next report may be made at once, as there is more to
// tell, or the same in smaller parts. A panic, in it or in the sink, is like an error of the
// sink: what was to be told is told later (T36).
func (r *Recorder) flush(ctx context.Context, f *fleetStatus) (again bool) {
	defer r.done(f)
	var rep *report
	err := lifecycle.Contain(r.log, "a fleet's report", func() error {
		if rep = f.next(time.Now()); rep == nil {
			return nil
		}
		begun := time.Now()
		err := r.call(ctx, "report a fleet's status", func(ctx context.Context) error {
			return r.cfg.Sink.Report(ctx, rep.status)
		})
		r.cfg.Metrics.Reported(err == nil, time.Since(begun))
		return err
	}, "fleet", f.key)
	_ = lifecycle.Contain(r.log, "a fleet's report", func() error {
		again = f.answered(rep, err, time.Now())
		return nil
	}, "fleet", f.key)
	f.free()
	return again
}

// done gives the fleet back to the queue.
func (r *Recorder) done(f *fleetStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, f)
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
	for _, f := range r.all() {
		g.Go(func() error {
			f.close()
			for again := true; again && ctx.Err() == nil; {
				again = r.flush(ctx, f)
			}
			return nil
		})
	}
	_ = g.Wait()
	err := lifecycle.Contain(r.log, "the end of the server's lease", func() error { return r.cfg.Sink.Release(ctx, r.cfg.Server) })
	if err != nil {
		r.log.Info("the server's lease was not released: it ends by itself", "within", leaseTTL, "error", err)
	}
}
