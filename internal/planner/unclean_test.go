package planner_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// changedIn is the fleet with another version of the first n clusters and of their endpoints.
func changedIn(before *snapshot.Snapshot, n int) *snapshot.Snapshot {
	next := &snapshot.Snapshot{Revision: before.Revision + 1, Types: before.Types}
	var clusters, endpoints []snapshot.Edit
	for i := range n {
		name, version := fmt.Sprintf("cluster-%06d", i), strconv.Itoa(int(next.Revision))
		clusters = append(clusters, snapshot.Edit{Old: before.Types[fleet.Cluster].Get(name), New: edsCluster(name, version, next.Revision)})
		endpoints = append(endpoints, snapshot.Edit{Old: before.Types[fleet.Endpoint].Get(name), New: assignment(name, version, next.Revision)})
	}
	next.Types[fleet.Cluster] = next.Types[fleet.Cluster].Apply(clusters)
	next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].Apply(endpoints)
	next.Follow(before, snapshot.Change{Resources: 2 * n})
	return next
}

// returning is a client of a server that died: a new process, or the same one, which reports what it had.
type returning struct {
	name  string
	delta bool
	past  planner.Past
	same  bool
}

// requests are what it says of each type as it comes.
func (r returning) requests(before *snapshot.Snapshot, endpoints planner.Names) (all []planner.Request) {
	all = []planner.Request{{Type: fleet.Cluster}, {Type: fleet.Endpoint, Names: endpoints}, {Type: fleet.Listener}, {Type: fleet.Route, Names: planner.NamesOf("r")}}
	for i := range all {
		switch held := before.Types[all[i].Type]; {
		case !r.same:
		case r.delta:
			all[i].Versions = planner.VersionsOf(contents(held))
		default:
			all[i].Version = held.Sum().String()
		}
	}
	return all
}

// open is a stream on which the client has asked for everything.
func (r returning) open(pl *planner.Planner, before *snapshot.Snapshot, target *snapshot.Target, requests []planner.Request) *stream {
	o := planner.Origin{Past: r.past}
	if r.past.Unclean {
		o.Before = before
	}
	s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Delta: r.delta, Envoy: true}, o, true, start), delta: r.delta}
	for _, q := range requests {
		s.Request(start, q, target)
	}
	s.Opened(start)
	return s
}

// sendAll sends all that needs no answer to what was sent before. It returns the types.
func (s *stream) sendAll(target *snapshot.Target) (open []fleet.Type) {
	for out := s.Step(start, target); out.Response != nil; out = s.Step(start, target) {
		out.Response.Body()
		s.sent++
		s.Sent(start, out.Response, strconv.Itoa(s.sent))
		open = append(open, out.Response.Type)
	}
	return open
}

// answer ACKs what sendAll has sent first, and all that follows.
func (s *stream) answer(target *snapshot.Target, open []fleet.Type) {
	for i, typ := range open {
		s.Ack(start, typ, strconv.Itoa(i+1), "")
	}
	s.settle(target)
}

// ways are those in which a client comes back from a server that died, beside one that connects for the first time.
func ways() []returning {
	died := planner.Past{Unclean: true, Settled: 1}
	return []returning{
		{"delta/first connect", true, planner.Past{}, false},
		{"delta/new process", true, died, false},
		{"delta/same process", true, died, true},
		{"sotw/first connect", false, planner.Past{}, false},
		{"sotw/new process", false, died, false},
		{"sotw/same process", false, died, true},
	}
}

// TestWhoComesBackFromAServerThatDied shares what is in doubt with those who come beside it: after the second next to nothing is worked out
// any more, and what a stream takes for itself does not grow with what is in doubt.
func TestWhoComesBackFromAServerThatDied(t *testing.T) { // not beside others, who allocate too
	const n, streams = 1_000, 20
	for _, changed := range []int{1, n} {
		before := big(n)
		target := snapshot.NewTarget(changedIn(before, changed), nil)
		endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
		for _, r := range ways() {
			requests := r.requests(before, endpoints)
			pl := planner.New(planner.DefaultMemo)
			all := make([]*stream, 2+streams)
			open := make([][]fleet.Type, 2+streams)
			come := func(i int) {
				all[i] = r.open(pl, before, target, requests)
				open[i] = all[i].sendAll(target)
			}
			for i := range 2 { // the second one's steps are remembered
				come(i)
				all[i].answer(target, open[i])
			}
			walks, begin := pl.Stats().Walks, heap()
			for i := 2; i < len(all); i++ {
				come(i)
			}
			if each := (heap() - begin) / streams; each > 32<<10 {
				t.Errorf("%s, %d changed: %d bytes a stream", r.name, changed, each)
			}
			for i := 2; i < len(all); i++ {
				all[i].answer(target, open[i])
				if s := all[i]; s.Settled() != target.Revision || !s.Clean() {
					t.Errorf("%s: settled at %d, clean: %v", r.name, s.Settled(), s.Clean())
				}
			}
			if got := pl.Stats().Walks - walks; got > streams/2 { // a set that nobody has for a moment is another one, and so is who stands there
				t.Errorf("%s, %d changed: %d steps are worked out for %d streams", r.name, changed, got, streams)
			}
			runtime.KeepAlive(all)
		}
	}
}

