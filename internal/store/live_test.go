package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// marks are those of the world's fleet.
func (w *world) marks() store.FleetMarks {
	w.Helper()
	all, err := w.app.Marks(w.Context(), []fleet.Key{w.key()})
	w.ok(err)
	return all[w.key()]
}

// moved names the marks that are other than before.
func moved(was, is store.FleetMarks) (names string) {
	for _, m := range []struct{ name, was, is string }{
		{"revision", was.Revision, is.Revision}, {"settings", was.Settings, is.Settings}, {"nodes", was.Nodes, is.Nodes}, {"events", was.Events, is.Events},
	} {
		if m.was != m.is {
			names += m.name + " "
		}
	}
	return names
}

// Each kind of change moves its marks, and what changes nothing moves none.
func TestMarksMoveWithWhatChanges(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	node := fleet.NodeStatus{Node: "n", Connected: true, Since: time.Now()}
	refusal := fleet.Refusal{Node: "n", Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1, Detail: "no", At: time.Now()}
	none := int64(86400)
	for _, step := range []struct {
		what, want string
		do         func()
	}{
		{"nothing", "", func() {}},
		{"a write", "revision ", func() { w.apply(put(fleet.Cluster, "a", "1")) }},
		{"the same again", "", func() { w.apply(put(fleet.Cluster, "a", "1")) }},
		{"a node comes", "nodes ", func() { s.report(fleet.Status{Settled: 0, Nodes: []fleet.NodeStatus{node}}) }},
		{"an empty report", "", func() { s.report(fleet.Status{Settled: 0}) }},
		{"the server settles", "nodes ", func() { s.report(fleet.Status{Settled: 1}) }},
		{"a part of a report", "nodes ", func() { s.report(fleet.Status{Settled: 1, Partial: true, Nodes: []fleet.NodeStatus{node}}) }},
		{"a refusal", "nodes events ", func() {
			s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{node}, Refusals: []fleet.Refusal{refusal}})
		}},
		{"an ACK", "nodes ", func() {
			s.report(fleet.Status{Settled: 1, Delivered: []fleet.Delivered{{Revision: 1, Affected: 1, Acked: 1}}})
		}},
		{"a setting", "settings nodes ", func() {
			w.exec(`UPDATE fleets SET receipt_window = $2 WHERE id = $1`, w.fleet.String(), none+1)
			w.exec(`UPDATE fleet_heads SET epoch = epoch + 1 WHERE fleet_id = $1`, w.fleet.String())
		}},
		{"the server's end", "nodes ", func() { w.ok(w.node.Release(t.Context(), s.id)) }},
	} {
		before := w.marks()
		step.do()
		if got := moved(before, w.marks()); got != step.want {
			t.Errorf("%s moves %q, want %q", step.what, got, step.want)
		}
	}
}

