package endpoints_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	endpointpb "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/endpoints"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// size is how much a soak does.
type size struct {
	endpoints, clusters int
	renewals, changes   int // a second
	lasts               time.Duration
}

// soakSize is that of FAIRLEAD_SOAK, else a small one.
func soakSize(t *testing.T) size {
	v := os.Getenv("FAIRLEAD_SOAK")
	if v == "" {
		return size{endpoints: 300, clusters: 6, renewals: 100, changes: 20, lasts: 3 * time.Second}
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("FAIRLEAD_SOAK: %v", err)
	}
	return size{endpoints: 10_000, clusters: 100, renewals: 1000, changes: 100, lasts: d}
}

// soak is a fleet with endpoints, each under a lease of its own, and one reader of what is served.
type soak struct {
	*testing.T
	size
	app, node *store.Store
	key       fleet.Key
	leases    []fleet.LeaseID

	mu      sync.Mutex // guards what follows
	changed map[string]change
	took    []time.Duration // from a change to the reader
}

// change is a weight that is on its way.
type change struct {
	weight int
	at     time.Time
}

func (s *soak) cluster(i int) string { return fmt.Sprintf("c%03d", i%s.clusters) }

func (s *soak) endpoint(i, weight int) store.Endpoint {
	return store.Endpoint{Address: fmt.Sprintf("10.%d.%d.%d:80", i>>16, i>>8&255, i&255), Weight: weight, Health: store.Healthy, Lease: s.leases[i]}
}

// paced calls f so many times a second, numbered, until ctx ends: those that a late tick owes too.
func paced(ctx context.Context, perSecond int, f func(n int)) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n, begin := 0, time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for due := int(time.Since(begin).Seconds() * float64(perSecond)); n < due && ctx.Err() == nil; n++ {
				f(n)
			}
		}
	}
}

