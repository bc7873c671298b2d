package e2e

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// fromREST is the source of what is polled for.
const fromREST = `{resource_api_version: V3, api_config_source: {api_type: REST, transport_api_version: V3, cluster_names: [fairlead_xds], refresh_delay: 0.5s, request_timeout: 35s}}`

// polling starts an Envoy that polls.
func (w *installation) polling(id, address string, edit func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	return w.pollingBy("", id, address, edit)
}

// pollingBy starts one by another program than the tests' Envoy.
func (w *installation) pollingBy(program, id, address string, edit func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: id, NodeCluster: w.Fleet, XDSAddresses: []string{address}, REST: true, Plaintext: true, TokenEnv: "FAIRLEAD_NODE_TOKEN", AdminAddress: world.AnyPort,
	})
	world.Must(w.T, err)
	dir, err := os.MkdirTemp(w.Dir, "envoy-"+id+"-")
	world.Must(w.T, err)
	return w.StartEnvoy(localenvoy.Config{Bin: program, Bootstrap: []byte(edit(string(text))), Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + w.NodeToken}})
}

// updates are how often the Envoy took something, by subscription.
func updates(t testing.TB, e *localenvoy.Envoy) string {
	t.Helper()
	b, err := e.Admin(t.Context(), `/stats?filter=update_(success%7Crejected)$`)
	world.Must(t, err)
	return string(b)
}

