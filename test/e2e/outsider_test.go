package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// outsiders is a world with an Envoy that asks on demand for what its own clients name: virtual hosts by Host, clusters by a header, Secrets
// by server name.
type outsiders struct {
	*installation
	envoy                  *localenvoy.Envoy
	xds                    *world.XDS
	hosts, clusters, names string // where it listens; "" where it has no such thing
	changes                string // answers with the number of the last change
	changed                int
}

// byHeader has the cluster that a header names asked for.
const byHeader = `{name: on_demand, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.on_demand.v3.OnDemand,
    odcds: {source: {ads: {}, resource_api_version: V3}, timeout: 1s}}},`

// byServerName presents the Secret that is called like the server name.
const byServerName = `transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
    disable_stateless_session_resumption: true, disable_stateful_session_resumption: true,
    common_tls_context: {custom_tls_certificate_selector: {name: on_demand, typed_config: {
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config, config_source: {ads: {}, resource_api_version: V3},
        certificate_mapper: {name: sni, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.cert_mappers.sni.v3.SNI, default_value: none}}}}}}},`

// setupOutsiders writes what the Envoy has, and starts it. What its version lacks is left out.
func setupOutsiders(t *testing.T, delta bool) *outsiders {
	t.Helper()
	o := &outsiders{installation: setup(t), changes: world.FreePort(t)}
	// In state of the world nobody can be told that a name does not exist, nor in delta of one that is not UTF-8.
	o.Late = []fleet.Type{fleet.Secret, fleet.Cluster, fleet.VirtualHost}
	rs := []world.Resource{world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))}
	if envoyversion.Minor(world.EnvoyVersion()) >= "1.38" {
		o.names = world.FreePort(t)
		rs = append(rs, world.HTTPListener{Name: "names", Address: o.names, Routes: world.RDS("all", world.ADS), TLS: byServerName}.Resource(), world.Route("all", "a"), o.secretOf("known"))
	}
	if delta {
		o.clusters = world.FreePort(t)
		rs = append(rs, world.HTTPListener{Name: "clusters", Address: o.clusters, Routes: world.RDS("named", world.ADS), Filters: byHeader}.Resource(),
			world.NewResource("routes", "named", `{name: named, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster_header: x-cluster}}]}]}`))
	}
	if delta && envoyversion.Has(world.EnvoyVersion(), envoyversion.VirtualHosts) {
		o.hosts = world.FreePort(t)
		rs = append(rs, world.HTTPListener{Name: "hosts", Address: o.hosts, Routes: world.RDS("r1", world.ADS), Filters: onDemand}.Resource(), emptyRoute("r1"), virtualHost("r1/known", "known", "a"))
	}
	o.Apply(world.Together(rs...))
	o.change()
	o.xds = o.XDS()
	o.envoy = o.Envoy("n1", o.xds.Address, delta)
	return o
}

func (o *outsiders) secretOf(name string) world.Resource {
	cert, key := world.Certificate(o.T)
	return secret(name, cert, key)
}

// change writes a listener that answers with a number of its own, which is returned.
func (o *outsiders) change() string {
	o.T.Helper()
	o.changed++
	text := fmt.Sprint("change ", o.changed)
	o.Put(world.HTTPListener{Name: "changes", Address: o.changes, Routes: fmt.Sprintf(
		`route_config: {name: c, virtual_hosts: [{name: c, domains: ["*"], routes: [{match: {prefix: /}, direct_response: {status: 200, body: {inline_string: %q}}}]}]}`, text)}.Resource())
	return text
}

// arrives writes a change and returns how long it took to arrive.
func (o *outsiders) arrives() time.Duration {
	o.T.Helper()
	want := o.change()
	return world.Eventually(o.T, 2*world.Soon, want+" did not arrive", func() bool { return world.GetAnew("http://"+o.changes) == want })
}

// serves waits until what there is of a name is served, whatever else is asked for.
func (o *outsiders) serves(name string) {
	o.T.Helper()
	ctx := o.T.Context()
	if o.hosts != "" {
		promptly(o.T, "the host "+name, func() bool { return said(ctx, o.hosts, "Host: "+name) == http.StatusOK })
	}
	if o.clusters != "" {
		cluster := strings.Replace(name, "known", "a", 1)
		promptly(o.T, "the cluster "+cluster, func() bool { return said(ctx, o.clusters, "Host: x\r\nx-cluster: "+cluster) == http.StatusOK })
	}
	if o.names != "" {
		promptly(o.T, "the server name "+name, func() bool { return greets(ctx, o.names, name) == nil })
	}
}

// streams is how many streams the Envoy has had.
func (o *outsiders) streams() int64 {
	o.T.Helper()
	s, err := o.envoy.Stats(o.T.Context(), "^cluster.fairlead_xds.upstream_rq_total$")
	world.Must(o.T, err)
	return s["cluster.fairlead_xds.upstream_rq_total"]
}

// said is one request as an outsider says it, byte by byte, and what is answered: a status, or 0.
func said(ctx context.Context, address, head string) int {
	d := net.Dialer{Timeout: world.Soon}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * world.Soon))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n"+head+"\r\nConnection: close\r\n\r\n"); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// greets is one handshake with a server name.
