package e2e

import (
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fairlead/internal/bootstrap"
	"fairlead/internal/filesync"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// filed starts an Envoy that reads the folder, and no server, and waits until it serves.
func (w *installation) filed(id, folder string, edit ...func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	e := w.launchFiled(id, folder, edit...)
	w.AwaitReady(e, world.Soon)
	return e
}

// launchFiled is filed without waiting.
func (w *installation) launchFiled(id, folder string, edit ...func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	text, err := bootstrap.Envoy(bootstrap.Config{NodeID: id, NodeCluster: w.Fleet, Folder: folder, AdminAddress: world.AnyPort})
	world.Must(w.T, err)
	for _, f := range edit {
		text = []byte(f(string(text)))
	}
	dir, err := os.MkdirTemp(w.Dir, "envoy-"+id+"-")
	world.Must(w.T, err)
	return w.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir})
}

// syncArgs are those of the program that keeps a folder of the node.
func (w *installation) syncArgs(id, folder string, xds *world.XDS, more ...string) []string {
	return append([]string{"sync", folder, "--node-id", id, "--node-cluster", w.Fleet, "--xds", xds.Address, "--plaintext", "--token-file", w.TokenFile()}, more...)
}

// TestEnvoyFromFiles: a real Envoy takes each type from files, and what it says of them is the receipt.
func TestEnvoyFromFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	port := world.FreePort(t)
	r := &routed{installation: w, xds: w.XDS("--listen", port)}
	address, secured, filtered, folder := world.FreePort(t), world.FreePort(t), world.FreePort(t), w.Path("files")
	r.proxy = "http://" + address
	cert, key := world.Certificate(t)
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r/1", world.ADS)}.Resource(), world.Route("r/1", "a"),
		world.HTTPListener{Name: "filtered", Address: filtered, Routes: world.RDS("r/1", world.ADS), Filters: discovered("ext", world.ADS)}.Resource(), aborting("ext", http.StatusTeapot),
		world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")), layer("layer", "e2e.key", 7),
		world.HTTPListener{Name: "tls", Address: secured, Routes: world.RDS("r/1", world.ADS), TLS: presents("server", world.ADS)}.Resource(), secret("server", cert, key),
	))
	world.Run(t, "fairlead", w.syncArgs("n1", folder, r.xds, "--once")...)
	withLayer := runtimeLayer("layer", sprintf("{resource_api_version: V3, path_config_source: {path: %s}}", filepath.Join(folder, "rtds", "layer.json")))
	r.envoy = w.filed("n1", folder, withLayer)
	serves := func() {
		w.T.Helper()
		promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "a" })
		promptly(w.T, "in the runtime", func() bool { return runtimeValue(w.T, r.envoy, "e2e.key") == "7" })
		promptly(w.T, "routed over TLS", func() bool { _, err := request(secured); return err == nil })
		promptly(w.T, "filtered", func() bool { code, _ := world.Get("http://" + filtered); return code == http.StatusTeapot })
	}
	w.Step("all of it from a folder that was written once", serves)
	admin, err := r.envoy.AdminAddress()
	world.Must(t, err)
	program := w.Start("fairlead", w.syncArgs("n1", folder, r.xds, "--listen-admin", "http://"+admin)...)
	w.Step("the node is one of files", func() {
		world.Eventually(w.T, world.Soon, "the node is not there", func() bool {
			n, err := w.REST.GetNodeWithResponse(w.T.Context(), w.Tenant, w.Fleet, "n1")
			return err == nil && n.JSON200 != nil && n.JSON200.UserAgent != nil && *n.JSON200.UserAgent == "fairlead-sync-envoy"
		})
		r.AwaitState(r.Put(layer("layer", "e2e.key", 7), world.Endpoints("a", world.Backend(r.Whole, "a"))), "delivered")
	})
	w.Step("a change of each type within a second, told when Envoy has it", func() {
		r.AwaitState(r.Put(world.Endpoints("a", world.Backend(r.Whole, "b"))), "delivered")
		promptly(w.T, "another endpoint", func() bool { _, body := world.Get(r.proxy); return body == "b" })
		r.AwaitState(r.Put(layer("layer", "e2e.key", 8)), "delivered")
		if got := runtimeValue(w.T, r.envoy, "e2e.key"); got != "8" {
			w.T.Errorf("the receipt says delivered, and the runtime says %q", got)
		}
		r.AwaitState(r.Put(world.Cluster("a", "2s")), "delivered")
		promptly(w.T, "another timeout", func() bool { return activeClusters(w.T, r.envoy)["a"] == "2s" })
		r.AwaitState(r.Put(aborting("ext", http.StatusGone)), "delivered")
		promptly(w.T, "another filter", func() bool { code, _ := world.Get("http://" + filtered); return code == http.StatusGone })
		other, otherKey := world.Certificate(w.T)
		r.AwaitState(r.Put(secret("server", other, otherKey)), "delivered")
		block, _ := pem.Decode(other)
		want, err := x509.ParseCertificate(block.Bytes)
		world.Must(w.T, err)
		promptly(w.T, "another certificate", func() bool { der, err := request(secured); return err == nil && string(der) == string(want.Raw) })
		r.Put(world.Cluster("c", "1s"), world.Endpoints("c", world.Backend(r.Whole, "c")))
		r.AwaitState(r.Put(world.Route("r/1", "c")), "delivered")
		promptly(w.T, "another route", func() bool { _, body := world.Get(r.proxy); return body == "c" })
	})
	w.Step("what is a number on a stream is one in a file, and keys may be long", func() {
		long := strings.Repeat("k", 3000)
		r.AwaitState(r.Put(world.NewResource("clusters", "numbers", sprintf("{name: numbers, type: STATIC, connect_timeout: 1s, metadata: {filter_metadata: {x: {half: 0.5, large: 1.0e+300, text: \"0.5\", ? %s : 1}}}}", long))), "delivered")
		got := metadataOf(w.T, r.envoy, "numbers")["x"]
		if want := map[string]any{"half": 0.5, "large": 1e300, "text": "0.5", long: 1.0}; !reflect.DeepEqual(got, want) {
			w.T.Errorf("Envoy has %v", got)
		}
		r.AwaitState(r.Apply("delete: [{type: clusters, name: numbers}]\n"), "delivered")
	})
	w.Step("what Envoy refuses is refused in its words, and the folder is as before", func() {
		got := r.AwaitRejected(r.Put(world.Listener("poison", address, "r/1"))) // the address of l
		if !strings.Contains(*got.Detail, "poison: ") || !strings.Contains(*got.Detail, "address") {
			w.T.Errorf("the receipt says %q", *got.Detail)
		}
		if lds := string(world.Read(w.T, filepath.Join(folder, "lds.json"))); strings.Contains(lds, "poison") {
			w.T.Errorf("the folder has it: %s", lds)
		}
		good := world.FreePort(w.T)
		r.AwaitState(r.Put(world.Listener("good", good, "r/1")), "delivered")
		promptly(w.T, "what came later", func() bool { _, body := world.Get("http://" + good); return body == "c" })
		r.AwaitState(r.Apply("delete: [{type: listeners, name: poison}]\n"), "delivered")

		got = r.AwaitRejected(r.Put(world.NewResource("clusters", "bad", `{name: bad, type: STATIC, connect_timeout: 1s, transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, common_tls_context: {validation_context: {trusted_ca: {filename: /no/such/file}}}}}}`)))
		if !strings.Contains(*got.Detail, "bad: Envoy refuses it") {
			w.T.Errorf("the receipt says %q", *got.Detail)
		}
		r.AwaitState(r.Put(world.Cluster("a", "3s")), "delivered")
		r.AwaitState(r.Apply("delete: [{type: clusters, name: bad}]\n"), "delivered")
	})
	w.Step("a route, which Envoy has no words of", func() {
		got := r.AwaitRejected(r.Put(world.NewResource("routes", "r/1",
			`{name: r/1, validate_clusters: true, virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: nowhere}}]}]}`)))
		if !strings.Contains(*got.Detail, `resource "r/1": Envoy refuses rds/r%2f1.json`) {
			w.T.Errorf("the receipt says %q", *got.Detail)
		}
		if _, body := world.Get(r.proxy); body != "c" {
			w.T.Errorf("it is routed to %q", body)
		}
		r.AwaitState(r.Put(world.Route("r/1", "c")), "delivered")
	})
	w.Step("the server is killed, and is back", func() {
		r.xds.Kill()
		if code, _ := world.Get(r.proxy); code != http.StatusOK {
			w.T.Errorf("without a server it answers %d", code)
		}
		r.xds = w.XDS("--listen", port)
		last := r.Put(world.Endpoints("c", world.Backend(r.Whole, "d")))
		world.Eventually(w.T, 3*world.Soon, "not routed", func() bool { _, body := world.Get(r.proxy); return body == "d" })
		// The lease of the server that was killed may have to end first.
		world.Eventually(w.T, 3*world.Soon, "not delivered", func() bool { return r.Receipt(last).State == "delivered" })
	})
	w.Step("without servers an Envoy starts from the folder", func() {
		world.Must(w.T, program.Stop())
		r.xds.Kill()
		world.Must(w.T, r.envoy.Stop())
		r.envoy = w.filed("n1", folder, withLayer)
		promptly(w.T, "routed", func() bool { _, body := world.Get(r.proxy); return body == "d" })
	})
}

