package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// at is the fleet as a reader holds it after a change.
func at(c fleet.Change) fleet.Known { return fleet.Known{Key: c.Key, At: c.At} }

func TestCatchUp(t *testing.T) {
	w := setup(t)
	empty := w.load()
	if empty.At.Revision != 0 || empty.At.Epoch == 0 || len(empty.Rows) != 0 || !empty.EpochMoved {
		t.Fatalf("an empty fleet is %+v", empty)
	}
	if cs := w.catchUp(at(empty)); len(cs) != 0 {
		t.Fatalf("nothing has moved, but %+v", cs)
	}
	c := put(fleet.Cluster, "a", "A")
	c.TTL, c.Derived, c.Priority = 2*time.Second, fleet.Derived{EDSName: "a", Refs: []fleet.Ref{{Type: fleet.Secret, Name: "s"}}}, 7
	c = fill(c)
	r := w.apply(c, put(fleet.Listener, "l", ""))
	w.apply(put(fleet.Cluster, "gone", "G"))
	w.apply(del(fleet.Cluster, "gone"))

	all := w.load()
	want := fleet.Row{Type: fleet.Cluster, Name: "a", Revision: 1, Version: c.Version, TTL: 2 * time.Second, Priority: 7, Body: []byte("A"), Derived: c.Derived}
	if len(all.Rows) != 3 || all.At.Revision != 3 {
		t.Fatalf("a load gave %+v", all)
	}
	for _, row := range all.Rows {
		if row.Name == "gone" && (!row.Deleted || row.Revision != 3) {
			t.Errorf("a load gave %+v, want its tombstone", row)
		}
		if row.Name == "a" && !cmp.Equal(row, want) {
			t.Error(cmp.Diff(want, row))
		}
	}
	if all.Now.Before(all.CommittedAt) || all.CommittedAt.Before(r.CommittedAt) {
		t.Errorf("committed at %v, read at %v", all.CommittedAt, all.Now)
	}

	w.apply(put(fleet.Cluster, "b", "B"))
	w.apply(del(fleet.Cluster, "a"))
	cs := w.catchUp(at(all))
	if len(cs) != 1 || cs[0].Reload || cs[0].EpochMoved || cs[0].At.Revision != 5 || len(cs[0].Rows) != 2 {
		t.Fatalf("the difference is %+v", cs)
	}
	for _, row := range cs[0].Rows {
		if row.Name == "a" && (!row.Deleted || row.Revision != 5 || row.Version != "" || row.Body != nil) {
			t.Errorf("the tombstone is %+v", row)
		}
		if row.Name == "b" && (row.Deleted || string(row.Body) != "B" || row.Revision != 4) {
			t.Errorf("the new row is %+v", row)
		}
	}
	if cs := w.catchUp(at(empty)); len(cs) != 1 || !cs[0].Reload || len(cs[0].Rows) != 4 {
		t.Errorf("from the empty fleet on: %+v", cs)
	}
}

func TestCatchUpReloads(t *testing.T) {
	w := setup(t)
	for _, body := range []string{"1", "2", "3"} {
		w.apply(put(fleet.Cluster, "a", body))
	}
	here := w.load().At
	other := here
	other.Token = fleet.NewToken()
	ahead := here
	ahead.Revision += 5
	for name, position := range map[string]fleet.Position{"another token at the same revision": other, "ahead": ahead,
		"an unknown token at an earlier one": {Revision: 1, Token: fleet.NewToken(), Epoch: here.Epoch}} {
		cs := w.catchUp(fleet.Known{Key: w.key(), At: position})
		if len(cs) != 1 || !cs[0].Reload || len(cs[0].Rows) != 1 || cs[0].At != here || cs[0].EpochMoved {
			t.Errorf("%s: %+v", name, cs)
		}
	}
}

func TestCatchUpOfManyFleets(t *testing.T) {
	w := setup(t)
	b, other := w.db.Tenant(t), fleet.NewID()
	foreign := fleet.Key{Tenant: b, Fleet: w.db.Fleet(t, b)}
	quiet := fleet.Key{Tenant: w.tenant, Fleet: w.db.Fleet(t, w.tenant)}
	gone := fleet.Key{Tenant: w.tenant, Fleet: w.db.Fleet(t, w.tenant)}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, gone.Fleet))
	w.apply(put(fleet.Cluster, "a", "A"))
	_, err := w.app.Apply(t.Context(), b, foreign.Fleet, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "b", "B")}})
	w.ok(err)
	quietAt := w.catchUp(fleet.Known{Key: quiet})[0].At
	known := []fleet.Known{{Key: quiet, At: quietAt}, {Key: foreign}, {Key: gone}, {Key: w.key()},
		{Key: fleet.Key{Tenant: w.tenant, Fleet: other}},
		{Key: fleet.Key{Tenant: b, Fleet: w.fleet}}} // the right fleet under the wrong tenant
	want := map[fleet.Key]string{foreign: "b", w.key(): "a", gone: "gone", {Tenant: w.tenant, Fleet: other}: "gone", {Tenant: b, Fleet: w.fleet}: "gone"}
	got := map[fleet.Key]string{}
	for _, c := range w.catchUp(known...) {
		switch {
		case c.Gone:
			got[c.Key] = "gone"
		case len(c.Rows) == 1:
			got[c.Key] = c.Rows[0].Name
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	moved, err := w.node.Moved(t.Context(), known)
	w.ok(err)
	if len(moved) != len(want) {
		t.Errorf("moved: %v", moved)
	}
	if none, err := w.node.CatchUp(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("of no fleet: %v, %v", none, err)
	}
}

func TestCatchUpTellsCredentials(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	before := w.load()
	id := fleet.NewCredentialID()
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	_, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{ID: id, Hash: [32]byte{1, 2}, Nodes: "edge-*", ExpiresAt: expires})
	w.ok(err)
	cs := w.catchUp(at(before))
	if len(cs) != 1 || cs[0].Reload || !cs[0].EpochMoved || len(cs[0].Rows) != 0 {
		t.Fatalf("a new credential gives %+v", cs)
	}
	if d := cmp.Diff([]fleet.Credential{{ID: id, Hash: [32]byte{1, 2}, Nodes: "edge-*", ExpiresAt: expires}}, cs[0].Credentials); d != "" {
		t.Error(d)
	}
	w.apply(put(fleet.Cluster, "a", "A"))
	mixed := w.catchUp(at(before))[0]
	if !mixed.EpochMoved || len(mixed.Rows) != 1 || len(mixed.Credentials) != 1 {
		t.Errorf("both moved: %+v", mixed)
	}
	w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, id))
	revoked := w.catchUp(at(mixed))[0]
	if !revoked.EpochMoved || len(revoked.Credentials) != 1 || revoked.Credentials[0].RevokedAt.IsZero() {
		t.Errorf("revoked: %+v", revoked)
	}
	w.is(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, fleet.NewCredentialID()), fleet.ErrNotFound)
	if cs := w.catchUp(at(revoked)); len(cs) != 0 {
		t.Errorf("a revocation that did nothing moved the epoch: %+v", cs)
	}
}

