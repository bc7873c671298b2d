package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	client "fairlead/clients/go"
	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// endpointsSize is how large TestSoakEndpointsUnderLeases is.
type endpointsSize struct {
	endpoints, clusters int
	nodes               int // that are served all of them
	renewals, changes   int // a second
	ttl                 time.Duration
	lasts               time.Duration
	quiet               time.Duration // renewals alone
	feeds, fed          int           // programs that are killed, and how many endpoints each has
	away                time.Duration // the database; 0: it stays
	judged              bool          // times and rates are
}

func sizeOfEndpoints(t testing.TB) endpointsSize {
	if !full() {
		return endpointsSize{endpoints: 60, clusters: 3, nodes: 4, renewals: 60, changes: 20, ttl: 30 * time.Second, lasts: 500 * time.Millisecond, quiet: 100 * time.Millisecond, feeds: 1, fed: 5}
	}
	// Of a lease of 30 s each third is renewed: of 10,000 that is 1,000 a second.
	return endpointsSize{endpoints: 10_000, clusters: 100, nodes: 20, renewals: 1000, changes: 100, ttl: 30 * time.Second, lasts: soakLasts(t, 0), quiet: 10 * time.Second,
		feeds: 5, fed: 50, away: time.Minute, judged: true}
}

// leased is a fleet whose endpoints have a lease each, and the nodes that are served them by two servers.
type leased struct {
	*estate
	size    endpointsSize
	servers []*world.XDS
	watch   *watchers
	leases  []atomic.Pointer[string] // by endpoint; nil: it is not taken yet

	troubled                 atomic.Bool // the database is away, or was a moment ago: requests may fail, and their times do not count
	renewed, changed, failed atomic.Int64
}

func (s *leased) each() int                  { return s.size.endpoints / s.size.clusters } // endpoints of a cluster
func (s *leased) clusterOf(i int) string     { return s.cluster(i / s.each()) }
func (s *leased) cluster(c int) string       { return fmt.Sprintf("c%03d", c) }
func (s *leased) fedCluster(feed int) string { return fmt.Sprintf("fed-%d", feed) }
func (s *leased) address(i int) string {
	return fmt.Sprintf("10.%d.%d.%d:80", i>>16, i>>8&255, i&255)
}

// TestSoakEndpointsUnderLeases has endpoints renewed and changed through the API, while nodes on two servers are served them. Every renewal and change succeeds, all nodes get each change, ten
// revisions are made in a second at most, and none by a renewal. What a feed had that is killed is gone when its lease has run out, within 2 s of the database's time. When the database was
// away for a minute, twice as long as the leases last, nothing is missing.
func TestSoakEndpointsUnderLeases(t *testing.T) {
	t.Parallel()
	size := sizeOfEndpoints(t)
	var w *installation
	var pg *localpg.Server // of its own; nil: it is the tests'
	if size.away > 0 {
		w, pg = setupPostgres(t)
	} else {
		w = setup(t)
	}
	s := &leased{estate: w.found("registry", "many", nil), size: size, leases: make([]atomic.Pointer[string], size.endpoints)}
	s.servers = []*world.XDS{s.XDS("--max-connection-age", "0"), s.XDS("--max-connection-age", "0")}
	s.connect()
	defer s.renewing()()
	kill := s.begin()
	before := s.spent(pg)
	ctx, end := context.WithTimeout(t.Context(), size.lasts)
	defer end()
	s.works(ctx, kill)
	s.judge(before, s.spent(pg))
	s.renewalsAlone()
	if pg != nil {
		s.outage(pg)
	}
	s.compare()
	t.Logf("the tables:%s", s.tables())
	s.watch.more()
}

// connect has nodes ask for all clusters.
func (s *leased) connect() {
	s.T.Helper()
	var names []string
	for c := range s.size.clusters {
		names = append(names, s.cluster(c))
	}
	for f := range s.size.feeds {
		names = append(names, s.fedCluster(f))
	}
	s.watch = s.watching(s.size.nodes, names, s.servers...)
}