// TestFilesWithoutAnEnvoy: what was confirmed by an Envoy that is killed is confirmed no more, nor is what comes after it, and the receipt says why. The
// files are written meanwhile, and another Envoy that starts from them confirms them.
func TestFilesWithoutAnEnvoy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := &routed{installation: w, xds: w.XDS()}
	address, admin, folder := world.FreePort(t), world.FreePort(t), w.Path("files")
	r.proxy = "http://" + address
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	_, port, err := net.SplitHostPort(admin)
	world.Must(t, err)
	onPort := func(text string) string { return strings.Replace(text, "port_value: 0", "port_value: "+port, 1) }
	without := func(revision int64) {
		w.T.Helper()
		world.Eventually(w.T, world.Soon, "the receipt does not say that no Envoy serves", func() bool {
			got := r.Receipt(revision)
			return got.State == "pending" && got.Counts.Acked == 0 && len(got.Nodes) == 1 && got.Nodes[0].NoEnvoy != nil && *got.Nodes[0].NoEnvoy
		})
	}
	w.Start("fairlead", w.syncArgs("n1", folder, r.xds, "--listen-admin", admin)...)
	var first int64
	w.Step("before the first Envoy", func() {
		w.AwaitLive("n1")
		first = r.Put(world.Cluster("a", "2s"))
		without(first)
	})
	w.Step("an Envoy starts from what is written", func() {
		world.Eventually(w.T, world.Soon, "no files", func() bool { return filesync.Startable(folder) == nil })
		r.envoy = w.filed("n1", folder, onPort)
		r.AwaitState(first, "delivered")
		r.awaitBody("a")
	})
	w.Step("it is killed", func() {
		r.envoy.Kill()
		without(first)
		without(r.Put(world.Endpoints("a", world.Backend(r.Whole, "b"))))
	})
	w.Step("another one starts", func() {
		last := r.Put(world.Endpoints("a", world.Backend(r.Whole, "c")))
		r.envoy = w.filed("n1", folder, onPort)
		r.AwaitState(last, "delivered")
		r.awaitBody("c")
	})
}

