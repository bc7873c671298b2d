package run

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/forward"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/store"
)

const (
	forwardEvery  = 2 * time.Second  // give or take a fifth
	forwardEvents = 100              // of a batch
	forwardBytes  = 1 << 20          // of their details
	forwardTurn   = 50               // batches of one tenant: then it is the next one's turn
	forwardMost   = 3                // tenants whose batches may fail before the run ends: then the collector is away, and not a batch bad
	pauseMost     = time.Minute      // between two attempts
	failingKept   = 10 * time.Minute // after the last attempt: another server may have delivered since
	lateAfter     = 5 * time.Minute  // for which nothing was taken: then it is an error
)

// sink takes batches: a collector.
type sink interface {
	Name() string
	Send(ctx context.Context, b forward.Batch) error
}

// measuredSink measures what the collector takes.
type measuredSink struct {
	sink
	metrics *metrics.Audit
}

// Send is sink's.
func (s measuredSink) Send(ctx context.Context, b forward.Batch) error {
	begun := time.Now()
	err := s.sink.Send(ctx, b)
	s.metrics.Delivered(s.Name(), err == nil, time.Since(begun))
	return err
}

// forwarder gives the audit of all tenants to one collector: in the order of each chain, at least once. Up to where it came stands in the database, and a tenant's
// deliveries are one API server's at a time. What the collector does not take is tried again, after a second at first and a minute at most.
type forwarder struct {
	store interface {
		Undelivered(ctx context.Context, collector string, limit int) ([]store.Undelivered, error)
		ClaimDelivery(ctx context.Context, t fleet.TenantID, collector string, holder fleet.ServerID) (*store.AuditDelivery, error)
		AuditLinks(ctx context.Context, t fleet.TenantID, after int64, limit int) (store.AuditPage, error)
		SignedHeads(ctx context.Context, t fleet.TenantID, after int64, limit int) ([]audit.Head, error)
		Delivered(ctx context.Context, t fleet.TenantID, d store.AuditDelivery, holder fleet.ServerID) (bool, error)
		ReleaseDelivery(ctx context.Context, t fleet.TenantID, collector string, holder fleet.ServerID, pause time.Duration) error
	}
	sink    sink
	log     *slog.Logger
	metrics *metrics.Audit
	holder  fleet.ServerID

	pause   time.Duration // after a run in which nothing was taken; 0: something was
	next    time.Time     // not before
	failing map[fleet.TenantID]*failing
}

// failing is a tenant of which the last batch was not taken. Another server may have delivered it since.
type failing struct {
	since, last time.Time
	pause       time.Duration // before the next attempt
}

func newForwarder(s *store.Store, to sink, log *slog.Logger, m *metrics.Audit) *forwarder {
	return &forwarder{store: s, sink: measuredSink{to, m}, log: log.With("collector", to.Name()), metrics: m, holder: fleet.NewServerID(), failing: map[fleet.TenantID]*failing{}}
}

func (f *forwarder) run(ctx context.Context) error {
	return routine{log: f.log, name: "the audit to a collector", first: about(forwardEvery), every: forwardEvery, once: f.once}.run(ctx)
}

// once delivers what there is, but for tenants that another server is at.
func (f *forwarder) once(ctx context.Context) (failed bool) {
	if time.Now().Before(f.next) {
		return false
	}
	us, err := f.store.Undelivered(ctx, f.sink.Name(), auditAtOnce)
	if err != nil {
		f.log.Warn("the audit is not delivered: the database does not answer", "error", err)
		return true
	}
	taken, failures := 0, 0
	for _, u := range us {
		mine, err := f.tenant(ctx, u)
		switch {
		case ctx.Err() != nil:
			return true
		case err != nil:
			failures++
		case mine:
			taken++
		}
		if failures == forwardMost {
			break
		}
	}
	f.rest(taken, failures)
	f.metrics.Failing(f.sink.Name(), len(f.failing))
	return failures > 0
}

// rest leaves a collector alone that took nothing, for longer each time, and forgets tenants that were not tried for long.
func (f *forwarder) rest(taken, failures int) {
	now := time.Now()
	switch {
	case taken > 0:
		f.pause = 0
	case failures > 0:
		f.pause = longer(f.pause)
		f.next = now.Add(f.pause)
	}
	maps.DeleteFunc(f.failing, func(_ fleet.TenantID, x *failing) bool { return now.Sub(x.last) > failingKept })
}