// begin registers all, starts the feeds, which kill kills, and returns when all nodes are served all.
func (s *leased) begin() (kill func()) {
	s.T.Helper()
	var g errgroup.Group
	g.SetLimit(8)
	for c := range s.size.clusters {
		g.Go(func() error { return s.register(c) })
	}
	world.Must(s.T, g.Wait())
	for c := range s.size.clusters {
		world.Eventually(s.T, time.Minute, "not all nodes are served "+s.cluster(c), func() bool { return s.watch.all(s.cluster(c), s.each()) })
		s.watch.keep(s.cluster(c), s.each())
	}
	return s.feeds()
}

// register takes a lease for each endpoint of a cluster, and puts them.
func (s *leased) register(c int) error {
	var set []client.EndpointPut
	for i := c * s.each(); i < (c+1)*s.each(); i++ {
		l, err := s.api.TakeLeaseWithResponse(s.T.Context(), s.tenant, s.fleet, client.LeaseTake{Ttl: s.size.ttl.String()})
		if err := refusedBy(l, err); err != nil {
			return err
		}
		s.leases[i].Store(&l.JSON201.Id)
		set = append(set, client.EndpointPut{Address: s.address(i), Lease: &l.JSON201.Id})
	}
	return refusedBy(s.api.WriteEndpointsWithResponse(s.T.Context(), s.tenant, s.fleet, s.cluster(c), client.EndpointWrite{Set: &set}))
}

// errGone is of what is not there, and should be.
var errGone = errors.New("it is not there")

// refusedBy is an error where the API did not do what it was asked.
func refusedBy(a world.Answer, err error) error {
	switch {
	case err != nil:
		return err
	case a.StatusCode() == http.StatusNotFound:
		return fmt.Errorf("%w: %s", errGone, a.GetBody())
	case a.StatusCode() >= 300:
		return fmt.Errorf("the API answered %d: %s", a.StatusCode(), a.GetBody())
	}
	return nil
}

// paced calls f so many times a second, numbered, until ctx ends: also those that a late tick owes. What is late by more than a second goes on from there, and leaves out none.
func paced(ctx context.Context, perSecond float64, f func(n int)) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n, begin := 0, time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		due := int(time.Since(begin).Seconds() * perSecond)
		if late := float64(due-n)/perSecond - 1; late > 0 {
			begin = begin.Add(time.Duration(late * float64(time.Second)))
			due = n + int(perSecond)
		}
		for ; n < due && ctx.Err() == nil; n++ {
			f(n)
		}
	}
}

// Each renews 20 times a second, or changes 10 times.
func (s *leased) renewers() int { return max(1, s.size.renewals/20) }
func (s *leased) changers() int { return max(1, s.size.changes/10) }

// works changes endpoints until ctx ends, beside what else is to be done in the test's own goroutine. It returns when all changes are served.
func (s *leased) works(ctx context.Context, beside func()) {
	s.T.Helper()
	ctx, end := context.WithCancel(ctx)
	defer end()
	all := &sync.WaitGroup{}
	s.Whole.Cleanup(all.Wait) // of a test that ended before it waited
	for k := range s.changers() {
		all.Go(func() {
			paced(ctx, float64(s.size.changes)/float64(s.changers()), func(n int) { s.change(ctx, n*s.changers()+k) })
		})
	}
	beside()
	if _, ends := ctx.Deadline(); !ends {
		end()
	}
	all.Wait()
	world.Eventually(s.T, time.Minute, "changes are not served to all nodes", func() bool { return s.watch.onTheirWay() == 0 })
}