// TestBootstrapWithAFallback: while a server answers Envoy asks it, and where none does it starts from the folder.
func TestBootstrapWithAFallback(t *testing.T) {
	t.Parallel()
	w := setup(t)
	xds := w.XDS()
	address, folder, out := world.FreePort(t), w.Path("files"), filepath.Join(w.Path("made"), "envoy.yaml")
	world.Must(t, os.MkdirAll(filepath.Dir(out), 0o700))
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", world.ADS)}.Resource(), world.Route("r", "a"),
		world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a")),
	))
	world.Run(t, "fairlead", w.syncArgs("n1-files", folder, xds, "--once")...)
	starts := func() *localenvoy.Envoy {
		w.T.Helper()
		world.Run(w.T, "fairlead", "bootstrap", "--node-id", "n1", "--node-cluster", w.Fleet, "--xds", xds.Address, "--plaintext", "--token-file", w.TokenFile(),
			"--fallback-dir", folder, "--fallback-after", "3s", "--admin", world.AnyPort, "--out", out)
		dir, err := os.MkdirTemp(w.Dir, "envoy-")
		world.Must(w.T, err)
		e := w.StartEnvoy(localenvoy.Config{Bootstrap: world.Read(w.T, out), Dir: dir})
		w.AwaitReady(e, world.Soon)
		promptly(w.T, "routed", func() bool { _, body := world.Get("http://" + address); return body == "a" })
		return e
	}
	w.Step("a server answers", func() {
		e := starts()
		if text := string(world.Read(w.T, out)); !strings.Contains(text, "fairlead_xds") || strings.Contains(text, folder) {
			w.T.Errorf("a server answers, and the bootstrap is\n%s", text)
		}
		e.Kill()
	})
	w.Step("none does", func() {
		xds.Kill()
		starts()
		if text := string(world.Read(w.T, out)); strings.Contains(text, "fairlead_xds") || !strings.Contains(text, folder) {
			w.T.Errorf("no server answers, and the bootstrap is\n%s", text)
		}
	})
}

// TestClustersAreSwappedInFilesUnderLoad: clusters come and go by files, and no request fails.
func TestClustersAreSwappedInFilesUnderLoad(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := &routed{installation: w, xds: w.XDS()}
	address, folder := world.FreePort(t), w.Path("files")
	r.proxy = "http://" + address
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "c0"), world.Cluster("c0", "1s"), world.Endpoints("c0", world.Backend(t, "c0"))))
	world.Run(t, "fairlead", w.syncArgs("n1", folder, r.xds, "--once")...)
	r.envoy = w.filed("n1", folder)
	admin, err := r.envoy.AdminAddress()
	world.Must(t, err)
	w.Start("fairlead", w.syncArgs("n1", folder, r.xds, "--listen-admin", admin)...)
	w.AwaitLive("n1")
	r.awaitBody("c0")
	load := startLoad(t, r.proxy)
	var last int64
	for i := range 20 {
		old, next := sprintf("c%d", i), sprintf("c%d", i+1)
		last = w.Apply(world.Together(world.Route("r", next), world.Cluster(next, "1s"), world.Endpoints(next, world.Backend(t, next))) +
			sprintf("delete: [{type: clusters, name: %s}, {type: endpoints, name: %s}]\n", old, old))
		r.awaitBody(next)
	}
	r.AwaitState(last, "delivered")
	if done, failed := load.stop(); failed > 0 || done < 100 {
		t.Errorf("%d of %d requests failed, first: %v", failed, done, load.first.Load())
	}
	world.Eventually(t, world.Soon, "files are left over", func() bool {
		files, err := os.ReadDir(filepath.Join(folder, "eds"))
		return err == nil && len(files) == 1
	})
}
