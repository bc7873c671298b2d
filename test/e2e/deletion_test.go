package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// deletions is a world with an Envoy that uses something of every type, each listener for one of them.
type deletions struct {
	*routed
	source string // where everything comes from
	cert   []byte
	at     map[string]string // the listeners' addresses
	all    map[fleet.Ref]world.Resource
}

// asked is what a listener answers on a connection of its own, 0 if it does not.
func asked(address string, change func(*http.Request)) (code int, body string) {
	r, err := http.NewRequest(http.MethodGet, "http://"+address, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	if change != nil {
		change(r)
	}
	c := http.Client{Timeout: world.Soon, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// answers waits until a listener answers so.
func (d *deletions) answers(listener string, code int, body string) {
	d.T.Helper()
	d.answersTo(listener, nil, code, body)
}

func (d *deletions) answersTo(listener string, change func(*http.Request), code int, body string) {
	d.T.Helper()
	var gotCode int
	var got string
	promptly(d.T, sprintf("answered by %d %s", code, body), func() bool {
		gotCode, got = asked(d.at[listener], change)
		return gotCode == code && (body == "" || got == body)
	})
}

// answersStill fails unless a listener answers so now, as it did before: an Envoy ACKs what is new before its workers have it.
func (d *deletions) answersStill(listener string, code int, body string) {
	d.T.Helper()
	if gotCode, got := asked(d.at[listener], nil); gotCode != code || body != "" && got != body {
		d.T.Errorf("%s answers %d %s, want %d %s", listener, gotCode, got, code, body)
	}
}

// changed reports whether a listener of that name is there alone that was written as INBOUND: neither warms one, nor does one drain.
func (d *deletions) changed(listener string) bool {
	dump, err := d.envoy.Admin(d.T.Context(), "/config_dump?resource=dynamic_listeners&name_regex="+listener)
	world.Must(d.T, err)
	text := string(dump)
	return strings.Contains(text, "INBOUND") && !strings.Contains(text, "warming_state") && !strings.Contains(text, "draining_state")
}

// removes deletes resources in one revision, whose receipt has to be delivered to the Envoy, and returns what the answer says of them.
func (d *deletions) removes(refs ...fleet.Ref) (said string) {
	d.T.Helper()
	var b strings.Builder
	b.WriteString("delete:\n")
	for _, ref := range refs {
		b.WriteString(sprintf("- {type: %s, name: %q}\n", ref.Type.Slug(), ref.Name))
	}
	doc := b.String()
	r, err := d.REST.ApplyWithBodyWithResponse(d.T.Context(), d.Tenant, d.Fleet, nil, "application/yaml", strings.NewReader(doc))
	if err == nil && r.ApplicationproblemJSON428 != nil {
		doc += "confirm: " + *r.ApplicationproblemJSON428.Token + "\n"
		r, err = d.REST.ApplyWithBodyWithResponse(d.T.Context(), d.Tenant, d.Fleet, nil, "application/yaml", strings.NewReader(doc))
	}
	d.Made(r, err)
	d.AwaitDelivered(r.JSON200.Revision, 1)
	for _, f := range r.JSON200.Findings.Items {
		if f.Severity != client.Info {
			said += sprintf("%s: %s\n", f.Severity, f.Detail)
		}
	}
	return said
}

// says fails unless what was said of a deletion has each of these words, or nothing was if there are none. What comes from another
// source than ADS is no reference, of which nothing is said.
func (d *deletions) says(said string, words ...string) {
	d.T.Helper()
	if d.source != world.ADS {
		return
	}
	if len(words) == 0 && said != "" {
		d.T.Errorf("it is said that %s, want nothing", said)
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			d.T.Errorf("it is said that %q, want %q", said, w)
		}
	}
}

func ref(t fleet.Type, name string) fleet.Ref { return fleet.Ref{Type: t, Name: name} }

// written puts back what was deleted.
func (d *deletions) written(refs ...fleet.Ref) {
	d.T.Helper()
	var rs []world.Resource
	for _, ref := range refs {
		rs = append(rs, d.all[ref])
	}
	d.AwaitDelivered(d.Apply(world.Together(rs...)), 1)
}

func setupDeletions(t *testing.T, delta, ads bool) *deletions {
	t.Helper()
	d := &deletions{routed: &routed{installation: setup(t)}, source: world.ADS, at: map[string]string{}, all: map[fleet.Ref]world.Resource{}}
	if !ads {
		d.source = fromService(delta)
	}
	for _, l := range []string{"plain", "filtered", "secured", "scopes", "hosts", "other"} {
		d.at[l] = world.FreePort(t)
	}
	var key []byte
	d.cert, key = world.Certificate(t)
	listener := func(name, routes, filters, tls string) world.Resource {
		return world.HTTPListener{Name: name, Address: d.at[name], Routes: routes, Filters: filters, TLS: tls}.Resource()
	}
	rs := []world.Resource{
		world.EDSCluster("a", "1s", d.source), world.Endpoints("a", world.Backend(t, "a")),
		world.EDSCluster("b", "1s", d.source), world.Endpoints("b", world.Backend(t, "b")),
		world.Route("r", "a"), world.Route("scoped", "b"), world.Route("other", "b"),
		listener("plain", world.RDS("r", d.source), "", ""),
		listener("other", world.RDS("other", d.source), "", ""),
		listener("filtered", world.RDS("r", d.source), discovered("filter", d.source), ""),
		listener("secured", world.RDS("r", d.source), "", presents("server", d.source)),
		listener("scopes", scoped(d.source, d.source), "", ""), scope("s", "one", "scoped"),
		layer("layer", "e2e.key", 7), aborting("filter", 418), secret("server", d.cert, key),
	}
	if delta && ads && envoyversion.Has(world.EnvoyVersion(), envoyversion.VirtualHosts) {
		rs = append(rs, emptyRoute("vhds"), virtualHost("vhds/known", "known.host", "a"), listener("hosts", world.RDS("vhds", world.ADS), onDemand, ""))
	}
	d.Apply(world.Together(rs...))
	for _, r := range rs {
		typ, _ := fleet.TypeFromSlug(r.Type)
		d.all[ref(typ, r.Name)] = r
	}
	d.xds = d.XDS()
	d.tap = world.NewTap(t, d.xds.Address)
	edits := []func(string) string{runtimeLayer("layer", d.source)}
	if !ads {
		edits = append([]func(string) string{withoutADS(d.source)}, edits...)
	}
	d.envoy = d.Launch("n1", d.tap.Address, delta, edits...)
	world.Eventually(t, world.Soon, "not LIVE", func() bool { return live(t, d.envoy) })
	d.AwaitLive("n1")
	d.answers("plain", http.StatusOK, "a")
	d.answers("filtered", http.StatusTeapot, "")
	return d
}

// TestDeletionsAreWhatTheWriteSays: of every type, over ADS and over the types' own services. What is still named goes on as it
// was, or is said to fail, and does.
func TestDeletionsAreWhatTheWriteSays(t *testing.T) {
	for name, ads := range map[string]bool{"ADS": true, "own services": false} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, delta bool) {
				d := setupDeletions(t, delta, ads)
				d.Step("endpoints", func() { d.endpoints() })
				d.Step("a runtime", d.runtime)
				d.Step("an extension", d.extension)
				d.Step("a secret", d.secret)
				d.Step("a route with its cluster", d.route)
				d.Step("a scoped route", d.scopedRoute)
				if delta && ads && envoyversion.Has(world.EnvoyVersion(), envoyversion.VirtualHosts) {
					d.Step("a virtual host", d.virtualHost)
				}
				d.Step("after a cut", d.afterACut)
				d.Step("clusters and listeners", d.clustersAndListeners)
			})
		})
	}
}

