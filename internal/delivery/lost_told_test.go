package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// lose has the sink lose all that it holds and the lease with it, as a standby does that was behind when it took over.
func (w *world) lose() {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.until = time.Time{}
	w.sink.models = map[fleet.Key]*model{}
}

// What was told of refusals is lost as well as what was told of nodes: without them a node would seem to have what it refuses.
func TestRefusalsThatWereLostAreToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		refused := func(name string) {
			s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: name, Version: "v", Revision: 1, Detail: "no " + name}})
		}
		refused("stands")
		refused("over")
		s.Settled(1)
		w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "over", Version: "v", By: 1}})
		time.Sleep(5 * time.Second)
		for range 2 { // as often as it is lost
			w.lose()
			time.Sleep(5 * time.Second)
			m := w.sink.model(w.key)
			stands, over := refusalOf("a", fleet.Cluster, "stands", 1), refusalOf("a", fleet.Cluster, "over", 1)
			if m.refusals[stands].Detail != "no stands" || m.resolved[stands] != 0 || m.refusals[over].Detail != "no over" || m.resolved[over] != 1 || m.effective("a") != 1 {
				t.Fatalf("refusals %+v, ended %v, settled %d", m.refusals, m.resolved, m.effective("a"))
			}
		}
		time.Sleep(keepTold + time.Second)
		w.lose()
		time.Sleep(5 * time.Second)
		if m := w.sink.model(w.key); len(m.refusals) != 0 {
			t.Errorf("%d refusals are told that were told long before", len(m.refusals))
		}
	})
}

// TestWordsThatWereToldAreKeptInPart: a client's words are long, and there may be many of them.
func TestWordsThatWereToldAreKeptInPart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		s := w.connect("a")
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1, Detail: strings.Repeat("no", 2<<10)}})
		s.Settled(1)
		time.Sleep(5 * time.Second)
		w.lose()
		time.Sleep(5 * time.Second)
		if got := w.sink.model(w.key).refusals[refusalOf("a", fleet.Cluster, "c", 1)].Detail; got != strings.Repeat("no", maxToldWords/2) {
			t.Errorf("%d bytes are told again, want %d", len(got), maxToldWords)
		}
	})
}

// A node that has gone would be taken for connected for ever: the server that it was on lives.
func TestANodesEndThatWasLostIsToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		a := w.connect("a")
		a.Settled(1)
		w.connect("b").Settled(1)
		time.Sleep(5 * time.Second)
		before := w.sink.model(w.key)
		a.Close(true)
		time.Sleep(5 * time.Second)
		w.lose()
		w.sink.mu.Lock()
		w.sink.models[w.key] = before
		w.sink.mu.Unlock()
		time.Sleep(5 * time.Second)
		if n := w.sink.model(w.key).nodes["a"]; n.Connected {
			t.Errorf("a node that has gone is %+v", n)
		}
	})
}

// Where the history was cut, a revision's number may be another one's by now: what was told is not told again, nor what is on its way. Whoever knows the new
// content tells it, in the words of before. An end is of no revision that there is not.
func TestRefusalsOfACutHistoryAreNotToldAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(9), time.Now())
		s := w.connect("a")
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 8, Detail: "no"}})
		time.Sleep(5 * time.Second)
		w.sink.set(refused)
		s.Refused(t.Context(), []fleet.Refusal{{Type: fleet.Cluster, Name: "d", Version: "v", Revision: 9, Detail: "nor that"}})
		w.Resolved(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "e", Version: "v", By: 9}})
		w.Restart(w.key, mark(5), time.Now())
		w.Refused(w.key, []fleet.Refusal{{Node: "a", Type: fleet.Cluster, Name: "d", Version: "v", Revision: 5, Again: 9}})
		w.sink.set(healthy)
		w.sink.take()
		w.lose()
		time.Sleep(10 * time.Second)
		if m := w.sink.model(w.key); len(m.refusals) != 1 || m.refusals[refusalOf("a", fleet.Cluster, "d", 5)].Detail != "nor that" {
			t.Errorf("refusals %+v", m.refusals)
		}
		for _, r := range w.sink.take() {
			for _, e := range r.Resolved {
				if e.By != 5 {
					t.Errorf("an end by revision %d, of 5", e.By)
				}
			}
		}
	})
}

// What was told is forgotten in time, however many refuse.
func TestWhatWasToldIsBounded(t *testing.T) {
	o := newOutbox()
	now := time.Now()
	for i := range 3 * maxTold {
		o.refuse(fmt.Sprint(i), []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}}, now)
		var s fleet.Status
		ts, _, _ := o.take(&s, 1)
		o.ack(ts, now)
		if len(o.told) > 2*maxTold {
			t.Fatalf("%d are kept", len(o.told))
		}
	}
	o.ack(nil, now.Add(2*keepTold))
	if len(o.told) != 0 {
		t.Errorf("%d are kept for ever", len(o.told))
	}
}