// renewing renews all leases in turn, from when they are taken until end is called: whatever else the test does meanwhile, and however long that takes, none is
// left alone.
func (s *leased) renewing() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for r := range s.renewers() {
		all.Go(func() {
			paced(ctx, float64(s.size.renewals)/float64(s.renewers()), func(n int) { s.renew((n*s.renewers() + r) % s.size.endpoints) })
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

func (s *leased) renew(i int) {
	id := s.leases[i].Load()
	if id == nil {
		return
	}
	troubled := s.troubled.Load()
	err := refusedBy(s.api.RenewLeaseWithResponse(s.T.Context(), s.tenant, s.fleet, *id))
	switch {
	case err == nil:
		s.renewed.Add(1)
	case !troubled && !s.troubled.Load(), errors.Is(err, errGone):
		s.watch.errorf("the renewal of endpoint %d: %v", i, err)
	default:
		s.failed.Add(1)
	}
}

// change gives an endpoint another weight, and goes on until that is written. One whose last change is on its way is left alone.
func (s *leased) change(ctx context.Context, n int) {
	i, weight := n*7919%s.size.endpoints, 2+n%60_000 // a prime, so that clusters take turns
	c, ok := s.watch.expect(s.clusterOf(i), s.address(i), weight, !s.troubled.Load())
	if !ok {
		return
	}
	set := []client.EndpointPut{{Address: c.address, Lease: s.leases[i].Load(), Weight: &weight}}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		troubled := s.troubled.Load()
		err := refusedBy(s.api.WriteEndpointsWithResponse(s.T.Context(), s.tenant, s.fleet, c.cluster, client.EndpointWrite{Set: &set}))
		switch {
		case err == nil:
			s.changed.Add(1)
			return
		case !troubled && !s.troubled.Load(), errors.Is(err, errGone):
			s.watch.errorf("the change of %s: %v", c.address, err)
			s.watch.forget(c)
			return
		}
		s.failed.Add(1)
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.watch.forget(c)
			return
		}
	}
}

// spent is what was used until a moment.
type spent struct {
	at               time.Time
	api, postgres    time.Duration // of processors
	xds              []time.Duration
	rows             map[string]int64
	revision         int64
	renewed, changed int64
	audit, histories int64 // rows
}

func (s *leased) spent(pg *localpg.Server) spent {
	s.T.Helper()
	n := spent{at: time.Now(), api: (&measured{s.Server}).processor(s.T), rows: s.written(), revision: s.revision(), renewed: s.renewed.Load(), changed: s.changed.Load(),
		audit: s.rows("audit_events"), histories: s.rows("resource_history")}
	for _, x := range s.servers {
		n.xds = append(n.xds, (&measured{x.Program}).processor(s.T))
	}
	if pg != nil {
		n.postgres = withChildren(s.T, pg.PID())
	}
	return n
}

// revision is the newest of the fleet.
func (s *leased) revision() int64 {
	s.T.Helper()
	list, err := s.api.ListRevisionsWithResponse(s.T.Context(), s.tenant, s.fleet, nil)
	s.Made(list, err)
	return list.JSON200.Items[0].Revision
}

// judge looks at what the load has done, and logs what it took.
func (s *leased) judge(from, to spent) {
	s.T.Helper()
	took := to.at.Sub(from.at).Seconds()
	revisions, renewed, changed := to.revision-from.revision, to.renewed-from.renewed, to.changed-from.changed
	if most := int64(took*10) + 12; revisions > most {
		s.T.Errorf("%d revisions in %.1f s, want %d at most", revisions, took, most)
	}
	if revisions == 0 || renewed == 0 || changed == 0 {
		s.T.Errorf("nothing was done: %d revisions, %d renewals, %d changes", revisions, renewed, changed)
	}
	if to.audit != from.audit || to.histories != from.histories {
		s.T.Errorf("the audit grew by %d rows, the history of documents by %d", to.audit-from.audit, to.histories-from.histories)
	}
	if s.size.judged {
		for what, n := range map[string][2]float64{"renewals": {float64(renewed) / took, float64(s.size.renewals)}, "changes": {float64(changed) / s.size.lasts.Seconds(), float64(s.size.changes)}} {
			if n[0] < 0.95*n[1] {
				s.T.Errorf("%.0f %s a second were made, want %.0f: this machine is too slow for it", n[0], what, n[1])
			}
		}
	}
	share := func(after, before time.Duration) string { return sprintf("%.1f %%", 100*(after-before).Seconds()/took) }
	s.T.Logf("%d endpoints in %d clusters, %d nodes, %.1f s: %d renewals, %d changes, %d revisions (%.1f a second); from a change to the last node %v",
		s.size.endpoints, s.size.clusters, s.size.nodes, took, renewed, changed, revisions, float64(revisions)/took, quantilesOf(s.watch.since()))
	s.T.Logf("of a processor: API %s, xDS %s and %s, Postgres %s (0: not looked at)", share(to.api, from.api), share(to.xds[0], from.xds[0]), share(to.xds[1], from.xds[1]), share(to.postgres, from.postgres))
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(to.rows)) {
		if n := to.rows[name] - from.rows[name]; n > 0 {
			lines.WriteString(sprintf("\n%-20s %8d, %7.1f a second", name, n, float64(n)/took))
		}
	}
	s.T.Logf("rows that were inserted, updated or deleted:%s", &lines)
}

