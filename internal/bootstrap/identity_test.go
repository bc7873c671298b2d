package bootstrap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
)

// internalListeners is what a bootstrap has to have for them.
const internalListeners = `
bootstrap_extensions:
- {name: il, typed_config: {"@type": type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener}}
`

const loadReports = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats"

const nodeToken = "the-node's-token"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestT46_RoutedRequestsCarryNoIdentity: whoever may write all of a proxy's configuration has it send requests to the
// cluster of its bootstrap in every way there is. None of them carries the node's token; Envoy's own stream does.
func TestT46_RoutedRequestsCarryNoIdentity(t *testing.T) {
	t.Parallel()
	bin := envoyBinary(t)
	const env = "FAIRLEAD_NODE_TOKEN"
	for name, c := range map[string]bootstrap.Config{
		"TLS, token in a file":          {TokenFile: "x", Delta: true},
		"TLS, token in a variable":      {TokenEnv: env},
		"plaintext, token in a file":    {TokenFile: "x", Plaintext: true},
		"plaintext, in a variable":      {TokenEnv: env, Plaintext: true, Delta: true},
		"google_grpc, token in a file":  {TokenFile: "x", GoogleGRPC: true, Delta: true},
		"load reports, token in a file": {TokenFile: "x", Delta: true, LoadReports: true},
		"load reports, in a variable":   {TokenEnv: env, Plaintext: true, LoadReports: true},
		"the authority is another name": {TokenEnv: env, ServerName: "example.com", Delta: true},
		"REST, token in a file":         {TokenFile: "x", REST: true, Plaintext: true},
		"REST, in a variable":           {TokenEnv: env, REST: true, Plaintext: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newAttack(t, bin, c).run()
		})
	}
}

// attack is one Envoy with a bootstrap of ours, and everything in its configuration that could lend its identity.
type attack struct {
	t      *testing.T
	r      *recorder
	e      *localenvoy.Envoy
	ctx    context.Context
	path   string // of Envoy's own stream
	forged string // the path of what is routed: that of an own stream
	kind   string // content-type of Envoy's own requests
	socket string // of a listener
	google bool
	rest   bool
}

func newAttack(t *testing.T, bin string, c bootstrap.Config) *attack {
	t.Helper()
	a := &attack{t: t, r: &recorder{}, path: aggregated + "StreamAggregatedResources", kind: "application/grpc", google: c.GoogleGRPC, rest: c.REST}
	switch {
	case c.REST:
		a.path, a.kind = pollPath+"listeners", "application/json"
	case c.Delta:
		a.path = aggregated + "DeltaAggregatedResources"
	}
	if a.forged = a.path; c.LoadReports {
		a.forged = loadReports
	}
	dir, err := os.MkdirTemp("", "t46-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a.socket = filepath.Join(dir, "l")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	a.ctx = ctx

	// The server is started before its content is made: that names its address.
	server, ca := a.r.serve(t, c.Plaintext)
	config := files(t, c, ca, nodeToken)
	config.NodeID, config.XDSAddresses = "node-1", []string{server.Listener.Addr().String()}
	a.r.resources = content(t, a.forged, a.socket, elsewhere(server, config), c.GoogleGRPC)
	text, err := bootstrap.Envoy(config)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, internalListeners...)
	a.e, err = localenvoy.Start(t.Context(), localenvoy.Config{Bin: bin, Bootstrap: text, Dir: t.TempDir(), Env: []string{"FAIRLEAD_NODE_TOKEN=" + nodeToken}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.e.Kill)
	if err := a.e.Ready(ctx); err != nil {
		t.Fatal(err, "\n", a.e.LogTail())
	}
	return a
}

// elsewhere is a cluster NAME that leads to the server as well.
func elsewhere(server *httptest.Server, c bootstrap.Config) string {
	host, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	socket := ""
	if !c.Plaintext {
		socket = fmt.Sprintf(`, transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {alpn_protocols: [h2], validation_context: {trusted_ca: {filename: %q}}}}}`, c.CAFile)
	}
	return fmt.Sprintf(`{name: NAME, type: STATIC, connect_timeout: 5s, load_assignment: {cluster_name: NAME, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]}, %s%s}`,
		host, port, http2(""), socket)
}

func (a *attack) run() {
	at := a.listeners()
	for _, way := range sortedKeys(routes) {
		a.post(at["routes"], way)
	}
	a.post("unix:"+a.socket, "pipe")
	a.post(at["tcp"], "tcp")
	a.post(at["tcp_weighted"], "tcp_weighted")
	a.tunnel(at["tunnel"])
	want := map[string]int{"pipe": 1, "tcp": 1, "tcp_weighted": 1, "tunnel": 1}
	for way := range routes {
		want[way] = 1
	}
	want["mirror"], want["mirror_header"] = 2, 2
	for name, x := range asides(a.forged) {
		if a.rest { // it has none of them
			break
		}
		want[x.sees] = 1
		for range 5 { // a tracer sends after so many
			a.post(at[name], "to "+name)
		}
	}
	if a.forged == loadReports {
		want["POST "+loadReports+" application/grpc"] = 1
	}
	a.check(a.await(want))
}

// await waits until the server has seen all that it must.
func (a *attack) await(want map[string]int) []arrival {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		arrivals, refused := a.r.seen()
		missing := maps.Clone(want)
		for _, x := range arrivals {
			if missing[x.way]--; missing[x.way] <= 0 {
				delete(missing, x.way)
			}
		}
		if len(missing) == 0 {
			return arrivals
		}
		select {
		case <-tick.C:
		case <-a.e.Done():
			a.t.Fatalf("envoy ended: %s", a.e.LogTail())
		case <-a.ctx.Done():
			var ways []string
			for _, x := range arrivals {
				ways = append(ways, x.way)
			}
			a.t.Fatalf("%v did not arrive, of\n%s\nEnvoy refused:\n%s\nlog: %s", missing, strings.Join(ways, "\n"), strings.Join(refused, "\n"), a.e.LogTail())
		}
	}
}