// TestSoakEndpoints renews and changes endpoints for a while. No lease runs out, no revision is made by a renewal, there are ten in a second at most, and in the end what is
// served is what is there.
func TestSoakEndpoints(t *testing.T) {
	t.Parallel()
	s := &soak{T: t, size: soakSize(t), changed: map[string]change{}}
	db := storetest.New(t)
	s.app, s.node = db.Store(t), db.NodeStore(t)
	s.key.Tenant, s.key.Fleet = db.TenantWithFleet(t)
	s.register()

	ctx, stop := context.WithCancel(t.Context())
	var helpers sync.WaitGroup
	helpers.Go(func() {
		if err := endpoints.NewBuilder(s.app, slog.Default()).Run(ctx); err != nil {
			t.Error(err)
		}
	})
	reader := newReader(s)
	helpers.Go(func() { reader.run(ctx) })
	eventually(t, "all that was registered is served", func() bool { return reader.endpoints.Load() == int64(s.endpoints) })

	before, from, begin := cpu(), reader.revision.Load(), time.Now()
	load, end := context.WithTimeout(ctx, s.lasts)
	var renewed, changed atomic.Int64
	var loads sync.WaitGroup
	const renewers = 50
	for r := range renewers {
		loads.Go(func() {
			paced(load, max(1, s.renewals/renewers), func(n int) { s.renew(&renewed, (n*renewers+r)%s.endpoints) })
		})
	}
	loads.Go(func() { paced(load, s.changes, func(n int) { s.change(&changed, n) }) })
	loads.Wait()
	end()
	lasted := time.Since(begin)
	eventually(t, "all changes are served", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.changed) == 0 })
	revisions, used := reader.revision.Load()-from, cpu()-before

	if all := time.Since(begin); revisions > int64(all.Seconds()*10)+12 {
		t.Errorf("%d revisions in %v, want at most 10 a second and some", revisions, all)
	}
	if revisions == 0 || renewed.Load() == 0 || changed.Load() == 0 {
		t.Errorf("nothing was done: %d revisions, %d renewals, %d changes", revisions, renewed.Load(), changed.Load())
	}
	idle := reader.revision.Load()
	s.renew(&renewed, 0)
	if err := s.lookAgain(t.Context()); err != nil {
		t.Error(err)
	}
	if now := reader.revision.Load(); now != idle {
		t.Errorf("a renewal made revision %d", now)
	}
	if n := reader.endpoints.Load(); n != int64(s.endpoints) {
		t.Errorf("%d endpoints are served in the end", n)
	}
	stop()
	helpers.Wait()
	slices.Sort(s.took)
	t.Logf("%d endpoints, %v: %d renewals, %d changes, %d revisions; from a change to its reader p50 %v, p99 %v; %v of processors, %.1f %%", s.endpoints, lasted.Round(time.Millisecond),
		renewed.Load(), changed.Load(), revisions, s.took[len(s.took)/2], s.took[len(s.took)*99/100], used, 100*used.Seconds()/lasted.Seconds())
	for _, table := range []string{"endpoints", "endpoint_leases", "endpoint_clusters", "fleet_history", "resource_history", "resources", "bodies", "audit_events"} {
		conn := db.Connect(t, db.Owner)
		var rows, bytes int64
		if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM `+table+`), pg_total_relation_size('`+table+`')`).Scan(&rows, &bytes); err != nil {
			t.Error(err)
		}
		t.Logf("%-18s %7d rows %9.1f kB", table, rows, float64(bytes)/1024)
		_ = conn.Close(context.Background())
	}
}

// lookAgain is a look of another server.
func (s *soak) lookAgain(ctx context.Context) error {
	keys, err := s.app.SweepEndpoints(ctx)
	for _, k := range keys {
		_, failed := endpoints.NewBuilder(s.app, slog.Default()).Build(ctx, k)
		err = errors.Join(err, failed)
	}
	return err
}

func (s *soak) register() {
	s.Helper()
	s.leases = make([]fleet.LeaseID, s.endpoints)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := w; i < s.endpoints; i += 8 {
				s.leases[i] = fleet.NewLeaseID()
				if _, err := s.app.TakeEndpointLease(s.Context(), s.key.Tenant, s.key.Fleet, store.Actor{Name: "soak"}, store.EndpointLease{ID: s.leases[i], TTL: 10 * time.Minute}); err != nil {
					s.Error(err)
				}
			}
		})
	}
	all.Wait()
	for c := range s.clusters {
		w := store.EndpointWrite{Actor: store.Actor{Name: "soak"}, Cluster: s.cluster(c)}
		for i := c; i < s.endpoints; i += s.clusters {
			w.Set = append(w.Set, s.endpoint(i, 1))
		}
		if _, err := s.app.WriteEndpoints(s.Context(), s.key.Tenant, s.key.Fleet, w); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *soak) renew(n *atomic.Int64, i int) {
	if _, err := s.app.RenewEndpointLease(s.Context(), s.key.Tenant, s.key.Fleet, s.leases[i]); err != nil {
		s.Errorf("renewal of %d: %v", i, err)
		return
	}
	n.Add(1)
}

// change gives an endpoint another weight. One that is on its way is left alone.
func (s *soak) change(done *atomic.Int64, n int) {
	i := n * 7 % s.endpoints
	e := s.endpoint(i, 2+n%1000)
	s.mu.Lock()
	_, busy := s.changed[e.Address]
	if !busy {
		s.changed[e.Address] = change{e.Weight, time.Now()}
	}
	s.mu.Unlock()
	if busy {
		return
	}
	if _, err := s.app.WriteEndpoints(s.Context(), s.key.Tenant, s.key.Fleet, store.EndpointWrite{Actor: store.Actor{Name: "soak"}, Cluster: s.cluster(i), Set: []store.Endpoint{e}}); err != nil {
		s.Errorf("change of %s: %v", e.Address, err)
		return
	}
	done.Add(1)
}

// reader reads what is served, as an xDS server does.
type reader struct {
	*soak
	at                  fleet.Position
	of                  map[string]int // endpoints by cluster
	revision, endpoints atomic.Int64
}

func newReader(s *soak) *reader { return &reader{soak: s, of: map[string]int{}} }

func (r *reader) run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		changes, err := r.node.CatchUp(ctx, []fleet.Known{{Key: r.key, At: r.at}})
		if err != nil || len(changes) == 0 {
			if err != nil && ctx.Err() == nil {
				r.Error(err)
			}
			continue
		}
		if r.at.Revision > 0 && changes[0].Reload {
			r.Error("the reader was told to load anew")
		}
		r.at = changes[0].At
		for _, row := range changes[0].Rows {
			r.take(row)
		}
		total := 0
		for _, n := range r.of {
			total += n
		}
		r.endpoints.Store(int64(total))
		r.revision.Store(int64(r.at.Revision))
	}
}

func (r *reader) take(row fleet.Row) {
	cla := &endpointpb.ClusterLoadAssignment{}
	if err := proto.Unmarshal(row.Body, cla); err != nil || row.Deleted {
		r.Errorf("%s: deleted %t, %v", row.Name, row.Deleted, err)
		return
	}
	n := 0
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range cla.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			n++
			a := e.GetEndpoint().GetAddress().GetSocketAddress()
			address := fmt.Sprintf("%s:%d", a.GetAddress(), a.GetPortValue())
			if c, ok := r.changed[address]; ok && int(e.GetLoadBalancingWeight().GetValue()) == c.weight {
				r.took = append(r.took, time.Since(c.at))
				delete(r.changed, address)
			}
		}
	}
	r.of[row.Name] = n
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit, tick := time.NewTimer(time.Minute), time.NewTicker(20*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	for !holds() {
		select {
		case <-limit.C:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

// cpu is what this process has used: the API server's part, the builder's, and the reader's.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
