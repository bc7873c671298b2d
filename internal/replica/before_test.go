package replica

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// SEMANTICS 3.2: what a node that comes back held when it settled last is known, also to a
// server that has just begun.
func TestWhatANodeHeldBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("changed", "1"), cluster("gone", "1"), cluster("same", "1"))
		w.change(key, cluster("changed", "2"), deleted(fleet.Cluster, "gone"), cluster("new", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true})
		come := func(node string, resumed bool) xds.LastStream {
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: "delta ADS", Resumed: resumed, Delta: true})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Detach(true)
			return a.LastStream()
		}
		for range 2 { // the second one finds it read
			before := come("n", true).Before
			if before == nil || before.Revision != 1 {
				t.Fatalf("before: %+v, want revision 1", before)
			}
			clusters := before.Types[fleet.Cluster]
			for name, want := range map[string]string{"changed": "1", "gone": "1", "same": "1", "new": ""} {
				got := ""
				if r := clusters.Get(name); r != nil {
					got = r.Version
				}
				if got != want {
					t.Errorf("%s was at %q, want %q", name, got, want)
				}
			}
		}
		if w.feed.readAt != 1 {
			t.Errorf("the database was asked %d times, want once", w.feed.readAt)
		}
		w.left("in step", fleet.LastStream{Settled: 2, Clean: true})
		w.left("of a revision that is not kept", fleet.LastStream{Settled: 3, Clean: true})
		for _, node := range []string{"in step", "of a revision that is not kept", "new"} {
			if before := come(node, true).Before; before != nil {
				t.Errorf("%s: before is %+v, want nothing", node, before)
			}
		}
		if come("n", false).Before != nil {
			t.Error("one that comes with nothing is asked about")
		}
	})
}

// What it refused then it did not hold: what stood in for that it did.
func TestWhatANodeRefusedBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("kept", "bad"), cluster("removed", "bad"), cluster("took", "1"))
		w.change(key, cluster("kept", "2"), cluster("removed", "2"), cluster("took", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{
			refused(cluster("kept", "bad"), 1, ptr(cluster("kept", "old"))), refused(cluster("removed", "bad"), 1, nil),
		}})
		before := w.resume(id, "n").LastStream().Before
		if before == nil {
			t.Fatal("it is not known what it held")
		}
		for name, want := range map[string]string{"kept": "old", "removed": "", "took": "1"} {
			got := ""
			if r := before.Types[fleet.Cluster].Get(name); r != nil {
				got = r.Version
			}
			if got != want {
				t.Errorf("%s was at %q, want %q", name, got, want)
			}
		}
		w.left("o", fleet.LastStream{Settled: 2, Refusals: []fleet.Refusal{refused(cluster("took", "2"), 2, ptr(cluster("took", "1")))}})
		at := w.resume(id, "o").LastStream().Before
		if at == nil || at.Types[fleet.Cluster].Get("took").Version != "1" {
			t.Errorf("of what it refused of the present revision it is told to have had %+v, want what stood in", at)
		}
		lost := refused(cluster("kept", "bad"), 1, nil)
		lost.Good, lost.Action = "old", fleet.ActionKept
		w.left("m", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{lost}})
		kept := []fleet.Ref{{Type: fleet.Cluster, Name: "kept"}}
		if before := w.resume(id, "m").LastStream().Before; before == nil || !slices.Equal(before.Unknown, kept) {
			t.Errorf("%+v, but what it held of %v cannot be had", before, kept)
		}
	})
}