func greets(ctx context.Context, address, name string) error {
	ctx, cancel := context.WithTimeout(ctx, world.Soon)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}} //nolint:gosec // an outsider
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// anyName is a name as outsiders think of: of any length, now and then of any bytes.
func anyName(r *rand.Rand) string {
	n := 1 + r.IntN(40)
	switch r.IntN(100) {
	case 0:
		n = r.IntN(50_000)
	case 1, 2:
		n = 500 + r.IntN(40) // about the limit
	}
	b := make([]byte, n)
	wild := r.IntN(20) == 0
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789-."[r.IntN(38)]
		if wild && r.IntN(10) == 0 {
			b[i] = byte(r.IntN(256))
		}
	}
	return string(b)
}

// TestSoakOutsiders: hosts, cluster headers and server names of every length, count and byte go through an Envoy that asks for what they name,
// for FAIRLEAD_SOAK, or ten minutes where that is no time, every day for a few seconds. Its stream lives, a change arrives within a second, what there is is served; the
// fleet is told; and the Envoy comes back afterwards, with all the names that it has not forgotten.
func TestSoakOutsiders(t *testing.T) {
	d := 10 * time.Second
	if full() {
		d = 10 * time.Minute
		if said, err := time.ParseDuration(os.Getenv("FAIRLEAD_SOAK")); err == nil {
			d = said
		}
	}
	both(t, func(t *testing.T, delta bool) {
		o := setupOutsiders(t, delta)
		o.serves("known")
		asked := o.outside(d)
		if n := o.streams(); n != 1 {
			t.Errorf("the Envoy has had %d streams, want the one", n)
		}
		t.Logf("%d hosts, %d clusters, %d server names were asked for", asked[0], asked[1], asked[2])
		o.serves("known")
		if delta || o.names != "" {
			world.Eventually(t, 3*world.Soon, "nothing was told", o.told)
		}
		o.comesBack()
	})
}

// changesEvery keeps the changes below the 3,000 writes that a token may make in a minute.
const changesEvery = time.Minute / 2400

// strangers is how many ask at the same time, of each kind.
const strangers = 100

// outside lets outsiders ask for so long, while changes are made, and returns how often they have.
func (o *outsiders) outside(d time.Duration) (asked [3]int64) {
	o.T.Helper()
	ctx, cancel := context.WithTimeout(o.T.Context(), d)
	defer cancel()
	var counts [3]atomic.Int64
	var all sync.WaitGroup
	ask := func(i int, address string, one func(name string)) {
		if address == "" {
			return
		}
		for worker := range strangers {
			all.Go(func() {
				select { // they come at any time: without that all of them give up, and come back, at the same moment
				case <-time.After(world.Soon * time.Duration(worker) / strangers):
				case <-ctx.Done():
				}
				r := rand.New(rand.NewPCG(uint64(worker), uint64(i))) //nolint:gosec // a test's
				for ctx.Err() == nil {
					one(anyName(r))
					counts[i].Add(1)
				}
			})
		}
	}
	ask(0, o.hosts, func(name string) { said(ctx, o.hosts, "Host: "+name) })
	ask(1, o.clusters, func(name string) { said(ctx, o.clusters, "Host: x\r\nx-cluster: "+name) })
	ask(2, o.names, func(name string) { _ = greets(ctx, o.names, name) })
	var took []time.Duration
	pace := time.NewTicker(changesEvery)
	defer pace.Stop()
	for ctx.Err() == nil {
		took = append(took, o.arrives())
		select {
		case <-pace.C:
		case <-ctx.Done():
		}
	}
	all.Wait()
	slow := 0
	for _, one := range took {
		if one > bound(atOnce) {
			slow++
			o.T.Logf("a change took %s", one)
		}
	}
	slices.Sort(took)
	o.T.Logf("%d changes arrived, half of them within %s, the last one within %s", len(took), took[len(took)/2], took[len(took)-1])
	if slow > 0 {
		o.T.Errorf("%d of %d changes took more than %s", slow, len(took), bound(atOnce))
	}
	for i := range counts {
		asked[i] = counts[i].Load()
	}
	return asked
}

// told reports whether the fleet knows of names beyond the limits, and of nothing that ended a stream.
func (o *outsiders) told() bool {
	o.T.Helper()
	kind := client.EventKindDenied
	answer, err := o.REST.ListEventsWithResponse(o.T.Context(), "acme", "edge", &client.ListEventsParams{Kind: &kind})
	o.Made(answer, err)
	names := false
	for _, e := range answer.JSON200.Items {
		names = names || *e.Reason == client.NamesOverLimit
		if *e.Reason == client.RequestRefused {
			o.T.Errorf("a stream was refused: %s", world.AsJSON(e))
		}
	}
	return names
}

// comesBack moves the Envoy to another server, to which it reports all that it has asked for.
func (o *outsiders) comesBack() {
	o.T.Helper()
	before := o.streams()
	_ = o.xds.Stop()
	o.XDS("--listen", o.xds.Address)
	world.Eventually(o.T, 6*world.Soon, "it did not come back", func() bool { return o.streams() > before })
	o.T.Logf("back, a change arrives after %s", o.arrives())
	o.T.Logf("and another one after %s", o.arrives())
	o.serves("known")
}
