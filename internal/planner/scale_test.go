package planner_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// big is a fleet of n EDS clusters, each with its endpoints, and one route to the first.
func big(n int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Revision: 1}
	var clusters, endpoints []snapshot.Edit
	for i := range n {
		name := fmt.Sprintf("cluster-%06d", i)
		clusters = append(clusters, snapshot.Edit{New: edsCluster(name, "1", 1)})
		endpoints = append(endpoints, snapshot.Edit{New: assignment(name, "1", 1)})
	}
	s.Types[fleet.Cluster] = s.Types[fleet.Cluster].Apply(clusters)
	s.Types[fleet.Endpoint] = s.Types[fleet.Endpoint].Apply(endpoints)
	s.Types[fleet.Listener] = s.Types[fleet.Listener].With(snapshot.NewResource(fleet.Listener, fleet.Row{Name: "l", Version: "1", Revision: 1, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Route, Name: "r"}}}}, []byte("x")))
	s.Types[fleet.Route] = s.Types[fleet.Route].With(routeTo("cluster-000000", "1", 1))
	return s
}

func edsCluster(name, version string, rev fleet.Revision) *snapshot.Resource {
	return snapshot.NewResource(fleet.Cluster, fleet.Row{
		Name: name, Version: version, Revision: rev,
		Derived: fleet.Derived{EDSName: name, Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: name}}},
	}, make([]byte, 100))
}

func assignment(name, version string, rev fleet.Revision) *snapshot.Resource {
	return snapshot.NewResource(fleet.Endpoint, fleet.Row{Name: name, Version: version, Revision: rev}, make([]byte, 200))
}

func routeTo(cluster, version string, rev fleet.Revision) *snapshot.Resource {
	return snapshot.NewResource(fleet.Route, fleet.Row{
		Name: "r", Version: version, Revision: rev,
		Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: cluster}}},
	}, []byte("x"))
}

// stream is a well-behaved client of a planner that others use too.
type stream struct {
	*planner.Client
	delta bool
	sent  int
}

func newStream(pl *planner.Planner, delta bool) *stream {
	return &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Delta: delta, Envoy: true}, planner.Origin{}, false, start), delta: delta}
}

func (s *stream) ask(target *snapshot.Target, t fleet.Type, names planner.Names) {
	s.Request(start, planner.Request{Type: t, Names: names}, target)
}

// settle answers until nothing is left; it returns how many responses that took.
func (s *stream) settle(target *snapshot.Target) (responses int) {
	for {
		out := s.Step(start, target)
		if out.Response == nil {
			return responses
		}
		out.Response.Body()
		s.sent++
		nonce := strconv.Itoa(s.sent)
		s.Sent(start, out.Response, nonce)
		s.Ack(start, out.Response.Type, nonce, "")
		responses++
	}
}

// connect asks for all that an Envoy asks for.
func (s *stream) connect(target *snapshot.Target, endpoints planner.Names) {
	s.ask(target, fleet.Cluster, planner.Names{})
	s.ask(target, fleet.Listener, planner.Names{})
	s.settle(target)
	s.ask(target, fleet.Endpoint, endpoints)
	s.ask(target, fleet.Route, planner.NamesOf("r"))
	s.settle(target)
}

func namesIn(set *snapshot.Set) (names []string) {
	for _, r := range set.Sorted() {
		names = append(names, r.Name)
	}
	return names
}

// swapped is the fleet with one cluster for another one, to which the route moves.
func swapped(before *snapshot.Snapshot, old, name string, rev fleet.Revision) *snapshot.Snapshot {
	next := &snapshot.Snapshot{Revision: rev, Types: before.Types}
	next.Types[fleet.Cluster] = next.Types[fleet.Cluster].Without(old).With(edsCluster(name, "1", rev))
	next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].Without(old).With(assignment(name, "1", rev))
	next.Types[fleet.Route] = next.Types[fleet.Route].With(routeTo(name, strconv.Itoa(int(rev)), rev))
	return next
}

// swap is what a stream does when that happened.
func (s *stream) swap(target *snapshot.Target, old, name string) {
	s.settle(target)
	if s.delta {
		s.Request(start, planner.Request{Type: fleet.Endpoint, Names: planner.NamesOf(name), Dropped: planner.NamesOf(old)}, target)
	}
	s.settle(target)
}

