package replica

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/xds"
)

// resume attaches a node that says at once that it holds something.
func (w *world) resume(id xds.Identity, node string) *attachment {
	w.t.Helper()
	a, err := w.Attach(w.t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true})
	if err != nil {
		w.t.Fatalf("attach %s: %v", node, err)
	}
	return a.(*attachment)
}

// resolvedNames are the clusters whose refusals have ended.
func (w *world) resolvedNames(node string) (names []string) {
	for _, r := range w.sink.allResolved() {
		if r.Node == node {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// SEMANTICS 3.4: a node of which nothing can be found out is believed nothing, and what it
// refused is remembered as soon as it can be read.
func TestAPastThatCannotBeReadIsAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "better"), cluster("e", "took"))
		w.attach(id, "first")
		past := fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{
			refused(cluster("c", "bad"), 1, ptr(cluster("c", "old"))),
			refused(cluster("d", "bad"), 1, nil), // over by now
			refused(cluster("e", "took"), 1, nil),
			refused(cluster("f", "bad"), 2, ptr(cluster("f", "old"))), // of a revision that comes later
		}}
		for _, n := range []string{"old", "took", "new", "gone"} {
			w.left(n, past)
		}
		w.feed.set(func(f *feed) { f.hangs = true })
		old, took, fresh, gone := w.resume(id, "old"), w.resume(id, "took"), w.attach(id, "new"), w.resume(id, "gone")
		for a, want := range map[*attachment]xds.LastStream{old: {Known: true}, took: {Known: true}, fresh: {}} {
			if a.LastStream() != want {
				t.Errorf("past %+v, want %+v", a.LastStream(), want)
			}
			changed(a)
		}
		refuse(t, old, "e", nil)
		took.Settled(1)
		gone.Detach(true)
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for name, c := range map[string]struct {
			a        *attachment
			c, e     string
			resolved []string
		}{
			"old":  {old, "old", "", []string{"d"}},
			"took": {took, "bad", "took", []string{"c", "d", "e"}},
			"new":  {fresh, "bad", "took", []string{"c", "d", "e"}}, // it is offered it all
		} {
			if got := inForce(c.a, fleet.Cluster, "c"); got != c.c {
				t.Errorf("%s: c is at %q, want %q", name, got, c.c)
			}
			if got := inForce(c.a, fleet.Cluster, "e"); got != c.e {
				t.Errorf("%s: e is at %q, want %q", name, got, c.e)
			}
			if got := w.resolvedNames(name); !slices.Equal(got, c.resolved) {
				t.Errorf("%s: resolved %q, want %q", name, got, c.resolved)
			}
			if !changed(c.a) {
				t.Errorf("%s does not look again", name)
			}
		}
		if got := w.resolvedNames("gone"); got != nil {
			t.Errorf("of a node that has gone: resolved %q", got)
		}
		asked := w.feed.counts().asked
		w.change(key, cluster("f", "bad"))
		if got := inForce(old, fleet.Cluster, "f"); got != "old" {
			t.Errorf("f is at %q, want what stands in", got)
		}
		time.Sleep(time.Minute)
		if n := w.feed.counts().asked; n != asked {
			t.Errorf("asked %d times more", n-asked)
		}
	})
}

// Pasts are asked for some at a time, until all are read.
func TestManyPastsThatCouldNotBeRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.hangs = true })
		const many = 3*nodesAtOnce + 1
		all := make([]*attachment, many)
		done := make(chan struct{})
		for i := range all {
			node := string(rune('A' + i))
			w.left(node, fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, ptr(cluster("c", "old")))}})
			go func() { all[i] = w.resume(id, node); done <- struct{}{} }()
		}
		for range all {
			<-done
		}
		before := w.feed.counts().asked
		time.Sleep(time.Minute)
		if n := w.feed.counts().asked - before; n > 30 {
			t.Errorf("asked %d times in a minute", n)
		}
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		for i, a := range all {
			if got := inForce(a, fleet.Cluster, "c"); got != "old" {
				t.Errorf("%d: c is at %q", i, got)
			}
		}
	})
}

// A crowd that comes back at once waits for its turn: nobody of it is taken for unknown.
func TestACrowdIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.pastTook = 20 * time.Millisecond })
		const many = 300
		done := make(chan *attachment)
		for i := range many {
			node := fmt.Sprint("n", i)
			w.left(node, fleet.LastStream{Settled: 1, Clean: true})
			go func() { done <- w.resume(id, node) }()
		}
		for range many {
			if p := (<-done).LastStream(); p != (xds.LastStream{Known: true, Settled: 1, Clean: true}) {
				t.Errorf("past %+v", p)
			}
		}
	})
}

