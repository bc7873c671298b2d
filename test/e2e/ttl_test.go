package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// expiring is a resource with a TTL.
func expiring(r world.Resource, ttl time.Duration) string {
	return sprintf("{type: %s, name: %q, ttl: %s, body: %s}\n", r.Type, r.Name, ttl, r.Body)
}

// declaring adds client features to a bootstrap's node.
func declaring(features ...string) func(string) string {
	return func(bootstrap string) string {
		return strings.Replace(bootstrap, "node:\n", "node:\n  client_features: ["+strings.Join(features, ", ")+"]\n", 1)
	}
}

// impatient keeps Envoy's backoff short while no server is there.
func impatient(bootstrap string) string {
	return strings.Replace(bootstrap, "max_interval: 30s", "max_interval: 0.5s", 1)
}

func hasListener(t testing.TB, e *localenvoy.Envoy, name string) bool {
	t.Helper()
	b, err := e.Admin(t.Context(), "/listeners?format=json")
	world.Must(t, err)
	var page struct {
		Statuses []struct{ Name string } `json:"listener_statuses"`
	}
	world.Must(t, json.Unmarshal(b, &page))
	return slices.ContainsFunc(page.Statuses, func(s struct{ Name string }) bool { return s.Name == name })
}

// expired reports whether the runtime layer and the listener of the test are both gone;
// held whether both are there.
func expired(t testing.TB, e *localenvoy.Envoy) bool {
	return runtimeValue(t, e, "e2e.key") == "" && !hasListener(t, e, "short")
}

func held(t testing.TB, e *localenvoy.Envoy) bool {
	return runtimeValue(t, e, "e2e.key") == "7" && hasListener(t, e, "short")
}

const ttl = 4 * time.Second // heartbeats come in time on processors that others use

// TestResourcesExpireWithTheirServer: in delta heartbeats renew what has a TTL, without
// them it vanishes, and it comes back with a server. An Envoy that speaks state of the
// world would crash and is never sent a TTL, whatever it declares; it keeps all.
func TestResourcesExpireWithTheirServer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Apply("resources:\n- " + expiring(world.Listener("short", world.FreePort(t), "r"), ttl) + "- " + expiring(layer("layer", "e2e.key", 7), ttl))
	address := world.FreePort(t)
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	server := w.XDS()
	tap, tapSotW := world.NewTap(t, server.Address), world.NewTap(t, server.Address)
	e := w.Envoy("delta", tap.Address, true, runtimeLayer("layer", world.ADS), impatient)
	sotw := w.Envoy("SotW", tapSotW.Address, false, runtimeLayer("layer", world.ADS), impatient,
		declaring("xds.config.supports-resource-in-sotw", "xds.config.supports-resource-ttl"))
	promptly(t, "there", func() bool { return held(t, e) && held(t, sotw) })
	wantTTLs(t, tap.Since(0))
	n := tap.Count()

	w.Step("they stay for three periods", func() {
		start := time.Now()
		world.Eventually(w.T, 4*ttl, "no three periods", func() bool {
			if !held(w.T, e) {
				w.T.Fatalf("gone after %s", time.Since(start))
			}
			return time.Since(start) > 3*ttl
		})
		wantHeartbeats(w.T, tap.Since(n))
	})
	w.Step("they vanish after their server was killed", func() {
		server.Kill()
		took := world.Eventually(w.T, 2*ttl, "not gone", func() bool { return expired(w.T, e) })
		w.T.Logf("gone after %s", took.Round(time.Millisecond))
		if _, body := world.Get("http://" + address); body != "a" {
			w.T.Errorf("what has no TTL answers %q", body)
		}
	})
	w.Step("they come back with a server", func() {
		server = w.XDS()
		tap.Move(w.T, server.Address)
		tapSotW.Move(w.T, server.Address)
		promptly(w.T, "back", func() bool { return held(w.T, e) })
	})
	w.Step("state of the world knows nothing of it", func() {
		for _, s := range tapSotW.Since(0) {
			if s.Wrapped > 0 {
				w.T.Fatalf("the server sent %s in a wrapper, where a TTL can stand", s)
			}
		}
		if !live(w.T, sotw) || !held(w.T, sotw) {
			w.T.Error("it is not LIVE with all that it had")
		}
	})
}

// wantTTLs fails unless the resources themselves came with their TTLs, and no other did.
func wantTTLs(t testing.TB, all []world.Sent) {
	t.Helper()
	var got []string
	for _, s := range all {
		got = append(got, s.TTLs...)
	}
	if slices.Sort(got); !slices.Equal(slices.Compact(got), []string{"layer", "short"}) {
		t.Errorf("TTLs were sent with %s, want layer and short", got)
	}
}

// wantHeartbeats fails unless heartbeats alone were sent, of both types, with the TTL and
// in time.
func wantHeartbeats(t testing.TB, all []world.Sent) {
	t.Helper()
	heartbeats := map[fleet.Type]int{}
	for _, s := range all {
		if len(s.Heartbeats) == 0 || len(s.Heartbeats) != len(s.Names) || len(s.TTLs) != len(s.Names) {
			t.Fatalf("the server sent %s, want heartbeats alone: %s", s, all)
		}
		heartbeats[s.Type]++
	}
	t.Logf("heartbeats %v", heartbeats)
	if heartbeats[fleet.Listener] < 3 || heartbeats[fleet.Runtime] < 3 {
		t.Errorf("heartbeats %v, want three or more of both types", heartbeats)
	}
}