// renewalsAlone make no revision.
func (s *leased) renewalsAlone() {
	s.T.Helper()
	revision, renewed := s.revision(), s.renewed.Load()
	<-time.After(s.size.quiet)
	s.renew(0) // one at least
	if now := s.revision(); now != revision {
		s.T.Errorf("%d renewals made %d revisions", s.renewed.Load()-renewed, now-revision)
	}
}

// outage has the database be away, while all goes on.
func (s *leased) outage(pg *localpg.Server) {
	s.T.Helper()
	begun := s.failed.Load()
	s.works(s.T.Context(), func() {
		s.troubled.Store(true)
		s.watch.discount()
		pg.Kill()
		<-time.After(s.size.away)
		world.Must(s.T, pg.Restart(s.T.Context()))
		back, renewed := time.Now(), s.renewed.Load()
		world.Eventually(s.T, 2*time.Minute, "leases are not renewed again", func() bool { return s.renewed.Load()-renewed >= int64(s.size.endpoints) })
		s.T.Logf("the database was away for %s; %.1f s after its return as many leases were renewed as there are", s.size.away, time.Since(back).Seconds())
		calm, failed := time.Now(), s.failed.Load()
		world.Eventually(s.T, 2*time.Minute, "requests fail still", func() bool {
			if now := s.failed.Load(); now != failed {
				calm, failed = time.Now(), now
			}
			return time.Since(calm) > 2*time.Second
		})
		s.troubled.Store(false)
		<-time.After(2*s.size.ttl + 5*time.Second) // what was not renewed would be gone
	})
	if s.failed.Load() == begun {
		s.T.Error("no request failed: the database was not away")
	}
}

// compare looks whether all nodes are served what there is, and nothing is missing or held.
func (s *leased) compare() {
	s.T.Helper()
	all, held := 0, 0
	for c := range s.size.clusters {
		want := weights{}
		for cursor := (*string)(nil); ; {
			page, err := s.api.ListEndpointsWithResponse(s.T.Context(), s.tenant, s.fleet, s.cluster(c), &client.ListEndpointsParams{Cursor: cursor})
			s.Made(page, err)
			for _, e := range page.JSON200.Items {
				want[e.Address] = e.Weight
				if e.Held != nil && *e.Held {
					held++
				}
			}
			if cursor = page.JSON200.NextCursor; cursor == nil {
				break
			}
		}
		all += len(want)
		for node, got := range s.watch.served(s.cluster(c)) {
			if !maps.Equal(got, want) {
				s.T.Errorf("node %d has %v of %s, the API %v", node, got, s.cluster(c), want)
			}
		}
	}
	if all != s.size.endpoints || held > 0 {
		s.T.Errorf("there are %d endpoints, of which %d are held, want %d and none", all, held, s.size.endpoints)
	}
}