// BenchmarkUnclean is what a stream costs whose node was on a server that died, while so many of 1,000 clusters changed: its
// time, the bytes that it takes while its responses are not answered, and how many steps are worked out for it.
func BenchmarkUnclean(b *testing.B) {
	const n, streams = 1_000, 200
	for _, changed := range []int{1, n} {
		before := big(n)
		target := snapshot.NewTarget(changedIn(before, changed), nil)
		endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
		for _, r := range ways() {
			requests := r.requests(before, endpoints)
			b.Run(fmt.Sprint(r.name, "/", changed, " changed"), func(b *testing.B) {
				var each, walks int64
				for b.Loop() {
					pl := planner.New(planner.DefaultMemo)
					all := make([]*stream, streams)
					b.StopTimer()
					begin := heap()
					b.StartTimer()
					open := make([][]fleet.Type, streams)
					for i := range all {
						all[i] = r.open(pl, before, target, requests)
						open[i] = all[i].sendAll(target)
					}
					b.StopTimer()
					each = (heap() - begin) / streams
					b.StartTimer()
					for i, s := range all {
						s.answer(target, open[i])
						if s.Settled() != target.Revision {
							b.Fatalf("settled at %d", s.Settled())
						}
					}
					walks = pl.Stats().Walks
					runtime.KeepAlive(all)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
				b.ReportMetric(float64(each), "B/stream")
				b.ReportMetric(float64(walks)/streams, "walks/stream")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// refuse has a stream that is in step refuse the next fleet's clusters, all of them new, for one of them; it returns the target with that
// one kept back, which the streams that refuse the same share.
func (s *stream) refuse(t testing.TB, next *snapshot.Target, kept func(snapshot.Verdict) *snapshot.Target) *snapshot.Target {
	t.Helper()
	s.sent = 1_000
	s.sendAll(next)
	found, _ := s.Nack(start, fleet.Cluster, "1001", says(fleet.Cluster, "cluster-000007"))
	if len(found.Verdicts) != 1 || len(found.Verdicts[0].Blame) != 1 {
		t.Fatalf("found %+v", found)
	}
	return kept(found.Verdicts[0])
}

// keeps makes the targets of streams that refuse something, one for all that refuse the same.
func keeps(snap *snapshot.Snapshot) func(snapshot.Verdict) *snapshot.Target {
	made := map[string]*snapshot.Target{}
	return func(v snapshot.Verdict) *snapshot.Target {
		b := v.Blame[0]
		if made[b.Refused.Name] == nil {
			made[b.Refused.Name] = snapshot.NewTarget(snap, []snapshot.Exception{{Type: v.Type, Refused: b.Refused, Good: b.Good}})
		}
		return made[b.Refused.Name]
	}
}

// TestWhoRefusesTheSame shares what repairs that: all that stood in the refused response goes out again.
func TestWhoRefusesTheSame(t *testing.T) { // not beside others, who allocate too
	const n, streams = 1_000, 20
	pl, before := planner.New(planner.DefaultMemo), big(n)
	one := snapshot.NewTarget(before, nil)
	next := changedIn(before, n)
	two, kept := snapshot.NewTarget(next, nil), keeps(next)
	endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
	all := make([]*stream, 2+streams)
	for i := range all {
		all[i] = newStream(pl, true)
		all[i].connect(one, endpoints)
	}
	for _, s := range all[:2] {
		s.refuse(t, two, kept)
		s.sendAll(kept(snapshot.Verdict{Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: next.Types[fleet.Cluster].Get("cluster-000007")}}}))
	}
	walks, begin := pl.Stats().Walks, heap()
	for _, s := range all[2:] {
		s.sendAll(s.refuse(t, two, kept))
	}
	if each := (heap() - begin) / streams; each > 32<<10 {
		t.Errorf("%d bytes a stream", each)
	}
	if got := pl.Stats().Walks - walks; got > streams/2 {
		t.Errorf("%d steps are worked out for %d streams", got, streams)
	}
	runtime.KeepAlive(all)
}

// BenchmarkRefuse is what a stream costs that refuses one of so many clusters that changed together, from the response to what repairs it.
func BenchmarkRefuse(b *testing.B) {
	const n, streams = 1_000, 200
	before := big(n)
	endpoints := planner.NamesOf(namesIn(before.Types[fleet.Endpoint])...)
	for _, changed := range []int{10, n} {
		b.Run(fmt.Sprint(changed, " changed"), func(b *testing.B) {
			next := changedIn(before, changed)
			for b.Loop() {
				b.StopTimer()
				pl, one, two, kept := planner.New(planner.DefaultMemo), snapshot.NewTarget(before, nil), snapshot.NewTarget(next, nil), keeps(next)
				all := make([]*stream, streams)
				for i := range all {
					all[i] = newStream(pl, true)
					all[i].connect(one, endpoints)
				}
				b.StartTimer()
				for _, s := range all {
					s.sendAll(s.refuse(b, two, kept))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "us/stream")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestWhoRefusesHavingGivenUpANameHoldsItNoMore, though others refuse the same response who have it.
func TestWhoRefusesHavingGivenUpANameHoldsItNoMore(t *testing.T) {
	t.Parallel()
	pl, before := planner.New(planner.DefaultMemo), big(3)
	one, two := snapshot.NewTarget(before, nil), snapshot.NewTarget(changedIn(before, 1), nil)
	names := namesIn(before.Types[fleet.Endpoint])
	all := make([]*stream, 3) // the second one's response is remembered
	for i := range all {
		all[i] = newStream(pl, true)
		all[i].ask(one, fleet.Endpoint, planner.NamesOf(names...))
		all[i].settle(one)
		all[i].sendAll(two)
	}
	last := all[2]
	last.Request(start, planner.Request{Type: fleet.Endpoint, Dropped: planner.NamesOf(names[2])}, two)
	for _, s := range all {
		s.Nack(start, fleet.Endpoint, strconv.Itoa(s.sent), "no")
	}
	var holds []string
	held, _ := last.Holdings(fleet.Endpoint, two)
	for _, h := range held {
		holds = append(holds, h.Name)
	}
	if !slices.Equal(holds, names[:2]) {
		t.Errorf("it holds %v, want %v", holds, names[:2])
	}
}