// endpoints: Envoy passes over a removal of endpoints, so they are emptied.
func (d *deletions) endpoints() {
	d.says(d.removes(ref(fleet.Endpoint, "a")), "clusters/a names endpoints/a, which this deletes", "the cluster has no endpoints, and requests to it fail with 503")
	d.answersStill("plain", http.StatusServiceUnavailable, "")
	d.AwaitDelivered(d.Put(world.EDSCluster("a", "2s", d.source)), 1)
	promptly(d.T, "active", func() bool { return activeClusters(d.T, d.envoy)["a"] == "2s" })
	d.answersStill("plain", http.StatusServiceUnavailable, "")
	d.written(ref(fleet.Endpoint, "a"))
	d.answersStill("plain", http.StatusOK, "a")
}

func (d *deletions) runtime() {
	promptly(d.T, "in the runtime", func() bool { return runtimeValue(d.T, d.envoy, "e2e.key") == "7" })
	d.says(d.removes(ref(fleet.Runtime, "layer")))
	if got := runtimeValue(d.T, d.envoy, "e2e.key"); got != "" {
		d.T.Errorf("the runtime says %s, want nothing", got)
	}
	d.written(ref(fleet.Runtime, "layer"))
	promptly(d.T, "in the runtime again", func() bool { return runtimeValue(d.T, d.envoy, "e2e.key") == "7" })
}

