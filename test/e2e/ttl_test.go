package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// expiring gives a resource a TTL.
func (r res) expiring(ttl time.Duration) string {
	return sprintf("{type: %s, name: %q, ttl: %s, body: %s}\n", r.typ, r.name, ttl, r.body)
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
	must(t, err)
	var page struct {
		Statuses []struct{ Name string } `json:"listener_statuses"`
	}
	must(t, json.Unmarshal(b, &page))
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

const ttl = 2 * time.Second

// TestResourcesExpireWithTheirServer: in delta heartbeats renew what has a TTL, without
// them it vanishes, and it comes back with a server. An Envoy that speaks state of the
// world would crash and is never sent a TTL, whatever it declares; it keeps all.
func TestResourcesExpireWithTheirServer(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.apply("resources:\n- " + listener("short", freePort(t), "r").expiring(ttl) + "- " + layer("layer", "e2e.key", 7).expiring(ttl))
	address := freePort(t)
	w.apply(together(listener("l", address, "r"), route("r", "a"), cluster("a", "1s"), endpoints("a", backend(t, "a"))))
	server := w.xds()
	tap, tapSotW := newTap(t, server.address), newTap(t, server.address)
	e := w.envoy("delta", tap.address, true, runtimeLayer("layer", ads), impatient)
	sotw := w.envoy("SotW", tapSotW.address, false, runtimeLayer("layer", ads), impatient,
		declaring("xds.config.supports-resource-in-sotw", "xds.config.supports-resource-ttl"))
	promptly(t, "there", func() bool { return held(t, e) && held(t, sotw) })
	wantTTLs(t, tap.since(0))
	n := tap.count()

	w.step("they stay for three periods", func() {
		start := time.Now()
		eventually(w.t, 4*ttl, "no three periods", func() bool {
			if !held(w.t, e) {
				w.t.Fatalf("gone after %s", time.Since(start))
			}
			return time.Since(start) > 3*ttl
		})
		wantHeartbeats(w.t, tap.since(n))
	})
	w.step("they vanish after their server was killed", func() {
		server.Kill()
		took := eventually(w.t, 2*ttl, "not gone", func() bool { return expired(w.t, e) })
		w.t.Logf("gone after %s", took.Round(time.Millisecond))
		if _, body := get("http://" + address); body != "a" {
			w.t.Errorf("what has no TTL answers %q", body)
		}
	})
	w.step("they come back with a server", func() {
		server = w.xds()
		tap.move(w.t, server.address)
		tapSotW.move(w.t, server.address)
		promptly(w.t, "back", func() bool { return held(w.t, e) })
	})
	w.step("state of the world knows nothing of it", func() {
		for _, s := range tapSotW.since(0) {
			if s.wrapped > 0 {
				w.t.Fatalf("the server sent %s in a wrapper, where a TTL can stand", s)
			}
		}
		if !live(w.t, sotw) || !held(w.t, sotw) {
			w.t.Error("it is not LIVE with all that it had")
		}
	})
}

// wantTTLs fails unless the resources themselves came with their TTLs, and no other did.
func wantTTLs(t testing.TB, all []sent) {
	t.Helper()
	var got []string
	for _, s := range all {
		got = append(got, s.ttls...)
	}
	if slices.Sort(got); !slices.Equal(slices.Compact(got), []string{"layer", "short"}) {
		t.Errorf("TTLs were sent with %s, want layer and short", got)
	}
}

// wantHeartbeats fails unless heartbeats alone were sent, of both types, with the TTL and
// in time.
func wantHeartbeats(t testing.TB, all []sent) {
	t.Helper()
	beats := map[fleet.Type]int{}
	for _, s := range all {
		if len(s.beats) == 0 || len(s.beats) != len(s.names) || len(s.ttls) != len(s.names) {
			t.Fatalf("the server sent %s, want heartbeats alone: %s", s, all)
		}
		beats[s.typ]++
	}
	t.Logf("heartbeats %v", beats)
	if beats[fleet.Listener] < 3 || beats[fleet.Runtime] < 3 {
		t.Errorf("heartbeats %v, want three or more of both types", beats)
	}
}
