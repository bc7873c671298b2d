package grpcclients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/childproc"
)

// setupDev starts `fairlead dev` with a port that asks for no token.
func setupDev(t *testing.T) (w *world, open string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fairlead-dev-")
	must(t, err)
	must(t, os.Chmod(dir, 0o755)) //nolint:gosec // Postgres runs as another user, and must get through
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	out, err := os.Create(filepath.Join(dir, "out.log"))
	must(t, err)
	open = freePort(t, "127.0.0.1")
	p, err := childproc.Start(childproc.Spec{
		Path:   filepath.Join(binDir, "fairlead"),
		Args:   []string{"dev", "--data", filepath.Join(dir, "data"), "--http", anyPort, "--xds", anyPort, "--proxy", anyPort, "--open-xds", open, "--no-demo", "--no-envoy"},
		Stdout: out, Stderr: out, StopSignal: syscall.SIGINT, StopTimeout: 30 * time.Second,
	})
	must(t, err)
	t.Cleanup(func() {
		_ = p.Stop()
		_ = out.Close()
		dump(t, out.Name())
	})
	var ready struct {
		API    string `json:"api_url"`
		Token  string `json:"api_token"`
		Tenant string
		Fleet  string
	}
	eventually(t, time.Minute, "fairlead dev was not ready", func() bool {
		select {
		case <-p.Done():
			t.Fatalf("fairlead dev ended: %v", p.Err())
		default:
		}
		b, err := os.ReadFile(filepath.Join(dir, "data", "ready.json")) //nolint:gosec // the test's own folder
		return err == nil && json.Unmarshal(b, &ready) == nil
	})
	w = &world{t: t, dir: t.TempDir(), api: ready.API, tenant: ready.Tenant, fleet: ready.Fleet}
	w.rest = w.as(ready.Token)
	return w, open
}

// TestOpenPort: on the port of `fairlead dev --open-xds` every client is served as it is,
// without a token and with nothing in between.
func TestOpenPort(t *testing.T) {
	t.Parallel()
	w, open := setupDev(t)
	w.apply(together(append(website(t, "web"),
		cluster("a", "ROUND_ROBIN"), endpoints("a", backend(t, "one")), route("r", "a"), target("shop", byName("r")))...))
	apps := map[string]*app{}
	for _, impl := range []implementation{grpcGo, grpcJS, cCore} {
		a := impl.start(t, read(t, w.writeBootstrap("--client", "grpc", "--node-id", impl.name, "--xds", open, "--plaintext")))
		a.open("shop", "xds:///shop")
		apps[impl.name] = a
	}
	for id, delta := range map[string]bool{"Envoy, delta": true, "Envoy, SotW": false} {
		text, err := bootstrap.Envoy(bootstrap.Config{
			NodeID: id, XDSAddresses: []string{open}, Plaintext: true, Delta: delta, AdminAddress: anyPort,
		})
		must(t, err)
		file := filepath.Join(t.TempDir(), "bootstrap.yaml")
		must(t, os.WriteFile(file, text, 0o600))
		awaitAnswer(t, awaitPort(t, w.envoy(t, file), "web"), "web")
		w.awaitLive(id)
	}
	for id, a := range apps {
		a.awaitReply("shop", "one")
		w.awaitLive(id)
	}
	w.awaitDelivered(w.put(endpoints("a", backend(t, "two"))), len(apps)+2)
	for _, a := range apps {
		a.awaitReply("shop", "two")
	}
}
