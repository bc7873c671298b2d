package e2e

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

const onDemand = `{name: on_demand, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand}},`

// emptyRoute has its virtual hosts fetched.
func emptyRoute(name string) res {
	return res{"routes", name, sprintf("{name: %s, vhds: {config_source: %s}}", name, ads)}
}

func virtualHost(name, domain, cluster string) res {
	return res{"virtual-hosts", name, sprintf(`{name: %s, domains: ["%s"], routes: [{match: {prefix: /}, route: {cluster: %s}}]}`, name, domain, cluster)}
}

// hosts is a world with an Envoy whose route fetches its virtual hosts.
type hosts struct {
	*routed
	address string
}

// answers asks for a host and returns the status and the body.
func (h *hosts) answers(host string) (int, string) {
	return ask("http://"+h.address, func(r *http.Request) { r.Host = host })
}

func (h *hosts) routes(host, want string) {
	h.t.Helper()
	promptly(h.t, host+" routed to "+want, func() bool { _, body := h.answers(host); return body == want })
}

// refuses asks once: an on-demand request that is not answered hangs for ever.
func (h *hosts) refuses(host string) {
	h.t.Helper()
	promptly(h.t, host+" answered by 404", func() bool { code, _ := h.answers(host); return code == http.StatusNotFound })
}

// demands is how many requests for virtual hosts by name Envoy has sent.
func (h *hosts) demands() (n int) {
	for _, a := range h.tap.requests(0) {
		if a.typ == fleet.VirtualHost && len(a.names) > 0 {
			n++
		}
	}
	return n
}

// TestVirtualHostsOnDemand is about delta: state of the world has no virtual hosts.
func TestVirtualHostsOnDemand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	h := &hosts{&routed{world: w, xds: w.xds()}, freePort(t)}
	h.tap = newTap(t, h.xds.address)
	w.apply(together(
		cluster("a", "1s"), endpoints("a", backend(t, "a")), cluster("b", "1s"), endpoints("b", backend(t, "b")),
		httpListener{name: "l", address: h.address, routes: rds("r1", ads), filters: onDemand}.res(),
		emptyRoute("r1"), virtualHost("r1/known", "known.host", "a"),
	))
	h.envoy = w.launch("n1", h.tap.address, true)
	promptly(t, "LIVE", func() bool { return live(t, h.envoy) })
	if !envoyversion.Has(envoyVersion, envoyversion.VirtualHosts) {
		w.step("refused by a version that has none over ADS", h.refused)
		return
	}

	w.step("a known host", func() { h.routes("known.host", "a") })
	w.step("an unknown host, twice", func() {
		h.refuses("unknown.host")
		h.refuses("unknown.host")
	})
	w.step("a host that was unknown and is written", func() {
		w.put(virtualHost("r1/unknown", "unknown.host", "b"))
		h.routes("unknown.host", "b")
	})
	w.step("a host that was never asked for and is written", func() {
		w.put(virtualHost("r1/later", "later.host", "b"))
		h.routes("later.host", "b")
	})
	w.step("a host that is changed", func() {
		w.put(virtualHost("r1/later", "later.host", "a"))
		h.routes("later.host", "a")
	})
	w.step("two hosts of one wildcard", func() {
		w.put(virtualHost("r1/wild", "*.wild.host", "b"))
		h.routes("one.wild.host", "b")
		n := h.demands()
		h.routes("two.wild.host", "b")
		if got := h.demands(); got != n {
			w.t.Errorf("the second host took %d requests, want none", got-n)
		}
	})
	w.step("a host with a port does not hang", func() {
		promptly(w.t, "answered", func() bool { code, _ := h.answers("known.host:8080"); return code != 0 })
		promptly(w.t, "answered", func() bool { code, _ := h.answers("nowhere.host:8080"); return code == http.StatusNotFound })
	})
	w.step("a second route on the same stream", h.secondRoute)
	w.step("after a cut", h.afterACut)
	w.step("a host that is deleted", func() {
		revision := w.apply("delete: [{type: virtual-hosts, name: r1/later}]\n")
		h.refuses("later.host")
		h.awaitState(revision, "delivered")
	})
}

// refused: the route is, in words that name the cause, and its writer was warned. What else the
// proxy is sent goes on.
func (h *hosts) refused() {
	h.t.Helper()
	doc := together(emptyRoute("r2"), httpListener{name: "m", address: freePort(h.t), routes: rds("r2", ads), filters: onDemand}.res())
	written, err := h.rest.ApplyWithBodyWithResponse(h.t.Context(), "acme", "edge", nil, "application/yaml", strings.NewReader(doc))
	h.made(written, err)
	if ws := written.JSON200.Warnings; ws == nil || len(*ws) != 1 || (*ws)[0].Code != "unsupported_by_nodes" {
		h.t.Errorf("the warnings are %s", written.Body)
	}
	receipt := h.receipt(written.JSON200.Revision)
	if receipt.State != "rejected" || len(receipt.Nodes) != 1 || receipt.Nodes[0].Detail == nil || !strings.Contains(*receipt.Nodes[0].Detail, "only 'DELTA_GRPC' is supported") {
		h.t.Errorf("the receipt is %+v", receipt)
	}
	address := freePort(h.t)
	h.apply(together(route("plain", "a"), listener("plain", address, "plain")))
	promptly(h.t, "another listener serves", func() bool { _, body := get("http://" + address); return body == "a" })
}

// secondRoute: Envoy sends no request for its virtual hosts, and its listener warms until
// it got one of them, or the word that one is missing.
func (h *hosts) secondRoute() {
	bare, full := freePort(h.t), freePort(h.t)
	h.apply(together(
		emptyRoute("r2"), httpListener{name: "bare", address: bare, routes: rds("r2", ads), filters: onDemand}.res(),
		emptyRoute("r3"), httpListener{name: "full", address: full, routes: rds("r3", ads), filters: onDemand}.res(),
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
	before := h.tap.cut()
	h.put(virtualHost("r1/meanwhile", "meanwhile.host", "b"))
	eventually(h.t, soon, "Envoy did not ask for virtual hosts again", func() bool { return h.tap.sees(before, fleet.VirtualHost) })
	h.routes("known.host", "a")
	h.routes("two.wild.host", "b")
	h.routes("meanwhile.host", "b")
	h.refuses("elsewhere.host")
	h.put(virtualHost("r1/elsewhere", "elsewhere.host", "a"))
	h.routes("elsewhere.host", "a")
}