// A database that takes its time tells of all of them all the same.
func TestLatePastsOfASlowDatabaseAreRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"))
		w.feed.set(func(f *feed) { f.hangs = true })
		var all []*attachment
		for _, node := range []string{"n", "m"} {
			w.left(node, fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{
				refused(cluster("c", "bad"), 1, ptr(cluster("c", "old"))),
			}})
			all = append(all, w.resume(id, node))
		}
		w.feed.set(func(f *feed) { f.hangs, f.pastTook = false, 900*time.Millisecond })
		time.Sleep(time.Minute)
		for _, a := range all {
			if got := inForce(a, fleet.Cluster, "c"); got != "old" {
				t.Errorf("c is at %q, want what stands in", got)
			}
		}
	})
}

// Late pasts hold up no change of the fleet, however slowly the database answers.
func TestLatePastsHoldUpNoChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		first := w.attach(id, "first")
		w.feed.set(func(f *feed) { f.hangs = true })
		for i := range 2 * nodesAtOnce {
			w.left(string(rune('A'+i)), fleet.LastStream{Settled: 1})
			w.resume(id, string(rune('A'+i)))
		}
		w.feed.set(func(f *feed) { f.hangs, f.pastTook = false, 900*time.Millisecond })
		time.Sleep(6 * time.Second)
		begun := time.Now()
		w.feed.write(key, cluster("c", "2"))
		w.Wake(key.Fleet, false)
		synctest.Wait()
		for inForce(first, fleet.Cluster, "c") != "2" && time.Since(begun) < time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("the change took %s", took)
		}
	})
}

// Streams beside a node's first one ask for nothing where the node is at the head.
func TestStreamsBesideTheFirstAskNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.left("n", fleet.LastStream{Settled: 1, Clean: true})
		come := func() {
			if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta EDS", Resumed: true}); err != nil {
				t.Fatal(err)
			}
		}
		come()
		before := w.feed.counts().asked
		for range 50 {
			come()
		}
		if n := w.feed.counts().asked - before; n > 0 {
			t.Errorf("asked %d times more", n)
		}
	})
}

// TestT41_ALatePastIsOfBefore: what was refused with a stream's node id after the stream
// began, another one refused.
func TestT41_ALatePastIsOfBefore(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "2"), cluster("d", "2"))
		w.attach(id, "first")
		before, since := refused(cluster("c", "2"), 1, nil), refused(cluster("d", "2"), 1, nil)
		before.At, since.At = time.Now(), time.Now().Add(2*time.Second)
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{before, since}})
		w.feed.set(func(f *feed) { f.hangs = true })
		a := w.resume(id, "n")
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c, d := inForce(a, fleet.Cluster, "c"), inForce(a, fleet.Cluster, "d"); c != "" || d != "2" {
			t.Errorf("c is at %q and d at %q", c, d)
		}
	})
}

// What the client has cast doubt on stays ended when its past comes late: else the server withheld what the database, which
// was told of the end, does not know to be refused.
func TestALatePastBringsNothingBackThatIsInDoubt(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"))
		w.attach(id, "first")
		a := w.attach(id, "n")
		refuse(t, a, "c", nil)
		refuse(t, a, "d", nil)
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, nil), refused(cluster("d", "bad"), 1, nil)}})
		a.Detach(true)
		w.feed.set(func(f *feed) { f.hangs = true })
		a = w.resume(id, "n")
		a.Reconsider([]refusal.Key{{Type: fleet.Cluster, Name: "c", Version: "bad"}})
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c, d := inForce(a, fleet.Cluster, "c"), inForce(a, fleet.Cluster, "d"); c != "bad" || d != "" {
			t.Errorf("c is at %q and d at %q, want c offered again and d withheld", c, d)
		}
		if got := w.resolvedNames("n"); !slices.Contains(got, "c") || slices.Contains(got, "d") {
			t.Errorf("resolved %q", got)
		}
	})
}

// A version that was refused anew since its first refusal ended is refused still.
func TestALatePastIsNotTakenForAnEarlierOne(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"))
		w.attach(id, "first")
		a := w.attach(id, "n")
		refuse(t, a, "c", nil)
		refuse(t, a, "d", nil)
		w.change(key, cluster("c", "good"))
		a.Detach(true)
		w.change(key, cluster("c", "bad")) // refused anew on another server
		time.Sleep(time.Second)
		w.left("n", fleet.LastStream{Settled: 1, Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 3, nil), refused(cluster("d", "bad"), 1, nil)}})
		w.feed.set(func(f *feed) { f.hangs = true })
		a = w.resume(id, "n")
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if c, d := inForce(a, fleet.Cluster, "c"), inForce(a, fleet.Cluster, "d"); c != "" || d != "" {
			t.Errorf("c is at %q and d at %q, want both withheld", c, d)
		}
		if got := w.resolvedNames("n"); slices.Contains(got, "d") {
			t.Errorf("resolved %q", got)
		}
	})
}