// What was withheld from it it did not hold, though it has all else of a later revision than the one it is told to have
// settled. And what it was offered again at that revision it may have taken.
func TestWhatANodeHeldWithoutWhatWasWithheld(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("a", "1"))
		w.change(key, cluster("a", "2"), cluster("b", "2"), cluster("c", "2"))
		l := fleet.Ref{Type: fleet.Listener, Name: "l"}
		again := refused(cluster("c", "2"), 2, nil)
		again.By = 2
		for _, at := range []fleet.Revision{2, 3} { // the present one, and an earlier one
			w.left("n", fleet.LastStream{Settled: 1, Held: fleet.Held{At: 2, Without: []fleet.Ref{l}}, Ended: []fleet.Refusal{again}})
			before := w.resume(id, "n").LastStream().Before
			if before == nil || before.Revision != 2 || before.Types[fleet.Cluster].Get("a").Version != "2" {
				t.Fatalf("at %d: before is %+v", at, before)
			}
			if !before.Unsure(l) || !before.Unsure(fleet.Ref{Type: fleet.Cluster, Name: "c"}) || before.Unsure(fleet.Ref{Type: fleet.Cluster, Name: "b"}) {
				t.Errorf("at %d: unknown are %v", at, before.Unknown)
			}
			w.attach(id, "n").Detach(true)
			w.change(key, cluster("a", "3"))
		}
	})
}

// Those who come back together held one thing: it is made once for all of a view, and for who refused something alone.
func TestWhatNodesHeldBeforeIsShared(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("a", "1"), variantOf("a", "blue", "node.cluster=blue"))
		w.change(key, cluster("a", "3"))
		attach := func(node, group string) *attachment {
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: node, Cluster: group}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true})
			if err != nil {
				t.Fatal(err)
			}
			return a.(*attachment)
		}
		come := func(node, group string, refusals ...fleet.Refusal) *snapshot.Snapshot {
			beside := attach("beside "+node, group)
			beside.Detach(true)
			w.left(node, fleet.LastStream{Settled: 1, Clean: true, Refusals: refusals, View: beside.subscriber.view.id})
			a := attach(node, group)
			defer a.Detach(true)
			return a.LastStream().Before
		}
		one, two, blue := come("one", "red"), come("two", "red"), come("three", "blue")
		if one == nil || one != two {
			t.Errorf("nodes of a view held %p and %p, want one", one, two)
		}
		if blue == nil || blue == one {
			t.Errorf("a node of another view held %p, beside %p", blue, one)
		}
		other := come("four", "red", refused(cluster("a", "1"), 1, nil))
		if other == nil || other == one || other.Types[fleet.Cluster].Get("a") != nil || one.Types[fleet.Cluster].Get("a") == nil {
			t.Errorf("who refused it held %+v, the others %+v", other, one)
		}
	})
}

// Old contents may be as large as the fleet: they go when nobody needs them.
func TestWhatNodesHeldBeforeIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.change(key, cluster("c", "2"))
		w.left("n", fleet.LastStream{Settled: 1, Clean: true})
		kept := func() int {
			w.mu.Lock()
			o := w.fleets[key]
			w.mu.Unlock()
			o.earlier.mu.Lock()
			defer o.earlier.mu.Unlock()
			return len(o.earlier.kept)
		}
		for range 3 {
			a := w.resume(id, "n")
			if a.LastStream().Before == nil || a.LastStream().Before != nil {
				t.Error("it is told once")
			}
			a.Detach(true)
			w.left("n", fleet.LastStream{Settled: 1, Clean: true, At: time.Now().Add(time.Hour)}) // elsewhere meanwhile
			time.Sleep(keepBefore - 10*time.Second)
			if n := kept(); n != 1 {
				t.Fatalf("%d are kept, want it for the next one", n)
			}
		}
		time.Sleep(30 * time.Second)
		if n := kept(); n != 0 {
			t.Errorf("%d are kept", n)
		}
		if w.feed.readAt != 1 {
			t.Errorf("the database was asked %d times, want once", w.feed.readAt)
		}
	})
}

// What it was offered again at the very revision that it settled it may have taken; what was long before that it has taken.
// Who tells it twice tells it once.
func TestWhatANodeWasOfferedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"))
		w.change(key, cluster("c", "good"))
		w.change(key, cluster("c", "bad"))
		w.change(key, cluster("d", "1"))
		w.change(key, cluster("d", "2"))
		first, again := refused(cluster("c", "bad"), 1, nil), refused(cluster("c", "bad"), 3, ptr(cluster("c", "good")))
		first.By = 2 // by the write
		for at, want := range map[fleet.Revision]int{3: 1, 4: 0} {
			again.By = 3 // by a retry
			node := fmt.Sprint("n", at)
			w.left(node, fleet.LastStream{Settled: at, Ended: []fleet.Refusal{again, again, first}})
			before := w.resume(id, node).LastStream().Before
			if before == nil || len(before.Unknown) != want {
				t.Errorf("settled at %d: unknown are %v, want %d", at, before.Unknown, want)
			}
		}
	})
}

