package e2e

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestPollsThroughFaults: a poll is answered while the database is away, and of a credential that was revoked, or a fleet that was deleted, with
// words. Never with an empty set.
func TestPollsThroughFaults(t *testing.T) {
	t.Parallel()
	w, pg := setupPostgres(t)
	server, other := w.XDS(), w.XDS("--rest-listen", world.AnyPort)
	rest := other.Logged("the port of REST is open", "address")
	w.Apply(world.Together(world.Cluster("a", "1s")))
	token, id := w.Credential()
	poll := func(address, token, version string) (code int, answer string) {
		body := sprintf(`{"node":{"id":"n1"},"version_info":%q}`, version)
		return world.Ask("http://"+address+"/v3/discovery:clusters?wait=0", func(q *http.Request) {
			q.Method, q.Body, q.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
			q.Header.Set("Authorization", "Bearer "+token)
		})
	}
	version := ""
	world.Eventually(t, world.Soon, "not answered", func() bool {
		_, answer := poll(server.Address, token, "")
		found := regexp.MustCompile(`"version_info":"([^"]+)".*"a"`).FindStringSubmatch(answer)
		if found != nil {
			version = found[1]
		}
		return found != nil
	})
	want := func(address string, token string, status int) {
		t.Helper()
		world.Eventually(t, 2*world.Soon, sprintf("not answered %d", status), func() bool {
			code, answer := poll(address, token, version)
			if strings.Contains(answer, "{") {
				t.Fatalf("a poll of what is current was answered %d %s", code, answer)
			}
			return code == status
		})
	}
	want(server.Address, token, http.StatusNotModified)
	want(other.Address, token, http.StatusNotModified) // another server
	want(rest, token, http.StatusNotModified)
	pg.Kill()
	want(server.Address, token, http.StatusNotModified)
	want(rest, token, http.StatusNotModified)
	world.Must(t, pg.Restart(t.Context()))
	revoked := func() bool {
		c, err := w.REST.RevokeCredentialWithResponse(t.Context(), w.Tenant, w.Fleet, id)
		return err == nil && c.StatusCode() < 300
	}
	world.Eventually(t, 3*world.Soon, "the credential is not revoked", revoked)
	want(server.Address, token, http.StatusUnauthorized)
	want(rest, token, http.StatusUnauthorized)
	next, _ := w.Credential()
	want(server.Address, next, http.StatusNotModified)
	w.deleteFleet()
	world.Eventually(t, 2*world.Soon, "not refused", func() bool {
		code, answer := poll(server.Address, next, version)
		if strings.Contains(answer, "{") {
			t.Fatalf("a poll was answered %d %s", code, answer)
		}
		return code == http.StatusUnauthorized || code == http.StatusForbidden
	})
}

// deleteFleet confirms it where a node has been told to the database by now.
func (w *installation) deleteFleet() {
	w.T.Helper()
	deleted, err := w.REST.DeleteFleetWithResponse(w.T.Context(), w.Tenant, w.Fleet, nil)
	world.Must(w.T, err)
	if asked := deleted.GetApplicationproblemJSON428(); asked != nil {
		deleted, err = w.REST.DeleteFleetWithResponse(w.T.Context(), w.Tenant, w.Fleet, &client.DeleteFleetParams{Confirm: asked.Token})
		world.Must(w.T, err)
	}
	w.Made(deleted, nil)
}

// counter is a statistic of the Envoy's.
func (r *routed) counter(name string) int64 {
	r.T.Helper()
	stats, err := r.envoy.Stats(r.T.Context(), "^"+regexp.QuoteMeta(name)+"$")
	world.Must(r.T, err)
	return stats[name]
}