// Whether node ids are exclusive reaches the servers with the epoch, and is what it was when
// something else is set.
func TestCatchUpTellsNodeIDs(t *testing.T) {
	w := setup(t)
	before := w.load()
	if before.NodeIDs != fleet.NodeIDsShared {
		t.Errorf("by default %q", before.NodeIDs)
	}
	w.set(store.FleetSettings{NodeIDs: fleet.NodeIDsExclusive})
	w.set(store.FleetSettings{ReceiptWindow: time.Hour})
	if cs := w.catchUp(at(before)); len(cs) != 1 || !cs[0].EpochMoved || cs[0].NodeIDs != fleet.NodeIDsExclusive || cs[0].At.Revision != before.At.Revision {
		t.Errorf("told %+v", cs)
	}
	_, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{NodeIDs: "single"})
	w.is(err, fleet.ErrInvalid)
}

// T41: which nodes a credential is for has to be said.
func TestT41_ACredentialSaysForWhichNodesItIs(t *testing.T) {
	w := setup(t)
	_, err := w.app.CreateNodeCredential(t.Context(), w.tenant, w.fleet, actor, store.NodeCredential{ID: fleet.NewCredentialID()})
	w.is(err, fleet.ErrInvalid)
	if n := w.count(`SELECT count(*) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
		WHERE d.adrelid = 'node_credentials'::regclass AND a.attname = 'nodes'`); n != 0 {
		t.Error("the column has a default")
	}
}

// Through the app's eyes no fleet exists: it must not be told that all are gone.
func TestFeedIsTheNodesAlone(t *testing.T) {
	w := setup(t)
	_, err := w.app.CatchUp(t.Context(), []fleet.Known{{Key: w.key()}})
	w.is(err, fleet.ErrForbidden)
	_, err = w.app.Moved(t.Context(), []fleet.Known{{Key: w.key()}})
	w.is(err, fleet.ErrForbidden)
}

// A type that a newer writer stores is left out by a reader that does not know it.
func TestUnknownTypesAreLeftOut(t *testing.T) {
	w := setup(t)
	before := w.load()
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B"))
	w.exec(`DELETE FROM resource_refs`)
	w.exec(`UPDATE resources SET type = 'teapots' WHERE name = 'b'`)
	if all := w.load(); len(all.Rows) != 1 {
		t.Errorf("a load gives %+v", all.Rows)
	}
	if cs := w.catchUp(at(before)); len(cs[0].Rows) != 1 {
		t.Errorf("a catch-up gives %+v", cs[0].Rows)
	}
	rs, _, err := w.app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{})
	w.ok(err)
	if len(rs) != 1 {
		t.Errorf("the list has %d", len(rs))
	}
}

// A row that cannot be decoded holds up nothing else.
func TestABrokenRowIsToldAlone(t *testing.T) {
	w := setup(t)
	before := w.load()
	w.apply(put(fleet.Cluster, "a", "A"), put(fleet.Cluster, "b", "B"))
	w.exec(`UPDATE resources SET derived = '{"refs": 5}' WHERE name = 'b'`)
	for name, c := range map[string]fleet.Change{"a load": w.load(), "a catch-up": w.catchUp(at(before))[0]} {
		if len(c.Rows) != 1 || c.Rows[0].Name != "a" || c.At.Revision != 1 {
			t.Errorf("%s gives %+v", name, c)
		}
		want := fleet.Ref{Type: fleet.Cluster, Name: "b"}
		if len(c.Broken) != 1 || c.Broken[0].Ref != want || c.Broken[0].Revision != 1 || c.Broken[0].Reason == "" {
			t.Errorf("%s tells as broken %+v", name, c.Broken)
		}
	}
	w.apply(put(fleet.Cluster, "b", "better"))
	if c := w.load(); len(c.Rows) != 2 || len(c.Broken) != 0 {
		t.Errorf("fixed: %+v", c)
	}
}