// extension: without it Envoy answers by 500, so it stays while a listener names it, and for the listener's last connections.
func (d *deletions) extension() {
	const keep = "nodes keep what they have of listeners/filtered, or go without it, until it is there"
	d.says(d.removes(ref(fleet.Extension, "filter")), "listeners/filtered names extensions/filter, which this deletes", keep)
	d.answersStill("filtered", http.StatusTeapot, "")
	d.AwaitDelivered(d.Put(d.all[ref(fleet.Listener, "filtered")].With("traffic_direction: INBOUND")), 1)
	d.answers("filtered", http.StatusTeapot, "")
	d.AwaitDelivered(d.Put(aborting("filter", 410)), 1)
	d.answersStill("filtered", http.StatusGone, "")
	d.written(ref(fleet.Extension, "filter"))
	d.answersStill("filtered", http.StatusTeapot, "")
}

func (d *deletions) secret() {
	d.says(d.removes(ref(fleet.Secret, "server")), "listeners/secured names secrets/server, which this deletes", "nodes keep what they have of listeners/secured")
	if _, err := request(d.at["secured"]); err != nil {
		d.T.Errorf("over TLS: %v", err)
	}
	d.AwaitDelivered(d.Put(d.all[ref(fleet.Listener, "secured")].With("traffic_direction: INBOUND")), 1)
	promptly(d.T, "served over TLS", func() bool { _, err := request(d.at["secured"]); return err == nil })
	d.written(ref(fleet.Secret, "server"))
}

// route: with what it names it goes on in those that have it, while the listener is there.
func (d *deletions) route() {
	gone := []fleet.Ref{ref(fleet.Route, "r")}
	if d.source == world.ADS { // else nothing is known of what names it
		gone = append(gone, ref(fleet.Cluster, "a"), ref(fleet.Endpoint, "a"))
	}
	d.says(d.removes(gone...), "listeners/plain names routes/r, which this deletes", "nodes keep what they have of listeners/plain")
	d.answersStill("plain", http.StatusOK, "a")
	d.AwaitDelivered(d.Put(d.all[ref(fleet.Listener, "plain")].With("traffic_direction: INBOUND")), 1)
	d.answers("plain", http.StatusOK, "a")
	d.written(gone...)
	d.answersStill("plain", http.StatusOK, "a")
}

func (d *deletions) scopedRoute() {
	one := func(r *http.Request) { r.Header.Set("X-Scope", "one") }
	d.answersTo("scopes", one, http.StatusOK, "b")
	d.says(d.removes(ref(fleet.Route, "scoped")), "scoped-routes/s names routes/scoped, which this deletes")
	d.answersTo("scopes", one, http.StatusOK, "b")
	d.says(d.removes(ref(fleet.ScopedRoute, "s")))
	d.answersTo("scopes", one, http.StatusNotFound, "")
	d.written(ref(fleet.Route, "scoped"), ref(fleet.ScopedRoute, "s"))
	d.answersTo("scopes", one, http.StatusOK, "b")
}

func (d *deletions) virtualHost() {
	known := func(r *http.Request) { r.Host = "known.host" }
	d.answersTo("hosts", known, http.StatusOK, "a")
	d.says(d.removes(ref(fleet.VirtualHost, "vhds/known")))
	d.answersTo("hosts", known, http.StatusNotFound, "")
	d.written(ref(fleet.VirtualHost, "vhds/known"))
	d.answersTo("hosts", known, http.StatusOK, "a")
}

// afterACut: what was deleted is so on the next stream too, and comes back alike.
func (d *deletions) afterACut() {
	d.removes(ref(fleet.Endpoint, "b"), ref(fleet.Extension, "filter"), ref(fleet.Runtime, "layer"), ref(fleet.Route, "r"))
	before := d.tap.Cut()
	world.Eventually(d.T, world.Soon, "Envoy did not ask for extensions again", func() bool { return d.tap.Sees(before, fleet.Extension) })
	d.AwaitACKed(d.Put(d.all[ref(fleet.Listener, "other")].With("traffic_direction: INBOUND")), 1)
	d.answersStill("filtered", http.StatusTeapot, "")
	d.answersStill("plain", http.StatusOK, "a")
	d.answersStill("other", http.StatusServiceUnavailable, "")
	if got := runtimeValue(d.T, d.envoy, "e2e.key"); got != "" {
		d.T.Errorf("the runtime says %s, want nothing", got)
	}
	d.written(ref(fleet.Endpoint, "b"), ref(fleet.Extension, "filter"), ref(fleet.Runtime, "layer"), ref(fleet.Route, "r"))
	d.answersStill("filtered", http.StatusTeapot, "")
	d.answers("other", http.StatusOK, "b")
	promptly(d.T, "in the runtime again", func() bool { return runtimeValue(d.T, d.envoy, "e2e.key") == "7" })
}

