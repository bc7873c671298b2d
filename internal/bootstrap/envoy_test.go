package bootstrap_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"flag"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fairlead/internal/bootstrap"
	"fairlead/internal/envoyversion"
	"fairlead/internal/localenvoy"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// variant is one file that is written.
type variant struct {
	write  func(bootstrap.Config) ([]byte, error)
	config bootstrap.Config
}

// variants are the golden files' names and what makes them.
func variants() map[string]variant {
	e, r, g := bootstrap.Envoy, bootstrap.Relay, bootstrap.GRPC
	return map[string]variant{
		"token-file-delta.yaml": {e, bootstrap.Config{
			NodeID: "acme/edge/envoy-7f3a", NodeCluster: "edge", XDSAddresses: []string{"xds.example.com:443"}, Delta: true,
			TokenFile: "/etc/envoy/fairlead.token", TokenSDSFile: "/etc/envoy/sds/fairlead_token.yaml",
		}},
		"token-env-sotw.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"10.0.0.1:8443", "[2001:db8::2]:8443"}, ServerName: "xds.example.com",
			TokenEnv: "FAIRLEAD_NODE_TOKEN", CAFile: "/etc/fairlead/ca.crt", AdminAddress: "127.0.0.1:0",
			RetryBase: 250 * time.Millisecond, RetryMax: 5 * time.Second, InitialFetchTimeout: 15 * time.Second,
		}},
		"load-reports.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"xds.example.com:8443"}, TokenFile: "/etc/envoy/fairlead.token", Delta: true, LoadReports: true,
		}},
		"failover.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"a.eu.example.com:8443", "b.eu.example.com:8443"}, FailoverAddresses: []string{"xds.us.example.com:8443"},
			TokenFile: "/etc/envoy/fairlead.token", Delta: true,
		}},
		"server-by-ip.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"10.0.0.1:8443"}, TokenEnv: "FAIRLEAD_NODE_TOKEN", Delta: true, AdminAddress: "/run/envoy/admin.sock",
		}},
		"plaintext-env-delta.yaml": {e, bootstrap.Config{
			NodeID: "demo-1", XDSAddresses: []string{"127.0.0.1:18000"}, Delta: true, Plaintext: true, TokenEnv: "FAIRLEAD_NODE_TOKEN",
			Region: "eu-1", Metadata: map[string]any{"stage": "test", "weight": 3, "nested": map[string]any{"a": []string{"<b>"}}},
		}},
		"plaintext-open.yaml": {e, bootstrap.Config{
			NodeID: `odd "id": #1, \ & 'quotes'`, NodeCluster: "{on: no}", XDSAddresses: []string{"localhost:18000"}, Plaintext: true,
		}},
		"google-grpc-delta.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"xds.example.com:443"}, TokenFile: "/etc/envoy/fairlead.token", GoogleGRPC: true, Delta: true,
		}},
		"google-grpc-other-name.yaml": {e, bootstrap.Config{
			NodeID: "n", XDSAddresses: []string{"[2001:db8::2]:8443"}, ServerName: "xds.example.com", TokenFile: "/t", GoogleGRPC: true,
		}},
		"relay-token-file.yaml": {r, bootstrap.Config{
			NodeID: "relay-1", XDSAddresses: []string{"xds.example.com:443"}, TokenFile: "/etc/envoy/fairlead.token",
		}},
		"relay-plaintext-env.yaml": {r, bootstrap.Config{
			NodeID: "relay-1", XDSAddresses: []string{"127.0.0.1:18000"}, Plaintext: true, TokenEnv: "FAIRLEAD_NODE_TOKEN", RelayAddress: "[::1]:0",
		}},
		"grpc-plaintext.json": {g, bootstrap.Config{
			NodeID: "grpc-1", XDSAddresses: []string{bootstrap.DefaultRelay}, Plaintext: true,
		}},
		"grpc-two-servers.json": {g, bootstrap.Config{
			NodeID: "grpc-1", XDSAddresses: []string{"a.example.com:443", "b.example.com:443"}, TokenFile: "/etc/fairlead/fairlead.token",
		}},
		"grpc-token.json": {g, bootstrap.Config{
			NodeID: "grpc-1", NodeCluster: "edge", XDSAddresses: []string{"xds.example.com:443"}, TokenFile: "/etc/fairlead/fairlead.token",
			Region: "eu-1", Zone: "a", SubZone: "rack 3", Metadata: map[string]any{"stage": "test"},
		}},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, v := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := v.write(v.config)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func envoyBinary(t *testing.T) string {
	t.Helper()
	bin, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{Fetch: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// tokenEnd is what may stand at the end of a token's file: a newline, if this Envoy leaves it out.
func tokenEnd(t *testing.T, c bootstrap.Config, bin string) string {
	t.Helper()
	version, err := localenvoy.VersionOf(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	if c.GoogleGRPC || !envoyversion.Has(version, envoyversion.TokenNewline) {
		return ""
	}
	return "\n"
}

// files puts a CA, a token and its SDS file into a directory and points c to them.
func files(t *testing.T, c bootstrap.Config, ca []byte, token string) bootstrap.Config {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if !c.Plaintext {
		c.CAFile = write("ca.crt", ca)
	}
	if c.TokenFile != "" {
		c.TokenFile, c.TokenSDSFile = write("token", []byte(token)), ""
		sds, err := bootstrap.TokenSDS(c.TokenFile)
		if err != nil {
			t.Fatal(err)
		}
		if got := write("fairlead_token.yaml", sds); got != c.TokenSDSPath() {
			t.Fatalf("the SDS file is expected at %s", c.TokenSDSPath())
		}
	}
	c.AdminAddress = "127.0.0.1:0"
	return c
}

func TestEnvoyTakesEveryVariant(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	bin := envoyBinary(t)
	for name, v := range variants() {
		if !strings.HasSuffix(name, ".yaml") {
			continue // a gRPC client's: those run in test/grpc
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := v.write(files(t, v.config, ca, "token"))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "bootstrap.yaml")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(bin, "--mode", "validate", "-c", file, "--disable-hot-restart", "-l", "warn")
			cmd.Env = append(os.Environ(), "FAIRLEAD_NODE_TOKEN=token")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("envoy refuses it: %v\n%s\n%s", err, out, text)
			}
		})
	}
}

