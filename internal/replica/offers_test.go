package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
)

// TestOffersOfANodeOnlyGrow: across streams, revisions, retries and what the database knows.
func TestOffersOfANodeOnlyGrow(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"))
		w.left("known", fleet.LastStream{Settled: 1, Offer: refusal.FirstOffer(1) + 7})
		last := func(node string) fleet.Offer {
			t.Helper()
			time.Sleep(time.Second)
			rs := w.sink.refusalsOf(node)
			if len(rs) == 0 {
				t.Fatalf("%s refuses nothing", node)
			}
			return rs[len(rs)-1].Offer
		}
		a, b := w.attach(id, "new"), w.attach(id, "known")
		refuse(t, a, "c", nil)
		refuse(t, b, "c", nil)
		if x, y := last("new"), last("known"); x != refusal.FirstOffer(1) || y != refusal.FirstOffer(1)+8 {
			t.Errorf("a new node refuses in offer %d, and one that was in others before in %d", x, y)
		}
		w.retry(key, "known")
		refuse(t, b, "c", nil)
		if x := last("known"); x <= refusal.FirstOffer(1)+8 {
			t.Errorf("after a retry it refuses in offer %d", x)
		}
		b.Detach(false)
		w.left("known", fleet.LastStream{Settled: 1}) // by a database that has not heard of it
		b = w.attach(id, "known")
		refuse(t, b, "d", nil)
		if x := last("known"); x <= refusal.FirstOffer(1)+8 {
			t.Errorf("on its next stream it refuses in offer %d", x)
		}
		w.change(key, cluster("d", "bad"))
		refuse(t, a, "d", nil)
		if x := last("new"); x < refusal.FirstOffer(2) {
			t.Errorf("what a later revision brought is refused in offer %d", x)
		}
	})
}

// TestANodeOfWhichNothingCouldBeReadRefusesInNoOfferThatIsOver until its past is read.
func TestANodeOfWhichNothingCouldBeReadRefusesInNoOfferThatIsOver(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "bad"))
		w.attach(id, "first")
		w.left("n", fleet.LastStream{Settled: 1, Offer: refusal.UnknownOffer(1) + 9})
		w.feed.set(func(f *feed) { f.hangs = true })
		a := w.resume(id, "n")
		refuse(t, a, "c", nil)
		w.feed.set(func(f *feed) { f.hangs = false })
		time.Sleep(10 * time.Second)
		refuse(t, a, "d", nil)
		time.Sleep(time.Second)
		rs := w.sink.refusalsOf("n")
		if len(rs) != 2 || rs[0].Offer != refusal.UnknownOffer(1) || rs[1].Offer != refusal.UnknownOffer(1)+10 {
			t.Errorf("refused is %+v", rs)
		}
	})
}