func longer(pause time.Duration) time.Duration { return min(max(time.Second, 2*pause), pauseMost) }

// failed returns for how long the tenant is left alone.
func (f *forwarder) failed(u store.Undelivered, err error) time.Duration {
	x := f.failing[u.Tenant]
	if x == nil {
		x = &failing{since: time.Now()}
		f.failing[u.Tenant] = x
	}
	x.last, x.pause = time.Now(), longer(x.pause)
	level := slog.LevelWarn
	if time.Since(x.since) > lateAfter {
		level = slog.LevelError
	}
	f.log.Log(context.Background(), level, "the audit is not delivered, it is tried again", "tenant", u.Slug, "error", err, "since", x.since, "pause", x.pause)
	return x.pause
}

func (f *forwarder) recovered(u store.Undelivered) {
	if x := f.failing[u.Tenant]; x != nil {
		f.log.Info("the audit is delivered again", "tenant", u.Slug, "after", time.Since(x.since))
		delete(f.failing, u.Tenant)
	}
}

// tenant has one tenant's turn, unless it is another server's.
func (f *forwarder) tenant(ctx context.Context, u store.Undelivered) (mine bool, err error) {
	d, err := f.store.ClaimDelivery(ctx, u.Tenant, f.sink.Name(), f.holder)
	if err == nil && d == nil {
		return false, nil
	}
	if err == nil {
		err = lifecycle.Contain(f.log, "the delivery of an audit", func() error { return f.deliver(ctx, u, d) }, "tenant", u.Tenant)
	}
	pause := time.Duration(0)
	switch {
	case ctx.Err() != nil: // the server stops, and another one may go on at once
	case err != nil:
		pause = f.failed(u, err)
	default:
		f.recovered(u)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	return true, errors.Join(err, f.store.ReleaseDelivery(end, u.Tenant, f.sink.Name(), f.holder, pause))
}

// deliver gives to the collector what there is of one tenant behind d, up to forwardTurn batches.
func (f *forwarder) deliver(ctx context.Context, u store.Undelivered, d *store.AuditDelivery) error {
	for range forwardTurn {
		before := *d
		b, err := f.batch(ctx, u, d)
		if err != nil || *d == before {
			return err
		}
		if len(b.Events)+len(b.Heads) > 0 { // else retention has taken what there was
			if err := f.sink.Send(ctx, b); err != nil {
				return err
			}
		}
		d.At = time.Now()
		if mine, err := f.store.Delivered(ctx, u.Tenant, *d, f.holder); err != nil || !mine {
			return err
		}
	}
	return nil
}

// batch is what follows on d, which moves to its end.
func (f *forwarder) batch(ctx context.Context, u store.Undelivered, d *store.AuditDelivery) (forward.Batch, error) {
	b := forward.Batch{Tenant: u.Slug, TenantID: u.Tenant.String(), Events: []audit.Link{}, Heads: []audit.Head{}}
	page, err := f.store.AuditLinks(ctx, u.Tenant, d.Seq, forwardEvents)
	if err != nil {
		return b, err
	}
	if gone := page.Anchor.Seq - d.Seq; gone > 0 && !d.At.IsZero() {
		f.log.Error("retention has removed events of the audit that the collector has not", "tenant", u.Slug, "events", gone)
	}
	d.Seq = max(d.Seq, page.Anchor.Seq)
	size := 0
	for _, l := range page.Links {
		if l.Event != nil && l.Event.Detail != nil {
			size += len(*l.Event.Detail)
		}
		if len(b.Events) > 0 && size > forwardBytes {
			break
		}
		b.Events, d.Seq = append(b.Events, l), l.Seq
	}
	heads, err := f.store.SignedHeads(ctx, u.Tenant, d.HeadSeq, forwardEvents)
	if err != nil {
		return b, err
	}
	for _, h := range heads {
		if h.Seq <= d.Seq || len(page.Links) == 0 {
			b.Heads, d.HeadSeq = append(b.Heads, h), h.Seq
		}
	}
	return b, nil
}
