package grpcclients

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/internal/bootstrap"
	"fairlead/test/world"
)

// setupDev starts `fairlead dev` with a port that asks for no token.
func setupDev(t *testing.T) (w *installation, open string) {
	t.Helper()
	open = world.FreePort(t)
	return &installation{world.StartDev(t, world.DataDir(t), nil, "--open-xds", open, "--no-demo", "--no-envoy").World()}, open
}

// TestOpenPort: on the port of `fairlead dev --open-xds` every client is served as it is,
// without a token and with nothing in between.
func TestOpenPort(t *testing.T) {
	t.Parallel()
	w, open := setupDev(t)
	w.Apply(world.Together(append(website(t, "web"),
		cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r")))...))
	apps := map[string]*app{}
	for _, impl := range []implementation{grpcGo, grpcJS, cCore} {
		a := impl.start(t, world.Read(t, w.writeBootstrap("--client", "grpc", "--node-id", impl.name, "--xds", open, "--plaintext")))
		a.open("shop", "xds:///shop")
		apps[impl.name] = a
	}
	for id, delta := range map[string]bool{"Envoy, delta": true, "Envoy, SotW": false} {
		text, err := bootstrap.Envoy(bootstrap.Config{
			NodeID: id, XDSAddresses: []string{open}, Plaintext: true, Delta: delta, AdminAddress: world.AnyPort,
		})
		world.Must(t, err)
		file := filepath.Join(t.TempDir(), "bootstrap.yaml")
		world.Must(t, os.WriteFile(file, text, 0o600))
		awaitAnswer(t, awaitPort(t, w.envoyOf(file), "web"), "web")
		w.AwaitLive(id)
	}
	for id, a := range apps {
		a.awaitReply("shop", "one")
		w.AwaitLive(id)
	}
	w.AwaitDelivered(w.Put(endpoints("a", backend(t, "two"))), len(apps)+2)
	for _, a := range apps {
		a.awaitReply("shop", "two")
	}
}