// TestAStepThatIsRememberedCostsNothing, whatever the fleet's size; a push to a healthy stream
// costs a handful of allocations.
func TestAStepThatIsRememberedCostsNothing(t *testing.T) {
	for _, n := range []int{100, 5_000} {
		pl := planner.New(planner.DefaultMemo)
		before := big(n)
		one := snapshot.NewTarget(before, nil)
		endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
		streams := make([]*stream, 12)
		for i := range streams {
			streams[i] = newStream(pl, true)
			streams[i].connect(one, endpoints)
		}
		s := streams[0]
		if got := testing.AllocsPerRun(100, func() {
			if s.Step(start, one).Response != nil {
				t.Error("there is something to send")
			}
		}); got > 0 {
			t.Errorf("%d clusters: a remembered step allocates %.0f times", n, got)
		}
		next := &snapshot.Snapshot{Revision: 2, Types: before.Types}
		next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].With(assignment("cluster-000007", "2", 2))
		two := snapshot.NewTarget(next, nil)
		streams[11].settle(two) // who comes first works it out
		i := 0
		if got := testing.AllocsPerRun(10, func() { streams[i].settle(two); i++ }); got > 5 {
			t.Errorf("%d clusters: a push allocates %.0f times, want 5 at most", n, got)
		}
	}
}