// A crowd from which the same is withheld had one thing, with what it had of that before.
func TestWhatACrowdHeldWithoutTheSameIsShared(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("l", "1"), cluster("m", "1"))
		w.change(key, cluster("l", "2"))
		w.change(key, cluster("m", "2"))
		w.change(key, cluster("m", "3"))
		come := func(n string, settled fleet.Revision) *snapshot.Snapshot {
			w.left(n, fleet.LastStream{Settled: settled, Clean: true, Held: fleet.Held{At: 3, Without: []fleet.Ref{{Type: fleet.Cluster, Name: "l"}}}})
			a := w.resume(id, n)
			defer a.Detach(true)
			return a.LastStream().Before
		}
		one, two, never := come("one", 1), come("two", 1), come("three", 0)
		if one == nil || one != two {
			t.Fatalf("two that had the same had %p and %p", one, two)
		}
		if l, m := one.Types[fleet.Cluster].Get("l").Version, one.Types[fleet.Cluster].Get("m").Version; l != "1" || m != "2" {
			t.Errorf("they had l at %s and m at %s, want 1 and 2", l, m)
		}
		if never == nil || never.Types[fleet.Cluster].Get("l") != nil || never.Types[fleet.Cluster].Get("m").Version != "2" {
			t.Errorf("who never had l had %+v", never)
		}
	})
}

// readAside tells of each reading of an earlier revision whether others may come meanwhile.
type readAside struct {
	*feed
	read func()
}

func (f *readAside) ResourcesAt(ctx context.Context, k fleet.Key, r fleet.Revision) ([]fleet.Row, error) {
	f.read()
	return f.feed.ResourcesAt(ctx, k, r)
}

// TestWhatANodeHeldIsReadAside: others may come while an earlier revision is read for it.
func TestWhatANodeHeldIsReadAside(t *testing.T) {
	aside, read, held := false, 0, 0
	f := newFeed()
	w := setupFeed(t, &readAside{f, func() {
		if read++; !aside {
			held++
		}
	}}, f)
	key, id, _ := w.newFleet(cluster("changed", "1"))
	w.feed.write(key, cluster("changed", "2"))
	w.left("n", fleet.LastStream{Known: true, Settled: 1, Clean: true})
	w.attachWhenRunning(id, "other").Detach(true)
	a, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true, Aside: func(wait func()) {
		aside = true
		wait()
		aside = false
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Detach(true)
	if held > 0 || read == 0 {
		t.Errorf("%d of %d readings held others up", held, read)
	}
}

// TestWhatACleanNodeRefusesOfThePresent: what a node that ended clean refuses of the present revision it did not have either: it may be silent of clusters, and be sent them unasked.
func TestWhatACleanNodeRefusesOfThePresent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("took", "1"))
		w.change(key, cluster("took", "2"))
		w.left("o", fleet.LastStream{Settled: 2, Clean: true, Refusals: []fleet.Refusal{refused(cluster("took", "2"), 2, ptr(cluster("took", "1")))}})
		at := w.resume(id, "o").LastStream().Before
		if at == nil || at.Types[fleet.Cluster].Get("took").Version != "1" {
			t.Errorf("it is told to have had %+v, want what stood in", at)
		}
	})
}

