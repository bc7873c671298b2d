package grpcclients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// certified starts an xDS server with TLS, and returns its address and the file of the
// certificate that is to be trusted.
func (w *installation) certified() (address, ca string) {
	w.T.Helper()
	secure, ca := w.TLS()
	return w.XDS(secure...).Address, ca
}

// writeBootstrap runs `fairlead bootstrap` into a directory of its own.
func (w *installation) writeBootstrap(args ...string) (file string) {
	w.T.Helper()
	dir, err := os.MkdirTemp(w.Dir, "client-")
	world.Must(w.T, err)
	file = filepath.Join(dir, "bootstrap.yaml") // JSON is YAML
	world.Run(w.T, "fairlead", append([]string{"bootstrap", "--out", file}, args...)...)
	return file
}

// envoyOf starts a real Envoy with a bootstrap file, and waits until it is ready.
func (w *installation) envoyOf(file string) *localenvoy.Envoy {
	w.T.Helper()
	e := w.StartEnvoy(localenvoy.Config{BootstrapFile: file, Dir: filepath.Dir(file), Env: []string{"FAIRLEAD_NODE_TOKEN=" + w.NodeToken}})
	w.AwaitReady(e, 2*world.Soon)
	return e
}

// website are resources that make an Envoy answer on a port that it chooses, so that any
// number of them live on one machine.
func website(t testing.TB, answer string) []world.Resource {
	t.Helper()
	return []world.Resource{
		world.Endpoints("web", world.Backend(t, answer)), world.Cluster("web", "1s"), world.Route("web", "web"), world.Listener("web", world.AnyPort, "web"),
	}
}

// awaitPort waits until Envoy has a listener of that name and returns its port.
func awaitPort(t *testing.T, e *localenvoy.Envoy, listener string) (address string) {
	t.Helper()
	world.Eventually(t, world.Soon, "Envoy has no listener "+listener, func() bool {
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
	world.Eventually(t, world.Soon, "Envoy does not answer "+want, func() bool { return world.GetAnew("http://"+address) == want })
}

// TestEnvoyByEveryBootstrap: what the command writes brings a real Envoy to its
// listeners, and a change to it.
func TestEnvoyByEveryBootstrap(t *testing.T) {
	t.Parallel()
	w := setup(t)
	token := w.TokenFile()
	secure, ca := w.certified()
	plain := w.XDS().Address
	first, second := website(t, "first"), website(t, "second")
	w.Apply(world.Together(first...))
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
			all := append([]string{"--node-id", id, "--node-cluster", "edge", "--admin", world.AnyPort}, args...)
			e := w.envoyOf(w.writeBootstrap(append(all, variant...)...))
			addresses[id] = awaitPort(t, e, "web")
			awaitAnswer(t, addresses[id], "first")
			w.AwaitLive(id)
		}
	}
	w.AwaitDelivered(w.Put(second[0]), len(addresses))
	for _, address := range addresses {
		awaitAnswer(t, address, "second")
	}
}

// relay starts an Envoy as a relay by what the command writes, and returns where it
// listens.
func (w *installation) relay(t *testing.T, args ...string) (address string) {
	t.Helper()
	e := w.envoyOf(w.writeBootstrap(append([]string{"--client", "relay", "--node-id", "relay", "--relay-listen", world.AnyPort, "--admin", world.AnyPort}, args...)...))
	return awaitPort(t, e, "relay")
}

// TestRelay: gRPC clients without a token reach the servers through an Envoy on their
// machine.
func TestRelay(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure, ca := w.certified()
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r"))))
	relays := map[string]string{
		"TLS, token file":     w.relay(t, "--xds", secure, "--ca-file", ca, "--token-file", w.TokenFile()),
		"plaintext, variable": w.relay(t, "--xds", w.XDS().Address, "--plaintext"),
	}
	apps := map[string]*app{}
	for way, address := range relays {
		for _, impl := range []implementation{grpcGo, grpcJS, cCore} {
			id := impl.name + " by " + way
			text := world.Read(t, w.writeBootstrap("--client", "grpc", "--node-id", id, "--xds", address, "--plaintext"))
			apps[id] = impl.start(t, text)
			apps[id].open("shop", "xds:///shop")
		}
	}
	for id, a := range apps {
		a.awaitReply("shop", "one")
		w.AwaitLive(id)
	}
	w.AwaitDelivered(w.Put(endpoints("a", backend(t, "two"))), len(apps))
	for _, a := range apps {
		a.awaitReply("shop", "two")
	}
}

// TestTokenOfGRPC: our node tokens have the shape that gRPC clients demand of a token.
func TestTokenOfGRPC(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure, ca := w.certified()
	token := w.TokenFile()
	w.Apply(world.Together(cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r"))))
	for _, impl := range []implementation{grpcGo, cCore} { // grpc-js knows no TLS here
		t.Run(impl.name, func(t *testing.T) {
			t.Parallel()
			text := world.Read(t, w.writeBootstrap("--client", "grpc", "--node-id", impl.name, "--xds", secure, "--ca-file", ca, "--token-file", token))
			if bytes.Contains(text, []byte(w.NodeToken)) {
				t.Error("the token stands in the bootstrap")
			}
			a := impl.start(t, text, bootstrap.CallCredsVariable+"=true")
			a.open("shop", "xds:///shop")
			a.awaitReply("shop", "one")
			w.AwaitLive(impl.name)
		})
	}
}
