package planner_test

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// TestTheMemoIsBounded: whatever streams ask for, what is remembered of it is forgotten when it
// has become too much.
func TestTheMemoIsBounded(t *testing.T) { // not beside others, who allocate too
	const most, pairs = 1 << 20, 3_000
	pl := planner.New(most)
	at := big(pairs)
	target := snapshot.NewTarget(at, nil)
	var keep []*stream
	grown := func(names []string) int64 {
		begin := heap()
		for _, name := range names {
			for range 2 { // what the second one does is remembered
				s := newStream(pl, true)
				s.ask(target, fleet.Endpoint, planner.NamesOf(name))
				s.settle(target)
				keep = append(keep[:0], s)
			}
		}
		return heap() - begin
	}
	names := namesIn(at.Types[fleet.Endpoint])
	first := grown(names[:pairs/10])
	if got := grown(names[pairs/10:]); got > 4*most {
		t.Errorf("%d pairs of streams leave %d bytes behind, the first %d of them %d", pairs, got, pairs/10, first)
	}
	runtime.KeepAlive(keep)
	runtime.KeepAlive(target)
}

// TestAStreamInDoubtTakesNoStepOfOthers who stand where it does: its last one did not end clean,
// so it may have a cluster that they never had, and that is to be taken from it.
func TestAStreamInDoubtTakesNoStepOfOthers(t *testing.T) {
	t.Parallel()
	pl := planner.New(planner.DefaultMemo)
	var good snapshot.Snapshot
	good.Types[fleet.Cluster] = good.Types[fleet.Cluster].With(edsCluster("b", "1", 1))
	more := &snapshot.Snapshot{Revision: 2, Types: good.Types}
	more.Types[fleet.Cluster] = more.Types[fleet.Cluster].With(edsCluster("a", "1", 2))
	excepted := snapshot.NewTarget(more, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("a", "1")}})
	connect := func(past planner.Past) *stream {
		s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Delta: true, Envoy: true}, planner.Origin{Past: past}, false, start), delta: true}
		s.ask(excepted, fleet.Listener, planner.Names{})
		s.settle(excepted)
		has := planner.VersionsOf(map[string]string{"b": "1"})
		s.Request(start, planner.Request{Type: fleet.Cluster, Versions: has}, snapshot.NewTarget(more, nil))
		return s
	}
	for i := range 3 {
		if n := connect(planner.Past{}).settle(excepted); n > 0 {
			t.Fatalf("healthy stream %d is sent %d responses", i, n)
		}
	}
	unclean := connect(planner.Past{Unclean: true, Settled: 1})
	if got := told(unclean.Step(start, excepted).Response); got != "clusters -a" {
		t.Errorf("who may have the cluster is sent %s, want it taken away", got)
	}
}

// TestARevisionIsTheViewsOwn, though another view has the same content since another revision,
// and sets of one content are one set.
func TestARevisionIsTheViewsOwn(t *testing.T) {
	t.Parallel()
	pl := planner.New(planner.DefaultMemo)
	var keep []*stream
	for _, rev := range []fleet.Revision{3, 4} {
		view := &snapshot.Snapshot{Revision: 5}
		view.Types[fleet.Cluster] = view.Types[fleet.Cluster].With(edsCluster("a", "1", 2))
		view.Types[fleet.Listener] = view.Types[fleet.Listener].With(snapshot.NewResource(fleet.Listener, fleet.Row{Name: "l", Version: "1", Revision: rev, Derived: fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Cluster, Name: "a"}}}}, nil))
		target := snapshot.NewTarget(view, []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("a", "1")}})
		s := newStream(pl, true)
		s.ask(target, fleet.Cluster, planner.Names{})
		s.ask(target, fleet.Listener, planner.Names{})
		s.settle(target)
		w := s.Waits(start, target, false)
		if len(w.Withheld) != 1 || w.Withheld[0].Revision != rev {
			t.Errorf("withheld is %+v, want the listener of revision %d", w.Withheld, rev)
		}
		keep = append(keep, s)
	}
	runtime.KeepAlive(keep)
}

// TestTargetsOfBeforeAreForgotten: what is remembered of the present one does not keep those that came before it, one by the other.
func TestTargetsOfBeforeAreForgotten(t *testing.T) {
	t.Parallel()
	pl := planner.New(planner.DefaultMemo)
	at := big(10)
	target := snapshot.NewTarget(at, nil)
	endpoints := planner.NamesOf(namesIn(at.Types[fleet.Endpoint])...)
	streams := make([]*stream, 4)
	for i := range streams {
		streams[i] = newStream(pl, i%2 == 0)
		streams[i].connect(target, endpoints)
	}
	var all []weak.Pointer[snapshot.Target]
	for rev := range fleet.Revision(200) {
		next := &snapshot.Snapshot{Revision: rev + 2, Types: target.Types}
		next.Types[fleet.Endpoint] = next.Types[fleet.Endpoint].With(assignment("cluster-000007", fmt.Sprint("v", rev), rev+2))
		target = snapshot.NewTarget(next, nil)
		all = append(all, weak.Make(target))
		for _, s := range streams {
			s.settle(target)
		}
	}
	runtime.GC()
	alive := 0
	for _, p := range all {
		if p.Value() != nil {
			alive++
		}
	}
	if alive > 5 {
		t.Errorf("%d of %d targets are kept", alive, len(all))
	}
	runtime.KeepAlive(streams)
	runtime.KeepAlive(target)
}