// One question tells of all fleets, and of those that are gone nothing.
func TestMarksOfAFleetThatIsGone(t *testing.T) {
	w := setup(t)
	foreign := fleet.Key{Tenant: w.db.Tenant(t), Fleet: w.fleet}
	other := fleet.Key{Tenant: foreign.Tenant, Fleet: w.db.Fleet(t, foreign.Tenant)}
	all, err := w.app.Marks(t.Context(), []fleet.Key{foreign, w.key(), other})
	w.ok(err)
	if _, there := all[foreign]; there || len(all) != 2 {
		t.Errorf("%v", all)
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	all, err = w.app.Marks(t.Context(), []fleet.Key{w.key(), other})
	w.ok(err)
	if _, there := all[other]; !there || len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// All fleets of a tenant, or one of them, with their names; none of another tenant, and none that is gone.
func TestMarksOfATenant(t *testing.T) {
	w := setup(t)
	other, stranger := w.db.Fleet(t, w.tenant), w.db.Tenant(t)
	foreign := w.db.Fleet(t, stranger)
	named := func(scopes ...fleet.Key) (ids [][]fleet.ID) {
		all, err := w.app.TenantMarks(t.Context(), scopes)
		w.ok(err)
		for i, list := range all {
			ids = append(ids, nil)
			for _, m := range list {
				f, err := w.app.FleetByName(t.Context(), scopes[i].Tenant, m.Name)
				w.ok(err)
				if f.ID != m.Fleet || m.Revision == "" || m.Settings == "" {
					t.Errorf("%+v is of %v", m, f.ID)
				}
				ids[i] = append(ids[i], m.Fleet)
			}
			slices.SortFunc(ids[i], func(a, b fleet.ID) int { return bytes.Compare(a[:], b[:]) })
		}
		return ids
	}
	both := []fleet.ID{w.fleet, other}
	slices.SortFunc(both, func(a, b fleet.ID) int { return bytes.Compare(a[:], b[:]) })
	got := named(fleet.Key{Tenant: stranger}, fleet.Key{Tenant: w.tenant}, fleet.Key{Tenant: w.tenant, Fleet: other}, fleet.Key{Tenant: w.tenant, Fleet: foreign})
	if d := cmp.Diff([][]fleet.ID{{foreign}, both, {other}, nil}, got); d != "" {
		t.Error(d)
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, other))
	got = named(fleet.Key{Tenant: w.tenant}, fleet.Key{Tenant: w.tenant, Fleet: other})
	if d := cmp.Diff([][]fleet.ID{{w.fleet}, nil}, got); d != "" {
		t.Error("after the deletion:", d)
	}
	all, err := w.app.TenantMarks(t.Context(), []fleet.Key{{Tenant: w.tenant}})
	w.ok(err)
	if d := cmp.Diff(w.marks(), all[0][0].FleetMarks); d != "" {
		t.Error("they are not those of the fleet:", d)
	}
}

// The question grows with the fleets that it is about, and not with those of others.
func planOfMarksOfATenant() planCase {
	return planCase{
		most: 100,
		work: func(w *world, p *planned) {
			all, err := p.TenantMarks(w.Context(), []fleet.Key{{Tenant: w.tenant}})
			w.ok(err)
			if len(all[0]) != 2 { // its own, and the one beside it
				w.Errorf("%d fleets", len(all[0]))
			}
		},
	}
}

// The question reads some rows, however many events and nodes the fleet has.
func planOfMarks() planCase {
	return planCase{
		most: 60,
		work: func(w *world, p *planned) {
			all, err := p.Marks(w.Context(), []fleet.Key{w.key()})
			w.ok(err)
			if all[w.key()].Events == "" {
				w.Error("no event is seen")
			}
		},
	}
}

// Of 100 fleets, each with three servers.
func BenchmarkMarks(b *testing.B) {
	db := storetest.New(b)
	s, tenant := db.Store(b), db.Tenant(b)
	var keys []fleet.Key
	for range 100 {
		keys = append(keys, fleet.Key{Tenant: tenant, Fleet: db.Fleet(b, tenant)})
	}
	db.Exec(b, `INSERT INTO xds_servers (server_id, lease_until) SELECT gen_random_uuid(), clock_timestamp() + interval '1 day' FROM generate_series(1, 3)`)
	db.Exec(b, `INSERT INTO server_settled (tenant_id, fleet_id, server_id, settled) SELECT f.tenant_id, f.id, x.server_id, 1 FROM fleets f CROSS JOIN xds_servers x`)
	for b.Loop() {
		if all, err := s.Marks(b.Context(), keys); err != nil || len(all) != len(keys) {
			b.Fatal(len(all), err)
		}
	}
}

// The same 100 fleets, by their tenant.
func BenchmarkTenantMarks(b *testing.B) {
	db := storetest.New(b)
	s, tenant := db.Store(b), db.Tenant(b)
	for range 100 {
		db.Fleet(b, tenant)
	}
	db.Exec(b, `INSERT INTO xds_servers (server_id, lease_until) SELECT gen_random_uuid(), clock_timestamp() + interval '1 day' FROM generate_series(1, 3)`)
	db.Exec(b, `INSERT INTO server_settled (tenant_id, fleet_id, server_id, settled) SELECT f.tenant_id, f.id, x.server_id, 1 FROM fleets f CROSS JOIN xds_servers x`)
	for b.Loop() {
		if all, err := s.TenantMarks(b.Context(), []fleet.Key{{Tenant: tenant}}); err != nil || len(all[0]) != 100 {
			b.Fatal(len(all[0]), err)
		}
	}
}
