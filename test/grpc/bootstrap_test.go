package grpcclients

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
)

// certified starts an xDS server with TLS, and returns its address and the file of the
// certificate that is to be trusted.
func (w *world) certified() (address, ca string) {
	w.t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler()) // it makes a pair for 127.0.0.1
	pair := s.TLS.Certificates[0]
	s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(w.t, err)
	ca = w.path("ca.crt")
	must(w.t,
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600),
		os.WriteFile(w.path("tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	return w.xds("--tls-cert", ca, "--tls-key", w.path("tls.key")), ca
}

// tokenFile holds the fleet's token, without a newline at its end.
func (w *world) tokenFile() string {
	w.t.Helper()
	file := w.path("node.token")
	must(w.t, os.WriteFile(file, []byte(w.nodeToken), 0o600))
	return file
}

// writeBootstrap runs `fairlead bootstrap` into a directory of its own.
func (w *world) writeBootstrap(args ...string) (file string) {
	w.t.Helper()
	dir, err := os.MkdirTemp(w.dir, "client-")
	must(w.t, err)
	file = filepath.Join(dir, "bootstrap.yaml") // JSON is YAML
	w.run("fairlead", append([]string{"bootstrap", "--out", file}, args...)...)
	return file
}

// envoy starts a real Envoy with a bootstrap file, and waits until it is ready.
func (w *world) envoy(t *testing.T, file string) *localenvoy.Envoy {
	t.Helper()
	e, err := localenvoy.Start(t.Context(), localenvoy.Config{
		Bin: envoyBin, BootstrapFile: file, Dir: filepath.Dir(file), Env: []string{"FAIRLEAD_TOKEN=" + w.nodeToken},
	})
	must(t, err)
	t.Cleanup(func() {
		_ = e.Stop()
		dump(t, e.LogFile())
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	must(t, e.Ready(ctx))
	return e
}

// website are resources that make an Envoy answer on a port that it chooses, so that any
// number of them live on one machine.
func website(t testing.TB, answer string) []res {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(s.Close)
	listener := fmt.Sprintf(`{name: web, address: {socket_address: {address: 127.0.0.1, port_value: 0}}, filter_chains: [{filters: [{name: hcm, typed_config: %s}]}]}`, manager(byName("web")))
	return []res{
		endpoints("web", s.Listener.Addr().String()), cluster("web", "ROUND_ROBIN"),
		{"routes", "web", `{name: web, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: web}}]}]}`},
		{"listeners", "web", listener},
	}
}

// awaitPort waits until Envoy has a listener of that name and returns its port.
func awaitPort(t *testing.T, e *localenvoy.Envoy, listener string) (address string) {
	t.Helper()
	eventually(t, soon, "Envoy has no listener "+listener, func() bool {
		text, err := e.Admin(t.Context(), "/listeners?format=json")
		var all struct {
			Statuses []struct {
				Name    string
				Address struct {
					Socket struct {
						Address string
						Port    int `json:"port_value"`
					} `json:"socket_address"`
				} `json:"local_address"`
			} `json:"listener_statuses"`
		}
		if err != nil || json.Unmarshal(text, &all) != nil {
			return false
		}
		for _, s := range all.Statuses {
			if a := s.Address.Socket; s.Name == listener && a.Port > 0 {
				address = net.JoinHostPort(a.Address, strconv.Itoa(a.Port))
			}
		}
		return address != ""
	})
	return address
}

func awaitAnswer(t *testing.T, address, want string) {
	t.Helper()
	c := &http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	eventually(t, soon, "Envoy does not answer "+want, func() bool {
		resp, err := c.Get("http://" + address + "/")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b) == want
	})
}

// TestEnvoyByEveryBootstrap: what the command writes brings a real Envoy to its
// listeners, and a change to it.
func TestEnvoyByEveryBootstrap(t *testing.T) {
	t.Parallel()
	w := setup(t)
	token := w.tokenFile()
	secure, ca := w.certified()
	plain := w.xds()
	first, second := website(t, "first"), website(t, "second")
	w.apply(together(first...))
	ways := map[string][]string{
		"TLS, token file":           {"--xds", secure, "--ca-file", ca, "--token-file", token},
		"TLS, variable":             {"--xds", secure, "--ca-file", ca},
		"TLS, google_grpc":          {"--client", "google-grpc", "--xds", secure, "--ca-file", ca, "--token-file", token},
		"TLS, google_grpc, by name": {"--client", "google-grpc", "--xds", secure, "--ca-file", ca, "--token-file", token, "--server-name", "example.com"},
		"plaintext, token file":     {"--plaintext", "--xds", plain, "--token-file", token},
		"plaintext, variable":       {"--plaintext", "--xds", plain},
	}
	addresses := map[string]string{}
	for way, args := range ways {
		for _, variant := range [][]string{nil, {"--sotw"}} {
			id := fmt.Sprintf("%s %v", way, variant)
			all := append([]string{"--node-id", id, "--node-cluster", "edge", "--admin", anyPort}, args...)
			e := w.envoy(t, w.writeBootstrap(append(all, variant...)...))
			addresses[id] = awaitPort(t, e, "web")
			awaitAnswer(t, addresses[id], "first")
			w.awaitLive(id)
		}
	}
	w.awaitDelivered(w.put(second[0]), len(addresses))
	for _, address := range addresses {
		awaitAnswer(t, address, "second")
	}
}

// relay starts an Envoy as a relay by what the command writes, and returns where it
// listens.
func (w *world) relay(t *testing.T, args ...string) (address string) {
	t.Helper()
	e := w.envoy(t, w.writeBootstrap(append([]string{"--client", "relay", "--node-id", "relay", "--relay-listen", anyPort, "--admin", anyPort}, args...)...))
	return awaitPort(t, e, "relay")
}

// TestRelay: gRPC clients without a token reach the servers through an Envoy on their
// machine.
func TestRelay(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure, ca := w.certified()
	w.apply(together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r"))))
	relays := map[string]string{
		"TLS, token file":     w.relay(t, "--xds", secure, "--ca-file", ca, "--token-file", w.tokenFile()),
		"plaintext, variable": w.relay(t, "--xds", w.xds(), "--plaintext"),
	}
	apps := map[string]*app{}
	for way, address := range relays {
		for _, impl := range []implementation{grpcGo, grpcJS, cCore} {
			id := impl.name + " by " + way
			text := read(t, w.writeBootstrap("--client", "grpc", "--node-id", id, "--xds", address, "--plaintext"))
			apps[id] = impl.start(t, text)
			apps[id].open("shop", "xds:///shop")
		}
	}
	for id, a := range apps {
		a.awaitReply("shop", "one")
		w.awaitLive(id)
	}
	w.awaitDelivered(w.put(endpoints("a", backend(t, "two"))), len(apps))
	for _, a := range apps {
		a.awaitReply("shop", "two")
	}
}

// TestTokenOfGRPC: our node tokens have the shape that gRPC clients demand of a token.
func TestTokenOfGRPC(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure, ca := w.certified()
	token := w.tokenFile()
	w.apply(together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r"))))
	for _, impl := range []implementation{grpcGo, cCore} { // grpc-js knows no TLS here
		t.Run(impl.name, func(t *testing.T) {
			t.Parallel()
			text := read(t, w.writeBootstrap("--client", "grpc", "--node-id", impl.name, "--xds", secure, "--ca-file", ca, "--token-file", token))
			if bytes.Contains(text, []byte(w.nodeToken)) {
				t.Error("the token stands in the bootstrap")
			}
			a := impl.start(t, text, bootstrap.CallCredsVariable+"=true")
			a.open("shop", "xds:///shop")
			a.awaitReply("shop", "one")
			w.awaitLive(impl.name)
		})
	}
}
