package store_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// sealedSecret is a change of a secret as the API makes it: sealed with the key of that id. noted: the summary says so.
func sealedSecret(t *testing.T, content, key string, noted bool) store.ResourceChange {
	t.Helper()
	id, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	c := put(fleet.Secret, "s", content)
	c.Body = append(append([]byte{1}, id...), "sealed "+content+" with "+key...)
	if noted {
		c.SealedFor = key
		c.Summary, _ = json.Marshal(map[string]string{"kind": "generic_secret", "sealed_for": key})
	}
	return c
}

// A secret of the same content is stored again when it comes sealed with another key, under the same version: the one that is stored may open nowhere.
func TestARewriteSealsAgain(t *testing.T) {
	w := setup(t)
	const wrong, right = "0101010101010101", "0202020202020202"
	body := func() string {
		t.Helper()
		r, err := w.app.Resource(t.Context(), w.tenant, w.fleet, fleet.Secret, "s", "")
		w.ok(err)
		return string(r.Body[9:])
	}
	for _, step := range []struct {
		name    string
		change  store.ResourceChange
		changed int
		body    string
	}{
		{"of an older server, which does not note the key", sealedSecret(t, "x", wrong, false), 1, "sealed x with " + wrong},
		{"again, of the same key", sealedSecret(t, "x", wrong, true), 0, "sealed x with " + wrong},
		{"of another key", sealedSecret(t, "x", right, true), 1, "sealed x with " + right},
		{"again", sealedSecret(t, "x", right, true), 0, "sealed x with " + right},
		{"by an older server", sealedSecret(t, "x", wrong, false), 0, "sealed x with " + right},
		{"of the first key", sealedSecret(t, "x", wrong, true), 1, "sealed x with " + wrong},
		{"of the other one", sealedSecret(t, "x", right, true), 1, "sealed x with " + right},
		{"another content", sealedSecret(t, "y", right, true), 1, "sealed y with " + right},
	} {
		planned, err := w.app.Plan(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{step.change}})
		w.ok(err)
		r := w.apply(step.change)
		if r.Changed != step.changed || planned.Changed != step.changed || body() != step.body {
			t.Errorf("%s: %d changed, %d planned, %q is stored; want %d, %q", step.name, r.Changed, planned.Changed, body(), step.changed, step.body)
		}
		if r.Resources[0].Version != step.change.Version {
			t.Errorf("%s: the version is %s", step.name, r.Resources[0].Version)
		}
	}
}

// What is withheld because it is sealed comes back as it was told.
func TestSealedWaitsAreKept(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
	w.apply(sealedSecret(t, "x", "0101010101010101", true))
	ref := fleet.Ref{Type: fleet.Secret, Name: "s"}
	waits := fleet.Waits{Withheld: []fleet.Withheld{
		{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: ref, Revision: 2, Sealed: true}, {Ref: ref, By: ref, Revision: 2, Sealed: true},
		{Ref: fleet.Ref{Type: fleet.Cluster, Name: "d"}, By: fleet.Ref{Type: fleet.Cluster, Name: "c"}, Revision: 2},
	}}
	n := on("n")
	n.Settled, n.Waits = settled(2), waits.With(fleet.Waits{})
	s.report(fleet.Status{Settled: 2, Nodes: []fleet.NodeStatus{n}})
	r, err := w.app.Receipt(t.Context(), w.tenant, w.fleet, 2)
	w.ok(err)
	if r.State != fleet.ReceiptPending || r.Counts.Pending != 1 || r.Counts.Withheld != 1 || len(r.Nodes) != 1 || !r.Nodes[0].Waits.Equal(n.Waits) {
		t.Errorf("%+v", r)
	}
	large, err := w.app.TooLarge(t.Context(), w.tenant, w.fleet)
	w.ok(err)
	if len(large) > 0 {
		t.Errorf("%+v: none of it waits for room", large)
	}
}

// The keys of servers that live are known, each once.
func TestServersTellTheirKeys(t *testing.T) {
	w := setup(t)
	lease := func(name, key string, ttl time.Duration) {
		_, err := w.node.LeaseWith(t.Context(), fleet.NewServerID(), name, ttl, store.ServerLoad{SealKey: key})
		w.ok(err)
	}
	lease("b", "k1", time.Minute)
	lease("a", "k1", time.Minute)
	lease("c", "k2", time.Minute)
	lease("silent", "", time.Minute)
	lease("dead", "k3", -time.Second)
	for name, s := range map[string]*store.Store{"the API": w.app, "a server": w.node} {
		keys, err := s.ServerKeys(t.Context())
		if err != nil || len(keys) != 2 || keys[0] != (store.ServerKey{ID: "k1", Server: "a"}) || keys[1] != (store.ServerKey{ID: "k2", Server: "c"}) {
			t.Errorf("%s: %+v, %v", name, keys, err)
		}
	}
	xs, _, err := w.app.XDSServers(t.Context(), store.ServerFilter{})
	told := slices.ContainsFunc(xs, func(x store.XDSServer) bool { return x.Name == "c" && x.Load != nil && x.Load.SealKey == "k2" })
	if err != nil || len(xs) != 5 || !told {
		t.Errorf("%+v, %v", xs, err)
	}
}

// A node credential whose end concerns nodes is told before it and after it, with those that are connected or were cut off.
func TestEndingCredentials(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	s := w.server("s")
	now := time.Now()
	credential := func(ends time.Duration) fleet.CredentialID {
		c := store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"}
		if ends != 0 {
			c.ExpiresAt = now.Add(ends)
		}
		_, err := w.app.CreateNodeCredential(t.Context(), w.tenant, w.fleet, actor, c)
		w.ok(err)
		return c.ID
	}
	soon, later, never, ended, revoked := credential(time.Hour), credential(48*time.Hour), credential(0), credential(-10*time.Minute), credential(time.Hour)
	w.ok(w.app.RevokeNodeCredential(t.Context(), w.tenant, w.fleet, actor, revoked))
	node := func(id string, c fleet.CredentialID) fleet.NodeStatus {
		n := on(id)
		n.CredentialID = c
		return n
	}
	left := func(id string, c fleet.CredentialID, ago time.Duration) fleet.NodeStatus {
		n := node(id, c)
		n.Connected, n.Since = false, now.Add(-ago)
		return n
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{
		node("a", soon), node("b", soon), node("c", later), node("d", never), node("e", revoked),
		left("went before", soon, time.Minute), left("cut off", ended, 10*time.Minute), left("went before that", ended, time.Hour), left("is back", ended, 10*time.Minute),
	}})
	other := w.server("other")
	other.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{node("is back", never)}})
	got, err := w.app.EndingCredentials(t.Context(), w.tenant, w.fleet, 24*time.Hour)
	w.ok(err)
	if len(got) != 2 || got[0].ID != ended || got[0].Nodes != 1 || got[0].Named[0] != "cut off" || got[1].ID != soon || got[1].Nodes != 2 || got[1].Named[1] != "b" {
		t.Errorf("%+v", got)
	}
	n, err := w.app.Node(t.Context(), w.tenant, w.fleet, "a")
	if err != nil || n.CredentialEnds.Sub(now).Round(time.Second) != time.Hour {
		t.Errorf("the node's credential ends at %v, %v", n.CredentialEnds, err)
	}
}