// TestASwapCostsWhatChanged: not what the fleet has, neither the first stream nor the others.
func TestASwapCostsWhatChanged(t *testing.T) {
	for _, delta := range []bool{true, false} {
		var first, each [2]uint64
		for i, n := range []int{1_000, 16_000} {
			pl := planner.New(planner.DefaultMemo)
			before := big(n)
			one := snapshot.NewTarget(before, nil)
			endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
			streams := make([]*stream, 5)
			for i := range streams {
				streams[i] = newStream(pl, delta)
				streams[i].connect(one, endpoints)
			}
			two := snapshot.NewTarget(swapped(before, "cluster-000000", "new", 2), nil)
			begin := mallocs()
			streams[0].swap(two, "cluster-000000", "new")
			first[i] = mallocs() - begin
			begin = mallocs()
			for _, s := range streams[1:] {
				s.swap(two, "cluster-000000", "new")
			}
			each[i] = (mallocs() - begin) / 4
			if got := streams[4].Settled(); got != 2 {
				t.Errorf("settled at %d", got)
			}
		}
		if first[1] > 4*first[0] && delta { // in state of the world a set is a list of all
			t.Errorf("delta %v: the first stream allocates %d times among 1,000 clusters and %d times among 16,000", delta, first[0], first[1])
		}
		if each[1] > 2*each[0]+20 {
			t.Errorf("delta %v: a stream allocates %d times among 1,000 clusters and %d times among 16,000", delta, each[0], each[1])
		}
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestMemoryOfAStreamInStep: what it keeps for itself does not grow with what it asked for.
func TestMemoryOfAStreamInStep(t *testing.T) {
	for _, n := range []int{1_000, 10_000} {
		pl := planner.New(planner.DefaultMemo)
		before := big(n)
		target := snapshot.NewTarget(before, nil)
		endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
		var earlier [2]*stream // the second one's steps are remembered
		for i := range earlier {
			earlier[i] = newStream(pl, true)
			earlier[i].connect(target, endpoints)
		}
		const streams = 50
		keep := make([]*stream, streams)
		begin := heap()
		for i := range keep {
			keep[i] = newStream(pl, true)
			keep[i].connect(target, endpoints)
		}
		each := (heap() - begin) / streams
		t.Logf("%d endpoints named: %d bytes a stream", n, each)
		if each > 8<<10 {
			t.Errorf("%d endpoints named: %d bytes a stream", n, each)
		}
		runtime.KeepAlive(keep)
		runtime.KeepAlive(earlier)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkSwap is a cluster that goes while another one comes, for the first and for the third
// stream to see it: the cost of all its steps and of what it asks for.
func BenchmarkSwap(b *testing.B) {
	for _, n := range []int{1_000, 4_000, 16_000} {
		for _, who := range []string{"first", "third"} {
			b.Run(fmt.Sprint(n, "/", who), func(b *testing.B) {
				pl := planner.New(planner.DefaultMemo)
				at := big(n)
				names := namesIn(at.Types[fleet.Cluster])
				one, two, three := newStream(pl, true), newStream(pl, true), newStream(pl, true)
				target := snapshot.NewTarget(at, nil)
				one.connect(target, planner.NamesOf(names...))
				two.connect(target, planner.NamesOf(names...))
				three.connect(target, planner.NamesOf(names...))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					old, name := names[i%n], fmt.Sprint("new-", i)
					names[i%n] = name
					at = swapped(at, old, name, fleet.Revision(i+2))
					target = snapshot.NewTarget(at, nil)
					if who == "third" { // the second one's steps are remembered
						one.swap(target, old, name)
						two.swap(target, old, name)
					}
					b.StartTimer()
					three.swap(target, old, name)
				}
			})
		}
	}
}

// BenchmarkConnect is the first connection of 1,000 streams that ask for the same.
func BenchmarkConnect(b *testing.B) {
	const n, streams = 1_000, 1_000
	target := snapshot.NewTarget(big(n), nil)
	endpoints := planner.NamesOf(namesIn(target.Types[fleet.Endpoint])...)
	for b.Loop() {
		pl := planner.New(planner.DefaultMemo)
		for range streams {
			newStream(pl, true).connect(target, endpoints)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
}

// BenchmarkReturn is that of 1,000 streams that report all they have, and are up to date.
func BenchmarkReturn(b *testing.B) {
	const n, streams = 1_000, 1_000
	target := snapshot.NewTarget(big(n), nil)
	endpoints := planner.NamesOf(namesIn(target.Types[fleet.Endpoint])...)
	versions := map[string]string{}
	for r := range target.Types[fleet.Endpoint].All() {
		versions[r.Name] = r.Version
	}
	reported := planner.VersionsOf(versions)
	for b.Loop() {
		pl := planner.New(planner.DefaultMemo)
		for range streams {
			s := newStream(pl, true)
			s.Request(start, planner.Request{Type: fleet.Cluster, Versions: reported}, target)
			s.Request(start, planner.Request{Type: fleet.Endpoint, Names: endpoints, Versions: reported}, target)
			if s.settle(target) > 1 {
				b.Fatal("more than one answer")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
}

// BenchmarkOwn is of streams that share nothing: each asks for its own 100 of 1,000
// assignments (connect), and then sees one of them change (change).
func BenchmarkOwn(b *testing.B) {
	at := big(1_000)
	target := snapshot.NewTarget(at, nil)
	names := namesIn(at.Types[fleet.Endpoint])
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a benchmark's
	pick := func() planner.Names {
		own := make([]string, 0, 100)
		for _, i := range r.Perm(len(names))[:100] {
			own = append(own, names[i])
		}
		return planner.NamesOf(own...)
	}
	connect := func(pl *planner.Planner, own planner.Names) *stream {
		s := newStream(pl, true)
		s.ask(target, fleet.Endpoint, own)
		s.settle(target)
		return s
	}
	b.Run("connect", func(b *testing.B) {
		pl := planner.New(planner.DefaultMemo)
		own := make([]planner.Names, 4096)
		for i := range own {
			own[i] = pick()
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			connect(pl, own[i%len(own)])
		}
	})
	b.Run("change", func(b *testing.B) {
		pl := planner.New(planner.DefaultMemo)
		begin := heap()
		streams := make([]*stream, 1_000)
		for i := range streams {
			streams[i] = connect(pl, pick())
		}
		each := (heap() - begin) / int64(len(streams))
		for i := 0; b.Loop(); i++ {
			next := &snapshot.Snapshot{Revision: fleet.Revision(i + 2), Types: at.Types}
			next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].With(assignment(names[i%1000], strconv.Itoa(i+2), next.Revision))
			at, target = next, snapshot.NewTarget(next, nil)
			for _, s := range streams {
				s.settle(target)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/stream")
		b.ReportMetric(float64(each), "B/stream")
	})
}