// TestThePresentPushesNothingOut: the present content is in memory: that it is kept beside the earlier ones costs no reading of those.
func TestThePresentPushesNothingOut(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		for i := range maxBefore - 1 {
			w.change(key, cluster("c", fmt.Sprint(i+2)))
		}
		now := fleet.Revision(maxBefore)
		bad := refused(cluster("c", fmt.Sprint(now)), now, ptr(cluster("c", "1")))
		for i := range 10 {
			for at := fleet.Revision(1); at < now; at++ {
				n := fmt.Sprint("n", i, at)
				w.left(n, fleet.LastStream{Settled: at, Clean: true})
				a := w.resume(id, n)
				a.LastStream()
				a.Detach(true)
			}
			n := fmt.Sprint("p", i)
			w.left(n, fleet.LastStream{Settled: now, Refusals: []fleet.Refusal{bad}})
			a := w.resume(id, n)
			a.LastStream()
			a.Detach(true)
		}
		if w.feed.readAt != maxBefore-1 {
			t.Errorf("the database was asked %d times, want %d", w.feed.readAt, maxBefore-1)
		}
	})
}

// TestNodesThatRefusedTheSameHadTheSame: what is worked out for the first of a crowd serves all.
func TestNodesThatRefusedTheSameHadTheSame(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		w.change(key, cluster("c", "2"), cluster("d", "2"))
		had := func(node, name string, clean bool) *snapshot.Snapshot {
			w.left(node, fleet.LastStream{Settled: 2, Clean: clean, Refusals: []fleet.Refusal{refused(cluster(name, "2"), 2, ptr(cluster(name, "1")))}})
			return w.resume(id, node).LastStream().Before
		}
		one := had("a", "c", true)
		if another := had("b", "c", false); one == nil || one != another {
			t.Errorf("they had %p and %p", one, another)
		}
		if other := had("o", "d", true); other == one {
			t.Error("who refused something else had the same")
		}
	})
}

// TestInWhateverOrderNodesRefusedTheSame: they had the same.
func TestInWhateverOrderNodesRefusedTheSame(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		w.change(key, cluster("c", "2"), cluster("d", "2"))
		c, d := refused(cluster("c", "2"), 2, ptr(cluster("c", "1"))), refused(cluster("d", "2"), 2, ptr(cluster("d", "1")))
		had := func(node string, rs ...fleet.Refusal) *snapshot.Snapshot {
			w.left(node, fleet.LastStream{Settled: 2, Refusals: rs})
			return w.resume(id, node).LastStream().Before
		}
		if one, other := had("a", c, d), had("b", d, c); one != other {
			t.Errorf("they had %p and %p", one, other)
		}
	})
}

// TestWhatNodesHadOfManyRevisionsIsNotKept: what was worked out of a content that is not kept any more is of no use to anybody.
func TestWhatNodesHadOfManyRevisionsIsNotKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		for i := range 40 {
			v := fmt.Sprint(i + 2)
			w.change(key, cluster("c", v))
			n := fmt.Sprint("n", i)
			now := fleet.Revision(i + 2)
			w.left(n, fleet.LastStream{Settled: now, Clean: true, Refusals: []fleet.Refusal{refused(cluster("c", v), now, ptr(cluster("c", "1")))}})
			a := w.resume(id, n)
			a.LastStream()
			a.Detach(true)
		}
		w.mu.Lock()
		o := w.fleets[key]
		w.mu.Unlock()
		o.earlier.mu.Lock()
		defer o.earlier.mu.Unlock()
		if len(o.earlier.held) > maxBefore {
			t.Errorf("%d views of %d contents are kept", len(o.earlier.held), len(o.earlier.kept))
		}
	})
}

// TestOneMoreOfWhatNodesHadPushesOneOut: and not all that the others share.
func TestOneMoreOfWhatNodesHadPushesOneOut(t *testing.T) {
	t.Parallel()
	es, snap := &earlierContents{}, &snapshot.Snapshot{}
	had := func(i int) *snapshot.Snapshot {
		return es.own(heldKey{snap: snap, names: fmt.Sprint(i)}, func(*snapshot.Snapshot) {})
	}
	var first []*snapshot.Snapshot
	for i := range maxViews {
		first = append(first, had(i))
	}
	had(maxViews)
	kept := 0
	for _, x := range es.held {
		if slices.Contains(first, x) {
			kept++
		}
	}
	if kept != maxViews-1 || len(es.held) != maxViews {
		t.Errorf("of %d %d are kept, %d in all", maxViews, kept, len(es.held))
	}
}
