package replica

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// SEMANTICS 3.2: a refusal outlives its server also if the next one is behind it.
func TestARefusalOfARevisionThatIsNotHereYet(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"), cluster("d", "old"), cluster("f", "old"))
		w.attach(id, "first") // so that the fleet is held
		lost := refused(cluster("f", "bad"), 2, nil)
		lost.Good, lost.Action = "1", fleet.ActionKept
		w.left("n", fleet.LastStream{Settled: 1, Clean: true, Refusals: []fleet.Refusal{
			refused(cluster("c", "bad"), 2, ptr(cluster("c", "old"))),
			refused(cluster("d", "bad"), 2, ptr(cluster("d", "old"))), // over at 3
			refused(cluster("e", "bad"), 2, nil),
			lost,
			refused(cluster("c", "worse"), 9, ptr(cluster("c", "old"))), // further than this server will get
		}})
		a := w.attach(id, "n")
		if got := inForce(a, fleet.Cluster, "c"); got != "old" {
			t.Fatalf("c is at %q before the change", got)
		}
		w.feed.write(key, cluster("c", "bad"), cluster("d", "bad"), cluster("e", "bad"), cluster("f", "bad"))
		w.change(key, cluster("d", "better"))
		for name, want := range map[string]string{"c": "old", "d": "better", "e": "", "f": "bad"} {
			if got := inForce(a, fleet.Cluster, name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		time.Sleep(time.Second)
		if rs := w.sink.allResolved(); len(rs) != 1 || rs[0] != (fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "d", Version: "bad", Offer: 1, By: 3, End: fleet.EndReplaced}) {
			t.Errorf("resolved %+v", rs)
		}
		if rs := w.sink.allRefusals(); len(rs) != 1 || rs[0].Name != "f" || rs[0].Action != fleet.ActionLost {
			t.Errorf("refusals %+v, want that f's last known good version is lost", rs)
		}
	})
}

// SEMANTICS 3.6: a retry ends these as well.
func TestARefusalAheadIsOfferedAgainOnARetry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "old"))
		w.attach(id, "first")
		w.left("n", fleet.LastStream{Refusals: []fleet.Refusal{refused(cluster("c", "bad"), 2, ptr(cluster("c", "old")))}})
		a := w.attach(id, "n")
		w.retry(key, "n")
		w.change(key, cluster("c", "bad"))
		if got := inForce(a, fleet.Cluster, "c"); got != "bad" {
			t.Errorf("c is at %q: what was to be offered again is kept back", got)
		}
	})
}