// TestPollingOverREST: a real Envoy polls for each type by itself.
func TestPollingOverREST(t *testing.T) {
	t.Parallel()
	w := setup(t)
	port := world.FreePort(t)
	xds := w.XDS("--listen", port)
	r := &routed{installation: w, xds: xds}
	address, secured := world.FreePort(t), world.FreePort(t)
	r.proxy = "http://" + address
	cert, key := world.Certificate(t)
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", fromREST)}.Resource(), world.Route("r", "a"),
		world.EDSCluster("a", "1s", fromREST), world.Endpoints("a", world.Backend(t, "a")), layer("layer", "e2e.key", 7),
		world.HTTPListener{Name: "tls", Address: secured, Routes: world.RDS("r", fromREST), TLS: presents("server", fromREST)}.Resource(), secret("server", cert, key),
	))
	r.envoy = w.polling("n1", xds.Address, runtimeLayer("layer", fromREST))
	w.AwaitLive("n1")
	w.Step("a route, a runtime, a secret", func() {
		promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "a" })
		promptly(w.T, "in the runtime", func() bool { return runtimeValue(w.T, r.envoy, "e2e.key") == "7" })
		promptly(w.T, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		if n := w.Node("n1"); n.Protocol == nil || !strings.HasPrefix(*n.Protocol, "REST ") {
			w.T.Errorf("the node is %s", world.AsJSON(n))
		}
	})
	w.Step("a change within a second", func() {
		r.Put(world.Endpoints("a", world.Backend(r.Whole, "b")))
		promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "b" })
		r.Put(layer("layer", "e2e.key", 8))
		promptly(w.T, "in the runtime", func() bool { return runtimeValue(w.T, r.envoy, "e2e.key") == "8" })
	})
	w.Step("a changed cluster, and a route to a new one", func() {
		r.AwaitState(r.Put(world.EDSCluster("a", "2s", fromREST)), "delivered")
		if got := activeClusters(w.T, r.envoy)["a"]; got != "2s" {
			w.T.Errorf("the receipt says delivered, and the timeout is %s", got)
		}
		r.Put(world.EDSCluster("c", "1s", fromREST), world.Endpoints("c", world.Backend(r.Whole, "c")))
		r.AwaitState(r.Put(world.Route("r", "c")), "delivered")
		if _, body := world.Get(r.proxy); body != "c" {
			w.T.Errorf("the receipt says delivered, and it is routed to %q", body)
		}
	})
	w.Step("endpoints that are named for ADS are never asked for", func() {
		ads := `{resource_api_version: V3, ads: {}}`
		r.AwaitState(r.Put(world.EDSCluster("ads", "1s", ads), world.Endpoints("ads", world.Backend(r.Whole, "ads"))), "delivered")
		for name, want := range map[string]client.NodeResourceState{"ads": client.NodeResourceStateNotSubscribed, "c": client.NodeResourceStateSynced} {
			typ := client.Endpoints
			why, err := w.REST.GetNodeWhyWithResponse(t.Context(), w.Tenant, w.Fleet, "n1", &client.GetNodeWhyParams{Type: &typ, Name: &name})
			world.Must(t, err)
			if got := why.JSON200.Items[0]; got.Resource.State != want || strings.Contains(got.Because, "polls over REST") != (name == "ads") {
				t.Errorf("endpoints/%s are %s: %s", name, got.Resource.State, got.Because)
			}
		}
	})
	w.Step("a poison is told as probably refused", func() {
		poison := world.HTTPListener{Name: "poison", Address: address, Routes: world.RDS("r", fromREST)}.Resource() // the address of l
		got := r.AwaitRejected(r.Put(poison))
		if !strings.Contains(*got.Detail, "probably refused") {
			w.T.Errorf("the receipt says %q", *got.Detail)
		}
		if _, body := world.Get(r.proxy); body != "c" {
			w.T.Errorf("it is routed to %q", body)
		}
		good := world.HTTPListener{Name: "good", Address: world.FreePort(w.T), Routes: world.RDS("r", fromREST)}.Resource()
		r.Put(good)
		r.AwaitState(r.Apply("delete: [{type: listeners, name: poison}]\n"), "delivered")
	})
	w.Step("what is routed to the server has no identity", func() {
		at := world.FreePort(w.T)
		r.AwaitState(r.Put(world.NewResource("listeners", "attack", sprintf(`{name: attack, address: %s, filter_chains: [{filters: [{name: hcm, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: a, generate_request_id: false,
    http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}],
    route_config: {name: a, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: fairlead_xds, host_rewrite_literal: fairlead_xds},
      request_headers_to_add: [{header: {key: x-envoy-internal, value: "true"}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}],
      request_headers_to_remove: [x-request-id, x-forwarded-for, x-forwarded-proto, x-envoy-expected-rq-timeout-ms]}]}]}}}]}]}`, world.Socket(at)))), "delivered")
		body := `{"node":{"id":"n1"},"resource_names":["server"]}`
		code, words := world.Ask("http://"+at+"/v3/discovery:secrets", func(q *http.Request) {
			q.Method, q.Body, q.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(body)), int64(len(body))
			q.Header.Set("x-envoy-internal", "true")
			q.Header.Set("fairlead-origin", "0,,,true,,,fairlead_xds,/v3/discovery:secrets")
		})
		if code != http.StatusUnauthorized {
			w.T.Errorf("a poll that was routed got %d %s", code, words)
		}
	})
	w.Step("the server is killed, and is back", func() {
		before := updates(w.T, r.envoy)
		if !regexp.MustCompile(`cds\.update_success: [1-9]`).MatchString(before) {
			w.T.Fatalf("the statistics are %q", before)
		}
		r.xds.Kill()
		if code, _ := world.Get(r.proxy); code != http.StatusOK {
			w.T.Errorf("without a server it answers %d", code)
		}
		r.xds = w.XDS("--listen", port)
		w.AwaitLive("n1")
		last := r.Put(world.Endpoints("c", world.Backend(r.Whole, "d")))
		world.Eventually(w.T, world.Soon, "not routed", func() bool { _, body := world.Get(r.proxy); return body == "d" })
		// The lease of the server that was killed may have to end first.
		world.Eventually(w.T, 3*world.Soon, "not delivered", func() bool { return r.Receipt(last).State == "delivered" })
		wantAlike(w.T, before, updates(w.T, r.envoy), `cluster\.c`)
	})
}

// wantAlike fails if an Envoy took something between two statistics, but for what was changed: subscriptions whose names fit. The name of the server is looked up again and
// again.
func wantAlike(t testing.TB, before, after, changed string) {
	t.Helper()
	counts := func(text string) string {
		return regexp.MustCompile(`(?m)^(`+changed+`|cluster\.fairlead_xds)\.update_.*\n`).ReplaceAllString(text, "")
	}
	if counts(before) != counts(after) {
		t.Errorf("something was sent again:\n%s\nbefore:\n%s", after, before)
	}
}
