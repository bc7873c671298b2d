package run

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/forward"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

const (
	forwardEvery  = 2 * time.Second // give or take a fifth
	forwardEvents = 100             // of a batch
	forwardBytes  = 1 << 20         // of their details
	forwardTurn   = 50              // batches of one tenant: then it is the next one's turn
	forwardMost   = 3               // tenants whose batches may fail before the run ends: then the collector is away, and not a batch bad
	pauseMost     = time.Minute     // between two attempts
	lateAfter     = 5 * time.Minute // for which nothing was taken: then it is an error
)

// sink takes batches: a collector.
type sink interface {
	Name() string
	Send(ctx context.Context, b forward.Batch) error
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
	sink   sink
	log    *slog.Logger
	holder fleet.ServerID

	pause   time.Duration // after the last failure; 0: there was none since the last success
	next    time.Time     // not before
	failing time.Time     // since when; zero: it is not
}

func newForwarder(s *store.Store, to sink, log *slog.Logger) *forwarder {
	return &forwarder{store: s, sink: to, log: log.With("collector", to.Name()), holder: fleet.NewServerID()}
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
	failures := 0
	for _, u := range us {
		err := lifecycle.Contain(f.log, "the delivery of an audit", func() error { return f.tenant(ctx, u) }, "tenant", u.Tenant)
		if ctx.Err() != nil {
			return true
		}
		if err == nil {
			continue
		}
		f.failed(u, err)
		if failures++; failures == forwardMost {
			break
		}
	}
	if failures == 0 && len(us) > 0 {
		f.recovered()
	}
	return failures > 0
}

func (f *forwarder) failed(u store.Undelivered, err error) {
	if f.failing.IsZero() {
		f.failing = time.Now()
	}
	level := slog.LevelWarn
	if time.Since(f.failing) > lateAfter {
		level = slog.LevelError
	}
	f.next = time.Now().Add(f.pause)
	f.log.Log(context.Background(), level, "the audit is not delivered, it is tried again", "tenant", u.Slug, "error", err, "since", f.failing, "pause", f.pause)
}

func (f *forwarder) recovered() {
	if !f.failing.IsZero() {
		f.log.Info("the audit is delivered again", "after", time.Since(f.failing))
	}
	f.failing, f.pause = time.Time{}, 0
}

// tenant delivers what there is of one tenant, up to forwardTurn batches.
func (f *forwarder) tenant(ctx context.Context, u store.Undelivered) (err error) {
	d, err := f.store.ClaimDelivery(ctx, u.Tenant, f.sink.Name(), f.holder)
	if err != nil || d == nil {
		return err
	}
	defer func() {
		pause := time.Duration(0)
		if err != nil {
			f.pause = min(max(time.Second, 2*f.pause), pauseMost)
			pause = f.pause
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), denialsEnd) // the server may be stopping
		defer cancel()
		err = errors.Join(err, f.store.ReleaseDelivery(end, u.Tenant, f.sink.Name(), f.holder, pause))
	}()
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
