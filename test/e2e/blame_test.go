package e2e

import (
	"slices"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// wantBlamed waits for the receipt of a revision of which n1 refuses these alone, in words that begin so.
func (r *routed) wantBlamed(revision int64, begin string, want ...string) {
	r.T.Helper()
	r.AwaitState(revision, client.ReceiptStateRejected)
	var got []string
	world.Eventually(r.T, world.Soon, "not blamed", func() bool {
		got = nil
		for _, x := range r.standing() {
			if got = append(got, x.Name); !strings.HasPrefix(x.Detail, begin) {
				r.T.Errorf("%s is refused with %q, want it to begin with %q", x.Name, x.Detail, begin)
			}
		}
		slices.Sort(got)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		r.T.Errorf("%q are refused, want %q", got, want)
	}
}

// wantNothingRefused waits until the node refuses nothing.
func (r *routed) wantNothingRefused() {
	r.T.Helper()
	world.Eventually(r.T, world.Soon, "something is refused", func() bool { return len(r.standing()) == 0 })
}

// standing is what the node refuses at present.
func (r *routed) standing() []client.Refusal {
	return slices.DeleteFunc(r.Node("n1").Refusals, func(x client.Refusal) bool { return x.ResolvedAt != nil })
}

// TestNamesInWordsAboutAnotherCluster: what an Envoy says of the cluster that it refuses holds the names of all others.
func TestNamesInWordsAboutAnotherCluster(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		const poison = "shop:8080" // cluster manager: cluster provided LB specified but cluster 'shop:8080' did not provide one. Check cluster documentation.
		good := []string{"Error", "cluster", "manager", "one", "provided", "shop"}
		all := []world.Resource{world.Cluster(poison, "1s").With("lb_policy: CLUSTER_PROVIDED"), world.Endpoints(poison, world.Backend(t, poison)), paths("r", good...)}
		for _, name := range good {
			all = append(all, world.Cluster(name, "1s"), world.Endpoints(name, world.Backend(t, name)))
		}
		r.wantBlamed(r.Apply(world.Together(all...)), "Error adding/updating cluster(s) "+poison+": ", poison)
		serve := func() {
			t.Helper()
			for _, name := range good {
				world.Eventually(t, world.Soon, "no answer from "+name, func() bool { _, body := world.Get(r.proxy + "/" + name); return body == name })
			}
		}
		serve()
		r.AwaitState(r.Put(world.Cluster(poison, "1s")), client.ReceiptStateDelivered)
		serve()
		r.wantNothingRefused()
		r.wantRefusedOnce()
	})
}

// TestNamesInWordsAboutAnotherListener: the same of listeners, one of which is named after a port.
func TestNamesInWordsAboutAnotherListener(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		taken := strings.TrimPrefix(r.proxy, "http://")
		port := taken[strings.LastIndex(taken, ":")+1:]
		// error adding listener: 'poison' has duplicate address '127.0.0.1:PORT' as existing listener, ...
		good, at := []string{"listener", "address", port, taken, "existing"}, map[string]string{}
		all := []world.Resource{world.Listener("poison", taken, "r")}
		for _, name := range good {
			at[name] = world.FreePort(t)
			all = append(all, world.NewResource("listeners", name, strings.Replace(world.Listener("NAME", at[name], "r").Body, `{name: "NAME"`, sprintf("{name: %q", name), 1)))
		}
		r.wantBlamed(r.Apply(world.Together(all...)), "Error adding/updating listener(s) poison: ", "poison")
		for _, name := range good {
			r.awaitServed(at[name])
		}
		fixed := world.FreePort(t)
		r.AwaitState(r.Put(world.Listener("poison", fixed, "r")), client.ReceiptStateDelivered)
		r.awaitServed(fixed)
		for _, name := range good {
			r.awaitServed(at[name])
		}
		r.wantNothingRefused()
		r.wantRefusedOnce()
	})
}

// TestNamesInWordsAboutAnotherRoute: of routes an Envoy hardly says which one it is.
func TestNamesInWordsAboutAnotherRoute(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		names, at := []string{"route", "cluster", "nope", "bad"}, map[string]string{}
		all := []world.Resource{world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b"))}
		for _, name := range names {
			at[name] = world.FreePort(t)
			all = append(all, world.Route(name, "a"), world.Listener("l-"+name, at[name], name))
		}
		r.AwaitState(r.Apply(world.Together(all...)), client.ReceiptStateDelivered)
		all = []world.Resource{world.NewResource("routes", "bad", `{name: bad, validate_clusters: true, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: nope}}]}]}`)}
		for _, name := range names[:3] {
			all = append(all, world.Route(name, "b"))
		}
		r.wantBlamed(r.Apply(world.Together(all...)), "route: unknown cluster 'nope'", "bad")
		for _, name := range names[:3] {
			world.Eventually(t, world.Soon, name+" was not changed", func() bool { _, body := world.Get("http://" + at[name]); return body == "b" })
		}
		r.AwaitState(r.Put(world.Route("bad", "b")), client.ReceiptStateDelivered)
		world.Eventually(t, world.Soon, "bad was not changed", func() bool { _, body := world.Get("http://" + at["bad"]); return body == "b" })
		r.wantNothingRefused()
		r.wantRefusedOnce()
	})
}

// TestTwoScopesOfOneKey: the one that came second is refused, and taken when the other one has gone elsewhere; also by a server that knows it from
// the database alone.
func TestTwoScopesOfOneKey(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w, at := setup(t), world.FreePort(t)
		w.Apply(world.Together(world.HTTPListener{Name: "scopes", Address: at, Routes: scoped(world.ADS, world.ADS)}.Resource(), scope("s0", "zero", "r"),
			world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")), world.Route("other", "b")))
		r := setupRouted(t, w, delta)
		world.Eventually(t, world.Soon, "not routed by scope", func() bool { return getScope(at, "zero") == "a" }) // so it has asked for scopes
		r.wantBlamed(r.Apply(world.Together(scope("s1", "one", "r"), scope("s2", "one", "other"))), "Error adding/updating scoped route(s): scope key conflict found, first scope is 's1', second scope is 's2'", "s2")
		promptly(t, "routed by the first", func() bool { return getScope(at, "one") == "a" })
		if lifted := r.standing()[0].LiftedBy; lifted == nil || !strings.Contains(*lifted, "scoped-routes/s1") {
			t.Errorf("lifted by %v, want s1 among it", lifted)
		}
		moved := r.Put(scope("s1", "two", "r"))
		r.AwaitState(moved, client.ReceiptStateDelivered)
		promptly(t, "routed by the second", func() bool { return getScope(at, "one") == "b" })
		promptly(t, "routed by the first elsewhere", func() bool { return getScope(at, "two") == "a" })
		r.wantNothingRefused()

		// In its way again, and away when another server has the node.
		r.wantBlamed(r.Put(scope("s1", "one", "r")), "Error adding/updating scoped route(s): scope key conflict found, ", "s1")
		other, n, before := r.XDS(), r.tap.Count(), r.tap.Opened()
		r.tap.Move(t, other.Address)
		r.tap.End()
		world.Eventually(t, world.Soon, "Envoy did not come back", func() bool {
			return slices.ContainsFunc(r.tap.Since(n), func(x world.Sent) bool { return x.Stream > before })
		})
		gone := r.Apply(world.Removal(scope("s2", "one", "other")))
		world.Eventually(t, world.Soon, "not delivered", func() bool { return r.Receipt(gone).State == client.ReceiptStateDelivered })
		promptly(t, "routed by the first again", func() bool { return getScope(at, "one") == "a" })
		r.wantNothingRefused()
	})
}
