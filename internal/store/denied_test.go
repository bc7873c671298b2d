package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// The database and the code name the same reasons.
func TestDeniedReasonsAreThoseOfTheCode(t *testing.T) {
	w := setup(t)
	var names []string
	for _, r := range fleet.DeniedReasons() {
		names = append(names, string(r))
	}
	if d := cmp.Diff(names, strings1(t, w.super, `SELECT unnest(enum_range(NULL::denied_reason))::text`)); d != "" {
		t.Errorf("(-code +database):\n%s", d)
	}
}

// deniedEvents are the fleet's, newest first.
func (w *world) deniedEvents() (out []store.Event) {
	w.Helper()
	es, _, err := w.app.Events(w.Context(), w.tenant, w.fleet, store.EventFilter{}, store.EventCursor{}, 1000)
	w.ok(err)
	for _, e := range es {
		if e.Kind == store.EventDenied {
			out = append(out, e)
		}
	}
	return out
}

func TestClientsThatAreNotLetInAreEvents(t *testing.T) {
	w := setup(t)
	hour := time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()
	revoked := fleet.Denied{
		Key: w.key(), Reason: fleet.DeniedRevoked, Credential: fleet.NewCredentialID(), Address: "10.0.0.1", Attempts: 3, First: hour, Last: hour.Add(time.Minute),
	}
	other := fleet.Denied{Key: w.key(), Reason: fleet.DeniedNodeID, Node: "core-1", Attempts: 1, First: hour, Last: hour}
	gone := fleet.Denied{Key: fleet.Key{Tenant: w.tenant, Fleet: fleet.NewID()}, Reason: fleet.DeniedToken, Attempts: 1, First: hour, Last: hour}
	w.ok(w.node.TellDenied(t.Context(), []fleet.Denied{revoked, other, gone}))
	_, upto, _, err := w.app.EventsAfter(t.Context(), w.tenant, w.fleet, store.EventPosition{}, 10)
	w.ok(err)
	again := revoked
	again.Attempts, again.First, again.Last = 4, hour.Add(2*time.Minute), hour.Add(3*time.Minute)
	w.ok(w.node.TellDenied(t.Context(), []fleet.Denied{again}))

	// One row with the number and the time of both, which those who read on are told anew.
	want := revoked
	want.Attempts, want.Last, want.Key = 7, again.Last, fleet.Key{}
	es := w.deniedEvents()
	if len(es) != 2 || es[1].Node != "core-1" || es[1].Denied.Credential != (fleet.CredentialID{}) {
		t.Fatalf("%+v", es)
	}
	if d := cmp.Diff(want, es[0].Denied); d != "" || !es[0].At.Equal(again.Last) {
		t.Errorf("%s at %v", d, es[0].At)
	}
	news, _, _, err := w.app.EventsAfter(t.Context(), w.tenant, w.fleet, upto, 10)
	w.ok(err)
	if len(news) != 1 || news[0].Denied.Attempts != 7 || news[0].ID != es[0].ID {
		t.Errorf("who reads on is told %+v", news)
	}
	// No time is ahead of the database's.
	ahead := other
	ahead.Last = time.Now().Add(time.Hour)
	w.ok(w.node.TellDenied(t.Context(), []fleet.Denied{ahead}))
	if es := w.deniedEvents(); es[0].At.After(time.Now().Add(time.Minute)) {
		t.Errorf("an event of %v", es[0].At)
	}
	if n := w.count(`SELECT count(*) FROM node_events`); n != 2 {
		t.Errorf("%d events, one of a fleet that is not there?", n)
	}
}