func (d *deletions) clustersAndListeners() {
	d.says(d.removes(ref(fleet.Cluster, "a")), "routes/r names clusters/a, which this deletes", "what is sent there fails, requests with 503")
	d.answersStill("plain", http.StatusServiceUnavailable, "")
	d.says(d.removes(ref(fleet.Listener, "plain")))
	promptly(d.T, "not answered", func() bool { code, _ := asked(d.at["plain"], nil); return code == 0 })
	promptly(d.T, "LIVE", func() bool { return live(d.T, d.envoy) })
}

// TestADeletedExtensionServesTheLastConnections: a listener's kept connections go on with what it had until they are closed.
func TestADeletedExtensionServesTheLastConnections(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		d := setupDeletions(t, delta, true)
		c := http.Client{Timeout: world.Soon, Transport: &http.Transport{}}
		defer c.CloseIdleConnections()
		status := func() int {
			resp, err := c.Get("http://" + d.at["filtered"])
			if err != nil {
				return 0
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.StatusCode
		}
		if got := status(); got != http.StatusTeapot {
			t.Fatalf("answered by %d", got)
		}
		d.removes(ref(fleet.Listener, "filtered"), ref(fleet.Extension, "filter"))
		for range 5 {
			if got := status(); got != http.StatusTeapot && got != 0 {
				t.Errorf("answered by %d, want by the filter or not at all", got)
			}
		}
	})
}

// TestScopedRoutesThatNothingUsesHoldNothingUp: an Envoy says nothing of those when the last listener that takes some is gone, and answers nothing
// that is empty. Neither their changes nor their deletion leave a revision pending, and they are back with the next listener.
func TestScopedRoutesThatNothingUsesHoldNothingUp(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		d := setupDeletions(t, delta, true)
		one := func(r *http.Request) { r.Header.Set("X-Scope", "one") }
		d.answersTo("scopes", one, http.StatusOK, "b")
		other := "{ads: {}, resource_api_version: V3, initial_fetch_timeout: 14s}" // another source: an Envoy takes nothing over from the old one
		d.AwaitDelivered(d.Put(world.HTTPListener{Name: "scopes", Address: d.at["scopes"], Routes: scoped(other, world.ADS)}.Resource().With("traffic_direction: INBOUND")), 1)
		world.Eventually(t, world.Soon, "the listener does not change", func() bool { return d.changed("scopes") })
		if !envoyversion.Has(world.EnvoyVersion(), envoyversion.LateScopes) {
			d.answersTo("scopes", one, http.StatusNotFound, "")
			return
		}
		d.answersTo("scopes", one, http.StatusOK, "b")
		unused := func() {
			d.removes(ref(fleet.Listener, "scopes"))
			world.Eventually(t, world.Soon, "the scoped routes stay", func() bool {
				dump, err := d.envoy.Admin(t.Context(), "/config_dump")
				world.Must(t, err)
				return !strings.Contains(string(dump), "dynamic_scoped_route_configs")
			})
		}
		unused()
		d.written(ref(fleet.Listener, "scopes"))
		d.answersTo("scopes", one, http.StatusOK, "b")
		unused()
		d.AwaitDelivered(d.Put(scope("s", "one", "r")), 1)
		d.removes(ref(fleet.ScopedRoute, "s"))
		d.AwaitDelivered(d.Put(d.all[ref(fleet.Listener, "plain")].With("traffic_direction: INBOUND")), 1)
		d.written(ref(fleet.ScopedRoute, "s"), ref(fleet.Listener, "scopes"))
		d.answersTo("scopes", one, http.StatusOK, "b")
		d.removes(ref(fleet.ScopedRoute, "s"))
		unused()
		d.written(ref(fleet.Listener, "scopes"))
		d.answersTo("scopes", one, http.StatusNotFound, "")
	})
}
