package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/client"
	"fairlead/internal/fleet"
)

// wantOnly fails unless the responses since n hold one resource of that type and
// nothing else but empty ones. In state of the world one full set of listeners may come
// beside it: it resets Envoy's backoff (PROTOCOL rule 13).
func (r *routed) wantOnly(n int, delta bool, typ fleet.Type, name string) {
	r.t.Helper()
	resources, sets := 0, 0
	for _, s := range r.tap.since(n) {
		switch {
		case len(s.names) == 0 && len(s.removed) == 0:
		case !delta && s.typ == fleet.Listener && typ != fleet.Listener:
			sets++
		case s.typ == typ && len(s.names) == 1 && (!delta || s.names[0] == name) && len(s.removed) == 0:
			resources++
		default:
			r.t.Errorf("the server sent %s, want %s %s alone: %s", s, typ, name, r.tap.since(n))
		}
	}
	if resources != 1 || sets > 1 {
		r.t.Errorf("the server sent %s, want %s %s once: %s", r.tap.since(n), typ, name, r.tap.since(n))
	}
}

// TestXDSServerKilled: a change made while no server runs is all that the next one sends.
func TestXDSServerKilled(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.apply(together(cluster("b", "1s"), endpoints("b", backend(t, "b"))))
		r.awaitState(r.put(endpoints("a", backend(t, "a"))), "delivered")
		load := startLoad(t, r.proxy)
		r.xds.Kill()
		n := r.tap.count()
		r.put(route("r", "b"))
		next := r.xdsAgain()
		r.tap.move(t, next.address)
		r.awaitBody("b")
		r.wantOnly(n, delta, fleet.Route, "r")
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

func (r *routed) xdsAgain() *xds {
	r.t.Helper()
	r.xds = r.world.xds()
	return r.xds
}

// TestEnvoyMovesBetweenServers: the other server sends nothing again; a change made
// during the move arrives, alone.
func TestEnvoyMovesBetweenServers(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.awaitState(r.apply(together(cluster("b", "1s"), endpoints("b", backend(t, "b")))), "delivered")
		other := r.world.xds()
		n := r.tap.count()
		r.tap.move(t, other.address)
		r.tap.end()
		revision := r.put(route("r", "b"))
		r.awaitBody("b")
		r.awaitAcked(revision)
		r.wantOnly(n, delta, fleet.Route, "r")

		// And back, with nothing changed: nothing but the answer that resets the backoff.
		n = r.tap.count()
		r.tap.move(t, r.xds.address)
		r.tap.end()
		eventually(t, soon, "Envoy did not come back", func() bool { return r.tap.count() > n })
		r.put(route("r", "a"))
		r.awaitBody("a")
		r.wantOnly(n, delta, fleet.Route, "r")
	})
}

// TestPostgresKilled: what runs goes on, writes say so, and all heals when it is back.
func TestPostgresKilled(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w, pg := setupPostgres(t)
		r := setupRouted(t, w, delta)
		r.awaitState(r.apply(together(cluster("b", "1s"), endpoints("b", backend(t, "b")))), "delivered")
		load := startLoad(t, r.proxy)
		pg.Kill()

		start := time.Now()
		p, err := r.rest.PutResourceWithBodyWithResponse(t.Context(), "acme", "edge", "routes", "r", nil, "application/yaml", strings.NewReader(route("r", "b").document()))
		must(t, err)
		if took := time.Since(start); p.StatusCode() != http.StatusServiceUnavailable || took > 3*time.Second || p.HTTPResponse.Header.Get("Retry-After") == "" {
			t.Errorf("a write without a database: %d after %s with Retry-After %q, want 503 within 2 s and a time", p.StatusCode(), took, p.HTTPResponse.Header.Get("Retry-After"))
		}
		// A new stream is taken, of the fleet that the server holds.
		n := r.tap.count()
		r.tap.end()
		eventually(t, soon, "Envoy was not taken while Postgres is away", func() bool { return r.tap.count() > n })

		must(t, pg.Restart(t.Context()))
		var revision int64
		eventually(t, 2*soon, "no write was taken after Postgres came back", func() bool {
			p, err := r.rest.PutResourceWithBodyWithResponse(t.Context(), "acme", "edge", "routes", "r", nil, "application/yaml", strings.NewReader(route("r", "b").document()))
			if err != nil || p.StatusCode() != http.StatusOK {
				return false
			}
			revision = revisionOf(t, p.Body)
			return true
		})
		r.awaitBody("b")
		eventually(t, 2*soon, "the receipt did not say so", func() bool { return r.receipt(revision).State == "delivered" })
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// TestChangeArrivesByPollWhileListenIsBroken: LISTEN goes to where nothing answers.
func TestChangeArrivesByPollWhileListenIsBroken(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta, "--listen-database-url", "postgres://nobody@"+silent(t)+"/none?connect_timeout=1", "--poll", "500ms")
		if reason := r.xds.logged("the listening connection is lost: changes are found by polling", "reason"); reason == "" {
			t.Error("the lost connection is told without a reason")
		}
		r.awaitState(r.apply(together(cluster("b", "1s"), endpoints("b", backend(t, "b")))), "delivered")
		r.put(route("r", "b"))
		t.Logf("the change arrived after %s", r.awaitBody("b").Round(time.Millisecond))
	})
}

// TestRevokedCredentialEndsItsStreams: and the proxy goes on with what it has.
func TestRevokedCredentialEndsItsStreams(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		var id string
		w.nodeToken, id = w.credential()
		r := setupRouted(t, w, delta)
		c, err := r.rest.RevokeCredentialWithResponse(t.Context(), "acme", "edge", id)
		r.made(c, err)
		// One poll, which is 2 s and at most a fifth, and time for busy processes.
		eventually(t, 3*time.Second, "the stream did not end", func() bool {
			stats, err := r.envoy.Stats(t.Context(), "^control_plane.connected_state$")
			return err == nil && stats["control_plane.connected_state"] == 0
		})
		eventually(t, soon, "the node is not shown as offline", func() bool {
			n, err := r.rest.GetNodeWithResponse(t.Context(), "acme", "edge", "n1")
			return err == nil && n.StatusCode() == http.StatusOK && n.JSON200.State == client.NodeState("offline")
		})
		r.awaitBody("a")
	})
}