// call is what reached the server. authorization is all that could carry the token, so that one
// that arrives a second time is seen.
type call struct{ path, authorization, authority string }

// control is a server that notes what reaches it and answers nothing.
func control(t *testing.T, plaintext bool) (*httptest.Server, <-chan call) {
	t.Helper()
	calls := make(chan call, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case calls <- call{r.URL.Path, strings.Join(slices.Concat(r.Header["Authorization"], r.Header["Fairlead-Token"]), " and "), r.Host}:
		default:
		}
		<-r.Context().Done()
	}))
	if plaintext {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	} else {
		s.EnableHTTP2 = true
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
		s.StartTLS()
	}
	return s, calls
}

func TestEnvoyArrivesWithItsToken(t *testing.T) {
	t.Parallel()
	bin := envoyBinary(t)
	const delta, sotw = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
		"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"
	for name, c := range map[string]struct {
		config bootstrap.Config
		want   call
	}{
		"TLS, token in a file":     {bootstrap.Config{TokenFile: "x", ServerName: "example.com", Delta: true}, call{delta, "Bearer secret", "example.com"}},
		"TLS by google_grpc":       {bootstrap.Config{TokenFile: "x", ServerName: "example.com", GoogleGRPC: true, Delta: true}, call{delta, "Bearer secret", "example.com"}},
		"TLS by IP, in a variable": {bootstrap.Config{TokenEnv: "FAIRLEAD_NODE_TOKEN"}, call{sotw, "Bearer secret", "127.0.0.1"}},
		"plaintext, in a variable": {bootstrap.Config{TokenEnv: "FAIRLEAD_NODE_TOKEN", Plaintext: true, Delta: true}, call{delta, "Bearer secret", "fairlead_xds"}},
		"plaintext, no token":      {bootstrap.Config{Plaintext: true}, call{sotw, "", "fairlead_xds"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, calls := control(t, c.config.Plaintext)
			t.Cleanup(server.Close)
			var ca []byte
			if !c.config.Plaintext {
				ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			}
			config := files(t, c.config, ca, "secret"+tokenEnd(t, c.config, bin))
			config.NodeID, config.XDSAddresses = "node-1", []string{server.Listener.Addr().(*net.TCPAddr).String()}
			text, err := bootstrap.Envoy(config)
			if err != nil {
				t.Fatal(err)
			}
			e, err := localenvoy.Start(t.Context(), localenvoy.Config{
				Bin: bin, Bootstrap: text, Dir: t.TempDir(), Env: []string{"FAIRLEAD_NODE_TOKEN=secret"},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Kill)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			select {
			case got := <-calls:
				if got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
			case <-e.Done():
				t.Fatalf("envoy ended: %s", e.LogTail())
			case <-ctx.Done():
				t.Fatalf("no stream arrived; log: %s", e.LogTail())
			}
		})
	}
}
