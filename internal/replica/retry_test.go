package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// retry asks for it and rings the bell.
func (w *world) retry(key fleet.Key, nodes ...string) {
	w.feed.set(func(f *feed) {
		x := f.fleets[key]
		x.epoch++
		for _, n := range nodes {
			x.retries = append(x.retries, retried{n, x.epoch})
		}
	})
	w.Wake(key.Fleet, false)
	synctest.Wait()
}

// SEMANTICS 3.6: on a retry the exceptions end, and the stream offers it all once more.
func TestARetryOffersAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"))
		a, b, other := w.attach(id, "n"), w.attach(id, "m"), w.attach(id, "other")
		for _, x := range []*attachment{a, b, other} {
			refuse(t, x, "c", nil)
			changed(x)
		}
		w.retry(key, "n", "m", "nobody")
		if !changed(a) || !changed(b) || changed(other) {
			t.Error("the streams of these two look again, the others do not")
		}
		if inForce(a, fleet.Cluster, "c") != "bad" || inForce(other, fleet.Cluster, "c") != "" {
			t.Error("the exceptions of the retried nodes end, the others stand")
		}
		if a.Current().Retries != 1 || a.Current() != b.Current() || other.Current().Retries != 0 {
			t.Errorf("retries %d, shared %v, of the other %d", a.Current().Retries, a.Current() == b.Current(), other.Current().Retries)
		}
		time.Sleep(time.Second)
		if rs := w.sink.allResolved(); len(rs) != 2 || rs[0].By != 1 || rs[0].Offer != refusal.FirstOffer(1) || rs[1].Offer != rs[0].Offer {
			t.Errorf("resolved %+v", rs)
		}
		refuse(t, a, "c", nil)
		if inForce(a, fleet.Cluster, "c") != "" || a.Current().Retries != 1 {
			t.Error("refused again it is kept back again, and nothing is retried by itself")
		}
		w.change(key, cluster("d", "2"))
		if b.Current().Retries != 1 || inForce(b, fleet.Cluster, "d") != "2" || a.Current().Retries != 1 {
			t.Error("a new view forgets the retries")
		}
		w.retry(key, "n")
		if a.Current().Retries != 2 || inForce(a, fleet.Cluster, "c") != "bad" {
			t.Error("the second retry")
		}
		for _, x := range []*attachment{a, b, other} {
			x.Detach(true)
		}
		w.change(key, deleted(fleet.Cluster, "c"))
		if n, x := w.nodes(key); n+x != 0 {
			t.Errorf("left behind: %d nodes, %d with exceptions", n, x)
		}
	})
}

func TestARetryOfANodeThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"))
		a := w.attach(id, "n")
		refuse(t, a, "c", nil)
		a.Detach(true)
		w.retry(key, "n")
		if n, x := w.nodes(key); n+x != 0 {
			t.Errorf("left behind: %d nodes, %d with exceptions", n, x)
		}
		if a := w.attach(id, "n"); inForce(a, fleet.Cluster, "c") != "bad" {
			t.Error("it is not offered again")
		}
	})
}

// What was read of a node before a retry was heard of must not undo it.
func TestARetryWhileAStreamComes(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"))
		w.attach(id, "first")
		w.left("n", fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 1, nil)}})
		w.feed.set(func(f *feed) { f.pastTook = 100 * time.Millisecond })
		done := make(chan *attachment)
		go func() { done <- w.attach(id, "n") }()
		synctest.Wait()
		w.retry(key, "n")
		if a := <-done; inForce(a, fleet.Cluster, "c") != "bad" {
			t.Error("the exception is back")
		}
	})
}

// SEMANTICS 3.6: a client that casts doubt on an exception ends it, for its node alone.
func TestAnExceptionInDoubtEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"))
		a, other := w.attach(id, "n"), w.attach(id, "other")
		for _, x := range []*attachment{a, other} {
			refuse(t, x, "c", nil)
			refuse(t, x, "d", nil)
		}
		a.Reconsider([]refusal.Key{{Type: fleet.Cluster, Name: "c", Version: "bad"}, {Type: fleet.Cluster, Name: "d", Version: "of before"}})
		for x, want := range map[*attachment][2]string{a: {"bad", ""}, other: {"", ""}} {
			if got := [2]string{inForce(x, fleet.Cluster, "c"), inForce(x, fleet.Cluster, "d")}; got != want {
				t.Errorf("c and d are at %q, want %q", got, want)
			}
		}
		time.Sleep(time.Second)
		rs := w.sink.allResolved()
		if len(rs) != 1 || rs[0].Node != "n" || rs[0].Name != "c" || rs[0].Version != "bad" || rs[0].Offer != refusal.FirstOffer(1) {
			t.Errorf("resolved %+v, want c of n", rs)
		}
	})
}
