package store_test

import (
	"reflect"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) set(set store.FleetSettings) {
	w.Helper()
	_, err := w.app.UpdateFleet(w.Context(), w.tenant, actor, w.fleet, set)
	w.ok(err)
}

// SEMANTICS 5.4: seen within the fleet's window.
func TestReceiptWindow(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "gone", Settled: settled(0)}, {Node: "on", Connected: true, Settled: settled(0)}}})
	w.apply(put(fleet.Cluster, "c", "1"))
	w.exec(`UPDATE nodes SET first_seen = now() - interval '3 days', last_seen = now() - interval '2 hours'`)
	for _, c := range []struct {
		window  time.Duration
		offline int
	}{{0, 1}, {time.Hour, 0}, {3 * time.Hour, 1}} {
		w.set(store.FleetSettings{ReceiptWindow: c.window})
		if r := w.receipt(1); r.Counts != (fleet.Counts{Pending: 1, Offline: c.offline}) {
			t.Errorf("%s: %+v", c.window, r.Counts)
		}
	}
}

// SEMANTICS 6.4, 8.1: nodes are forgotten after what the fleet says, and so are tombstones.
func TestForgetNodesAfter(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	s.report(fleet.Status{Nodes: []fleet.NodeStatus{{Node: "gone", Settled: settled(0)}, {Node: "was on", Connected: true, Settled: settled(0)}, on("on")}})
	w.server("other").report(fleet.Status{Nodes: []fleet.NodeStatus{on("on")}})
	s.die()
	w.exec(`UPDATE xds_servers SET lease_until = now() - interval '30 hours' WHERE server_id = $1`, s.id.String())
	w.exec(`UPDATE nodes SET last_seen = now() - interval '30 hours'`)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.apply(del(fleet.Cluster, "c"))
	w.exec(`UPDATE fleet_history SET at = now() - interval '30 hours'`)
	kept := func(nodes, tombstones int) {
		t.Helper()
		w.compactDue()
		if n := w.count(`SELECT count(*) FROM nodes`); n != nodes {
			t.Errorf("%d nodes, want %d", n, nodes)
		}
		if n := w.count(`SELECT count(*) FROM resources WHERE deleted`); n != tombstones {
			t.Errorf("%d tombstones, want %d", n, tombstones)
		}
	}
	kept(3, 1)
	w.set(store.FleetSettings{ForgetNodesAfter: 31 * time.Hour})
	kept(3, 1)
	w.set(store.FleetSettings{ForgetNodesAfter: 29 * time.Hour})
	kept(1, 0)
}

func TestFleetSettingsHaveBounds(t *testing.T) {
	w := setup(t)
	for _, set := range []store.FleetSettings{
		{ReceiptWindow: time.Second}, {ReceiptWindow: 31 * 24 * time.Hour}, {ReceiptWindow: -time.Hour}, {ReceiptWindow: time.Hour + time.Millisecond},
		{ForgetNodesAfter: time.Minute}, {ForgetNodesAfter: 91 * 24 * time.Hour}, {ForgetNodesAfter: 1 << 62},
	} {
		_, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, set)
		w.is(err, fleet.ErrInvalid)
	}
	f, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{})
	w.ok(err)
	if f.ReceiptWindow != 24*time.Hour || f.ForgetNodesAfter != 7*24*time.Hour || f.References != fleet.ReferencesWarn {
		t.Errorf("%+v", f)
	}
	if f, err = w.app.CreateFleetWith(t.Context(), w.tenant, actor, "f2", "", store.FleetSettings{ReceiptWindow: time.Minute, ForgetNodesAfter: time.Hour}); err != nil ||
		f.ReceiptWindow != time.Minute || f.ForgetNodesAfter != time.Hour {
		t.Errorf("%+v, %v", f, err)
	}
}

// What a fleet says of load reports is told to the xDS servers where they do not know it yet.
func TestLoadReportSettings(t *testing.T) {
	w := setup(t)
	read := func(known fleet.KnownLoadSettings) (out []fleet.KnownLoadSettings) {
		t.Helper()
		out, err := w.node.LoadSettings(t.Context(), []fleet.KnownLoadSettings{{Key: fleet.Key{Tenant: w.tenant, Fleet: fleet.NewID()}}, known})
		w.ok(err)
		return out
	}
	at := fleet.KnownLoadSettings{Key: w.key()}
	is := func(want fleet.LoadSettings) {
		t.Helper()
		got := read(at)
		if len(got) != 1 || got[0].Key != at.Key || !reflect.DeepEqual(got[0].LoadSettings, want) {
			t.Fatalf("read %+v, want %+v", got, want)
		}
		at = got[0]
		if again := read(at); len(again) != 0 {
			t.Errorf("what is known is read again: %+v", again)
		}
	}
	interval, none, yes, no := 20*time.Second, time.Duration(0), true, false
	is(fleet.LoadSettings{})
	w.set(store.FleetSettings{LoadReportInterval: &interval})
	is(fleet.LoadSettings{Interval: interval})
	w.set(store.FleetSettings{LoadReportClusters: &[]string{"b", "a"}})
	is(fleet.LoadSettings{Interval: interval, Clusters: []string{"a", "b"}})
	w.set(store.FleetSettings{LoadReportEndpoints: &yes})
	is(fleet.LoadSettings{Interval: interval, Clusters: []string{"a", "b"}, Endpoints: true})
	w.set(store.FleetSettings{LoadReportInterval: &none, LoadReportClusters: &[]string{}, LoadReportEndpoints: &no})
	is(fleet.LoadSettings{})
	for _, bad := range []time.Duration{500 * time.Millisecond, 61 * time.Second, -time.Second} {
		_, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{LoadReportInterval: &bad})
		w.is(err, fleet.ErrInvalid)
	}
	f, err := w.app.CreateFleetWith(t.Context(), w.tenant, actor, "f2", "", store.FleetSettings{LoadReportInterval: &interval, LoadReportClusters: &[]string{"c"}})
	if err != nil || f.LoadReports.Interval != interval || len(f.LoadReports.Clusters) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'fleet.update' AND detail->>'load_report_interval' = '20s' OR detail->>'load_report_clusters' = '2'`); n != 2 {
		t.Errorf("%d events tell of it", n)
	}
}