// Of each fleet the newest hundred stay, whatever comes; others' events are not touched.
func TestTheNewestHundredOfAFleetStay(t *testing.T) {
	w := setup(t)
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id) VALUES ($1, $2, now() - interval '1 day', 'refused', 'old')`, w.tenant.String(), w.fleet.String())
	other := fleet.Key{Tenant: w.tenant, Fleet: w.db.Fleet(t, w.tenant)}
	begin := time.Now().Add(-time.Hour)
	var ds []fleet.Denied
	for i := range 250 {
		at := begin.Add(time.Duration(i) * time.Second)
		ds = append(ds, fleet.Denied{Key: w.key(), Reason: fleet.DeniedNodeID, Node: fmt.Sprint(i), Attempts: 1, First: at, Last: at})
	}
	ds = append(ds, fleet.Denied{Key: other, Reason: fleet.DeniedNodeID, Node: "x", Attempts: 1, First: begin, Last: begin})
	for i := 0; i < len(ds); i += 100 {
		w.ok(w.node.TellDenied(t.Context(), ds[i:min(i+100, len(ds))]))
	}
	es := w.deniedEvents()
	if len(es) != 100 || es[0].Node != "249" || es[99].Node != "150" {
		t.Errorf("%d events, the first of %s", len(es), es[0].Node)
	}
	if n := w.count(`SELECT count(*) FROM node_events`); n != 102 {
		t.Errorf("%d events in all", n)
	}
	gs, _, err := w.app.EventGroups(t.Context(), w.tenant, w.fleet, store.EventFilter{}, store.GroupCursor{}, 10)
	w.ok(err)
	if len(gs) != 2 || gs[0].Denied.Reason != fleet.DeniedNodeID || gs[0].Denied.Attempts != 100 || gs[0].Nodes != 100 || !gs[0].FirstAt.Equal(es[99].Denied.First) {
		t.Errorf("%+v", gs)
	}
}

// To tell costs what is told, and a look at the hundred that stay, whatever else has happened in the fleet.
func TestPlansOfWhoWasNotLetIn(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, node: true, most: 5 * perAnswer * 20, fill: (*world).nodes,
		work: func(w *world, p *planned) {
			var ds []fleet.Denied
			for i := range 20 {
				ds = append(ds, fleet.Denied{Key: w.key(), Reason: fleet.DeniedNodeID, Node: fmt.Sprint("n", i), Attempts: 1, First: time.Now(), Last: time.Now()})
			}
			w.ok(p.TellDenied(w.Context(), ds))
			if n := w.count(`SELECT count(*) FROM node_events WHERE kind = 'denied' AND fleet_id = $1`, w.fleet.String()); n != 20 {
				w.Errorf("%d events", n)
			}
		},
	}.judge(t)
}

func BenchmarkTellDenied(b *testing.B) {
	db := storetest.New(b)
	s, tenant := db.NodeStore(b), db.Tenant(b)
	var ds []fleet.Denied
	for range 10 {
		key := fleet.Key{Tenant: tenant, Fleet: db.Fleet(b, tenant)}
		for i := range 50 {
			ds = append(ds, fleet.Denied{Key: key, Reason: fleet.DeniedNodeID, Node: fmt.Sprint("node-", i), Address: "10.0.0.1", Attempts: 1, First: time.Now(), Last: time.Now()})
		}
	}
	for b.Loop() {
		if err := s.TellDenied(b.Context(), ds); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWhatClientsAskForInVainIsAnEvent: each thing that they ask for is one, which says what it is. A server of before says nothing of that.
func TestWhatClientsAskForInVainIsAnEvent(t *testing.T) {
	w := setup(t)
	at := time.Now().Add(-time.Hour)
	var ds []fleet.Denied
	for _, note := range []string{"clusters with names above 512 bytes", "more than 10000 clusters that the fleet does not have"} {
		ds = append(ds, fleet.Denied{Key: w.key(), Reason: fleet.DeniedNames, Node: "n", Address: "10.0.0.1", Note: note, Attempts: 1, First: at, Last: at})
	}
	w.ok(w.node.TellDenied(t.Context(), append(ds, ds[1])[:2]))
	w.ok(w.node.TellDenied(t.Context(), ds[1:]))
	notes := map[string]int64{}
	for _, e := range w.deniedEvents() {
		notes[e.Note] += e.Denied.Attempts
	}
	if d := cmp.Diff(map[string]int64{ds[0].Note: 1, ds[1].Note: 2}, notes); d != "" {
		t.Error(d)
	}
	_, err := w.super.Exec(t.Context(), `SELECT tell_denied(ARRAY[$1::uuid], ARRAY[$2::uuid], ARRAY['routed'], ARRAY[NULL::uuid], ARRAY['old'], ARRAY[''], ARRAY[1::bigint], ARRAY[now()], ARRAY[now()])`,
		w.tenant, w.fleet)
	w.ok(err)
	if es := w.deniedEvents(); len(es) != 3 || es[0].Node != "old" || es[0].Note != "" {
		t.Errorf("%+v", es)
	}
}