// TestAPollingEnvoyThroughFaults: whatever happens to its server, an Envoy that polls goes on with what it has. Requests go through it all the time, and what it has is not sent again.
func TestAPollingEnvoyThroughFaults(t *testing.T) {
	t.Parallel()
	w, pg := setupPostgres(t)
	port, address := world.FreePort(t), world.FreePort(t)
	r := &routed{installation: w, xds: w.XDS("--listen", port), proxy: "http://" + address}
	var id string
	w.NodeToken, id = w.Credential()
	resources := []world.Resource{world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", fromREST)}.Resource(), world.Route("r", "a")}
	for _, name := range []string{"a", "b"} {
		resources = append(resources, world.EDSCluster(name, "1s", fromREST), world.Endpoints(name, world.Backend(t, name)))
	}
	w.Apply(world.Together(resources...))
	asItIs := func(text string) string { return text }
	r.envoy = w.polling("n1", port, asItIs)
	r.awaitBody("a")
	w.AwaitLive("n1")
	const (
		routes   = `http\.l\.rds\.r`
		took     = "http.l.rds.r.update_success"
		failures = "cluster_manager.cds.update_failure"
	)
	// moved: the route leads to another backend, and that is all that the Envoy took since then.
	moved := func(to, before string, had int64) {
		w.T.Helper()
		world.Eventually(w.T, 2*world.Soon, "not routed to "+to, func() bool { _, body := world.Get(r.proxy); return body == to })
		if n := r.counter(took); n != had+1 {
			w.T.Errorf("routes were taken %d times, want once", n-had)
		}
		wantAlike(w.T, before, updates(w.T, r.envoy), routes)
	}
	if r.counter(took) == 0 {
		t.Fatalf("the statistics are %q", updates(t, r.envoy))
	}
	load := startLoad(t, r.proxy)
	w.Step("its server is killed, a change is made, and a server is back", func() {
		before, had := updates(w.T, r.envoy), r.counter(took)
		r.xds.Kill()
		w.Put(world.Route("r", "b"))
		r.xds = w.XDS("--listen", port)
		moved("b", before, had)
	})
	w.Step("its server is behind: it hears of nothing, and looks every half second", func() {
		before, had := updates(w.T, r.envoy), r.counter(took)
		r.xds.Kill()
		r.xds = w.XDS("--listen", port, "--listen-database-url", "postgres://nobody@"+silent(w.Whole)+"/none?connect_timeout=1", "--poll", "500ms")
		w.Put(world.Route("r", "a"))
		moved("a", before, had)
	})
	w.Step("the database is away, and is back", func() {
		before, had := updates(w.T, r.envoy), r.counter(took)
		pg.Kill()
		failed := r.counter(failures)
		if code, _ := world.Get(r.proxy); code != http.StatusOK {
			w.T.Errorf("without a database it answers %d", code)
		}
		world.Must(w.T, pg.Restart(w.T.Context()))
		world.Eventually(w.T, 3*world.Soon, "no write was taken after the database came back", func() bool {
			p, err := w.REST.PutResourceWithBodyWithResponse(w.T.Context(), w.Tenant, w.Fleet, "routes", "r", nil, "application/yaml", strings.NewReader(world.Route("r", "b").Document()))
			return err == nil && p.StatusCode() == http.StatusOK
		})
		moved("b", before, had)
		if n := r.counter(failures); n != failed {
			w.T.Errorf("%d polls failed while the database was away", n-failed)
		}
	})
	w.Step("its credential is revoked: the next poll fails, and it goes on", func() {
		before, failed := updates(w.T, r.envoy), r.counter(failures)
		c, err := w.REST.RevokeCredentialWithResponse(w.T.Context(), w.Tenant, w.Fleet, id)
		w.Made(c, err)
		world.Eventually(w.T, 2*world.Soon, "its polls do not fail", func() bool { return r.counter(failures) > failed })
		world.Eventually(w.T, 2*world.Soon, "the node is not shown as offline", func() bool {
			n := w.Node("n1")
			return n != nil && n.State == client.NodeStateOffline
		})
		wantAlike(w.T, before, updates(w.T, r.envoy), "nothing")
	})
	if done, failed := load.stop(); failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
	}
	w.Step("the fleet of another one is deleted", func() {
		world.Must(w.T, r.envoy.Stop())
		w.NodeToken, _ = w.Credential()
		r.envoy = w.polling("n2", port, asItIs)
		r.awaitBody("b")
		load := startLoad(w.T, r.proxy)
		before, failed := updates(w.T, r.envoy), r.counter(failures)
		w.deleteFleet()
		world.Eventually(w.T, 2*world.Soon, "its polls do not fail", func() bool { return r.counter(failures) > failed })
		wantAlike(w.T, before, updates(w.T, r.envoy), "nothing")
		if done, failed := load.stop(); failed > 0 || done == 0 {
			w.T.Errorf("%d of %d requests failed: %s", failed, done, load.first.Load())
		}
	})
}