// check holds that Envoy's own stream alone has the token, and that nothing else of ours goes over the wire.
func (a *attack) check(arrivals []arrival) {
	own := 0
	for _, x := range arrivals {
		reports := x.way == "POST "+loadReports+" application/grpc"
		isOwn := x.way == "POST "+a.path+" "+a.kind || reports && a.forged == loadReports || a.rest && strings.HasPrefix(x.way, "POST "+pollPath)
		if a.rest && strings.HasPrefix(x.way, "mirror") {
			continue // the same client as that of polls: docs/rest.md
		}
		for name, values := range x.headers {
			name, text := strings.ToLower(name), strings.Join(values, " and ")
			switch {
			case isOwn && name == "authorization":
				if x.way == "POST "+a.path+" "+a.kind {
					own++
				}
				if text != "Bearer "+nodeToken {
					a.t.Errorf("Envoy's own stream has %q", text)
				}
			case strings.Contains(text, nodeToken):
				a.t.Errorf("%s: the token is in %s", x.way, name)
			case isOwn && strings.HasPrefix(name, "fairlead-"):
				a.t.Errorf("%s: %s: %s goes over the wire", x.way, name, text)
			}
		}
	}
	if own != 1 && !a.rest || own == 0 {
		a.t.Errorf("%d requests are Envoy's own", own)
	}
}

// post sends what Envoy's own stream would, with x-way, as a gRPC client does that knows how this bootstrap tells.
func (a *attack) post(address, way string) {
	a.t.Helper()
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	tr := &http.Transport{Protocols: new(http.Protocols), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	tr.Protocols.SetUnencryptedHTTP2(true)
	defer tr.CloseIdleConnections()
	var body bytes.Buffer
	writeFrame(&body, resourceRequest())
	ctx, cancel := context.WithTimeout(a.ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://fairlead_xds"+a.forged, &body)
	if err != nil {
		a.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"content-type": a.kind, "te": "trailers", "x-way": way, "x-cluster": "fairlead_xds", "user-agent": "",
		"fairlead-origin": a.origin(), "fairlead-token": "forged",
	} {
		if value != "" || name == "user-agent" {
			req.Header.Set(name, value)
		}
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		a.t.Logf("%s at %s: %v", way, address, err) // what did not arrive is missed
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// origin is what the bootstrap's first filter writes of Envoy's own requests.
func (a *attack) origin() string {
	if a.rest {
		return "0,,,true,,,fairlead_xds," + a.forged
	}
	return "0,,,," + a.forged
}

// tunnel sends bytes that a tunnel makes the body of a request of.
func (a *attack) tunnel(address string) {
	a.t.Helper()
	conn, err := new(net.Dialer).DialContext(a.ctx, "tcp", address)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = conn.Close() })
	writeFrame(conn, resourceRequest())
}

// listeners are the addresses of those that Envoy took.
func (a *attack) listeners() map[string]string {
	a.t.Helper()
	text, err := a.e.Admin(a.ctx, "/listeners?format=json")
	if err != nil {
		a.t.Fatal(err)
	}
	var list struct {
		Statuses []struct {
			Name  string `json:"name"`
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		a.t.Fatal(err)
	}
	at := map[string]string{}
	for _, l := range list.Statuses {
		at[l.Name] = net.JoinHostPort(l.Local.Socket.Address, strconv.Itoa(l.Local.Socket.Port))
	}
	return at
}
