package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// wantOnly fails unless the responses since n hold one resource of that type and
// nothing else but empty ones. In state of the world one full set of listeners may come
// beside it: it resets Envoy's backoff (PROTOCOL rule 13).
func (r *routed) wantOnly(n int, delta bool, typ fleet.Type, name string) {
	r.T.Helper()
	resources, sets := 0, 0
	for _, s := range r.tap.Since(n) {
		switch {
		case len(s.Names) == 0 && len(s.Removed) == 0:
		case !delta && s.Type == fleet.Listener && typ != fleet.Listener:
			sets++
		case s.Type == typ && len(s.Names) == 1 && (!delta || s.Names[0] == name) && len(s.Removed) == 0:
			resources++
		default:
			r.T.Errorf("the server sent %s, want %s %s alone: %s", s, typ, name, r.tap.Since(n))
		}
	}
	if resources != 1 || sets > 1 {
		r.T.Errorf("the server sent %s, want %s %s once: %s", r.tap.Since(n), typ, name, r.tap.Since(n))
	}
}

// TestXDSServerKilled: a change made while no server runs is all that the next one sends.
func TestXDSServerKilled(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b"))))
		r.AwaitState(r.Put(world.Endpoints("a", world.Backend(t, "a"))), "delivered")
		load := startLoad(t, r.proxy)
		r.xds.Kill()
		n := r.tap.Count()
		r.Put(world.Route("r", "b"))
		next := r.xdsAgain()
		r.tap.Move(t, next.Address)
		r.awaitBody("b")
		r.wantOnly(n, delta, fleet.Route, "r")
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

func (r *routed) xdsAgain() *world.XDS {
	r.T.Helper()
	r.xds = r.XDS()
	return r.xds
}

// TestEnvoyMovesBetweenServers: the other server sends nothing again; a change made
// during the move arrives, alone.
func TestEnvoyMovesBetweenServers(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		r.AwaitState(r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")))), "delivered")
		other := r.XDS()
		n := r.tap.Count()
		r.tap.Move(t, other.Address)
		r.tap.End()
		revision := r.Put(world.Route("r", "b"))
		r.awaitBody("b")
		r.AwaitACKed(revision, 1)
		r.wantOnly(n, delta, fleet.Route, "r")

		// And back, with nothing changed: nothing but the answer that resets the backoff.
		n = r.tap.Count()
		r.tap.Move(t, r.xds.Address)
		r.tap.End()
		world.Eventually(t, world.Soon, "Envoy did not come back", func() bool { return r.tap.Count() > n })
		r.Put(world.Route("r", "a"))
		r.awaitBody("a")
		r.wantOnly(n, delta, fleet.Route, "r")
	})
}

// TestPostgresKilled: what runs goes on, writes say so, and all heals when it is back.
func TestPostgresKilled(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w, pg := setupPostgres(t)
		r := setupRouted(t, w, delta)
		r.AwaitState(r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")))), "delivered")
		load := startLoad(t, r.proxy)
		pg.Kill()

		start := time.Now()
		p, err := r.REST.PutResourceWithBodyWithResponse(t.Context(), "acme", "edge", "routes", "r", nil, "application/yaml", strings.NewReader(world.Route("r", "b").Document()))
		world.Must(t, err)
		if took := time.Since(start); p.StatusCode() != http.StatusServiceUnavailable || took > 2*world.Soon || p.HTTPResponse.Header.Get("Retry-After") == "" {
			t.Errorf("a write without a database: %d after %s with Retry-After %q, want 503 and a time", p.StatusCode(), took, p.HTTPResponse.Header.Get("Retry-After"))
		}
		// A new stream is taken, of the fleet that the server holds.
		n := r.tap.Count()
		r.tap.End()
		world.Eventually(t, world.Soon, "Envoy was not taken while Postgres is away", func() bool { return r.tap.Count() > n })

		world.Must(t, pg.Restart(t.Context()))
		var revision int64
		world.Eventually(t, 2*world.Soon, "no write was taken after Postgres came back", func() bool {
			p, err := r.REST.PutResourceWithBodyWithResponse(t.Context(), "acme", "edge", "routes", "r", nil, "application/yaml", strings.NewReader(world.Route("r", "b").Document()))
			if err != nil || p.StatusCode() != http.StatusOK {
				return false
			}
			revision = world.RevisionOf(t, p.Body)
			return true
		})
		r.awaitBody("b")
		world.Eventually(t, 2*world.Soon, "the receipt did not say so", func() bool { return r.Receipt(revision).State == "delivered" })
		if done, failed := load.stop(); failed > 0 || done == 0 {
			t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}

// TestChangeArrivesByPollWhileListenIsBroken: LISTEN goes to where nothing answers.
func TestChangeArrivesByPollWhileListenIsBroken(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta, "--listen-database-url", "postgres://nobody@"+silent(t)+"/none?connect_timeout=1", "--poll", "500ms")
		if reason := r.xds.Logged("the listening connection is lost: changes are found by polling", "reason"); reason == "" {
			t.Error("the lost connection is told without a reason")
		}
		r.AwaitState(r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")))), "delivered")
		r.Put(world.Route("r", "b"))
		t.Logf("the change arrived after %s", r.awaitBody("b").Round(time.Millisecond))
	})
}

// TestT43_ALeakedTokensStreamsEnd: those of the node credential that a token made, when the token is revoked as leaked.
func TestT43_ALeakedTokensStreamsEnd(t *testing.T) {
	w := setup(t)
	made, err := w.REST.CreateTokenWithResponse(t.Context(), w.Tenant, client.TokenCreate{Name: "leaks", Role: client.Admin})
	w.Made(made, err)
	c, err := w.As(made.JSON201.Token).CreateCredentialWithResponse(t.Context(), w.Tenant, w.Fleet, client.CredentialCreate{Nodes: "*"})
	w.Made(c, err)
	w.NodeToken = c.JSON201.Token
	r := setupRouted(t, w, true)
	leaked := true
	gone, err := r.REST.RevokeTokenWithResponse(t.Context(), w.Tenant, made.JSON201.ApiToken.Id, &client.RevokeTokenParams{Leaked: &leaked})
	r.Made(gone, err)
	world.Eventually(t, 2*world.Soon, "the stream did not end", func() bool {
		stats, err := r.envoy.Stats(t.Context(), "^control_plane.connected_state$")
		return err == nil && stats["control_plane.connected_state"] == 0
	})
	r.awaitBody("a")
}

// TestRevokedCredentialEndsItsStreams: and the proxy goes on with what it has.
func TestRevokedCredentialEndsItsStreams(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		w := setup(t)
		var id string
		w.NodeToken, id = w.Credential()
		r := setupRouted(t, w, delta)
		c, err := r.REST.RevokeCredentialWithResponse(t.Context(), "acme", "edge", id)
		r.Made(c, err)
		world.Eventually(t, 2*world.Soon, "the stream did not end", func() bool {
			stats, err := r.envoy.Stats(t.Context(), "^control_plane.connected_state$")
			return err == nil && stats["control_plane.connected_state"] == 0
		})
		world.Eventually(t, world.Soon, "the node is not shown as offline", func() bool {
			n := r.Node("n1")
			return n != nil && n.State == client.NodeStateOffline
		})
		r.awaitBody("a")
	})
}
