package e2e

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

const onDemand = `{name: on_demand, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand}},`

// emptyRoute has its virtual hosts fetched.
func emptyRoute(name string) world.Resource {
	return world.NewResource("routes", name, sprintf("{name: %s, vhds: {config_source: %s}}", name, world.ADS))
}

func virtualHost(name, domain, cluster string) world.Resource {
	return world.NewResource("virtual-hosts", name, sprintf(`{name: %s, domains: ["%s"], routes: [{match: {prefix: /}, route: {cluster: %s}}]}`, name, domain, cluster))
}

// hosts is a world with an Envoy whose route fetches its virtual hosts.
type hosts struct {
	*routed
	address string
}

// answers asks for a host and returns the status and the body.
func (h *hosts) answers(host string) (int, string) {
	return world.Ask("http://"+h.address, func(r *http.Request) { r.Host = host })
}

func (h *hosts) routes(host, want string) {
	h.T.Helper()
	promptly(h.T, host+" routed to "+want, func() bool { _, body := h.answers(host); return body == want })
}

// refuses asks once: an on-demand request that is not answered hangs for ever.
func (h *hosts) refuses(host string) {
	h.T.Helper()
	promptly(h.T, host+" answered by 404", func() bool { code, _ := h.answers(host); return code == http.StatusNotFound })
}

// demands is how many requests for virtual hosts by name Envoy has sent.
func (h *hosts) demands() (n int) {
	for _, a := range h.tap.Requests(0) {
		if a.Type == fleet.VirtualHost && len(a.Names) > 0 {
			n++
		}
	}
	return n
}

// TestVirtualHostsOnDemand is about delta: state of the world has no virtual hosts.
func TestVirtualHostsOnDemand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	h := &hosts{&routed{installation: w, xds: w.XDS()}, world.FreePort(t)}
	h.tap = world.NewTap(t, h.xds.Address)
	w.Apply(world.Together(
		world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(t, "b")),
		world.HTTPListener{Name: "l", Address: h.address, Routes: world.RDS("r1", world.ADS), Filters: onDemand}.Resource(),
		emptyRoute("r1"), virtualHost("r1/known", "known.host", "a"),
	))
	h.envoy = w.Launch("n1", h.tap.Address, true)
	promptly(t, "LIVE", func() bool { return live(t, h.envoy) })
	if !envoyversion.Has(world.EnvoyVersion(), envoyversion.VirtualHosts) {
		w.Step("refused by a version that has none over ADS", h.refused)
		return
	}

	w.Step("a known host", func() { h.routes("known.host", "a") })
	w.Step("an unknown host, twice", func() {
		h.refuses("unknown.host")
		h.refuses("unknown.host")
	})
	w.Step("a host that was unknown and is written", func() {
		w.Put(virtualHost("r1/unknown", "unknown.host", "b"))
		h.routes("unknown.host", "b")
	})
	w.Step("a host that was never asked for and is written", func() {
		w.Put(virtualHost("r1/later", "later.host", "b"))
		h.routes("later.host", "b")
	})
	w.Step("a host that is changed", func() {
		w.Put(virtualHost("r1/later", "later.host", "a"))
		h.routes("later.host", "a")
	})
	w.Step("two hosts of one wildcard", func() {
		w.Put(virtualHost("r1/wild", "*.wild.host", "b"))
		h.routes("one.wild.host", "b")
		n := h.demands()
		h.routes("two.wild.host", "b")
		if got := h.demands(); got != n {
			w.T.Errorf("the second host took %d requests, want none", got-n)
		}
	})
	w.Step("a host with a port does not hang", func() {
		promptly(w.T, "answered", func() bool { code, _ := h.answers("known.host:8080"); return code != 0 })
		promptly(w.T, "answered", func() bool { code, _ := h.answers("nowhere.host:8080"); return code == http.StatusNotFound })
	})
	w.Step("a second route on the same stream", h.secondRoute)
	w.Step("after a cut", h.afterACut)
	w.Step("a host that is deleted", func() {
		revision := w.Apply("delete: [{type: virtual-hosts, name: r1/later}]\n")
		h.refuses("later.host")
		h.AwaitState(revision, "delivered")
	})
}

// refused: the route is, in words that name the cause, and its writer was warned. What else the
// proxy is sent goes on.
func (h *hosts) refused() {
	h.T.Helper()
	doc := world.Together(emptyRoute("r2"), world.HTTPListener{Name: "m", Address: world.FreePort(h.T), Routes: world.RDS("r2", world.ADS), Filters: onDemand}.Resource())
	written, err := h.REST.ApplyWithBodyWithResponse(h.T.Context(), "acme", "edge", nil, "application/yaml", strings.NewReader(doc))
	h.Made(written, err)
	if ws := written.JSON200.Warnings; ws == nil || len(*ws) != 1 || (*ws)[0].Code != "unsupported_by_nodes" {
		h.T.Errorf("the warnings are %s", written.Body)
	}
	receipt := h.Receipt(written.JSON200.Revision)
	if receipt.State != "rejected" || len(receipt.Nodes) != 1 || receipt.Nodes[0].Detail == nil || !strings.Contains(*receipt.Nodes[0].Detail, "only 'DELTA_GRPC' is supported") {
		h.T.Errorf("the receipt is %+v", receipt)
	}
	address := world.FreePort(h.T)
	h.Apply(world.Together(world.Route("plain", "a"), world.Listener("plain", address, "plain")))
	promptly(h.T, "another listener serves", func() bool { _, body := world.Get("http://" + address); return body == "a" })
}

// secondRoute: Envoy sends no request for its virtual hosts, and its listener warms until
// it got one of them, or the word that one is missing.
func (h *hosts) secondRoute() {
	bare, full := world.FreePort(h.T), world.FreePort(h.T)
	h.Apply(world.Together(
		emptyRoute("r2"), world.HTTPListener{Name: "bare", Address: bare, Routes: world.RDS("r2", world.ADS), Filters: onDemand}.Resource(),
		emptyRoute("r3"), world.HTTPListener{Name: "full", Address: full, Routes: world.RDS("r3", world.ADS), Filters: onDemand}.Resource(),
		virtualHost("r3/known", "known.host", "b"),
	))
	first := h.address
	defer func() { h.address = first }()
	h.address = bare
	h.refuses("known.host")
	h.address = full
	h.routes("known.host", "b")
	h.refuses("unknown.host")
}

// afterACut: the new stream names what was asked for on the old one.
func (h *hosts) afterACut() {
	before := h.tap.Cut()
	h.Put(virtualHost("r1/meanwhile", "meanwhile.host", "b"))
	world.Eventually(h.T, world.Soon, "Envoy did not ask for virtual hosts again", func() bool { return h.tap.Sees(before, fleet.VirtualHost) })
	h.routes("known.host", "a")
	h.routes("two.wild.host", "b")
	h.routes("meanwhile.host", "b")
	h.refuses("elsewhere.host")
	h.Put(virtualHost("r1/elsewhere", "elsewhere.host", "a"))
	h.routes("elsewhere.host", "a")
}
