package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/localenvoy"
	"fairlead/test/world"
)

// trusting returns an HTTP client that knows the certificate.
func trusting(t testing.TB, cert []byte) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	c := &http.Client{Timeout: world.Soon, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// TestServersWithTLS: both servers prove themselves, and an Envoy with a token file takes
// its configuration over TLS.
func TestServersWithTLS(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure, certFile := w.TLS()
	tokenFile := w.TokenFile()

	api := w.StartAPI(append(secure, "--listen", world.AnyPort, "--database-url", w.DB.App)...).Logged("the port is open", "address")
	c := trusting(t, world.Read(t, certFile))
	world.Eventually(t, 2*world.Soon, "the API did not answer over TLS", func() bool {
		resp, err := c.Get("https://" + api + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})

	server := w.XDS(secure...)
	conf := bootstrap.Config{NodeID: "n1", XDSAddresses: []string{server.Address}, Delta: true, CAFile: certFile, ServerName: "localhost", TokenFile: tokenFile, AdminAddress: world.AnyPort}
	sds, err := bootstrap.TokenSDS(tokenFile)
	world.Must(t, err, os.WriteFile(conf.TokenSDSPath(), sds, 0o600))
	text, err := bootstrap.Envoy(conf)
	world.Must(t, err)
	w.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: w.Path("envoy")})
	address := world.FreePort(t)
	w.Apply(world.Together(world.Listener("l", address, "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	world.Eventually(t, 2*world.Soon, "no request was routed", func() bool { _, body := world.Get("http://" + address); return body == "a" })
}

func TestPlaintextBeyondLoopbackMustBeAskedFor(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"api", "xds"} {
		args := []string{"--listen", "0.0.0.0:0", "--database-url", "postgres://x"}
		if program == "api" {
			args = append([]string{"serve", "--seal-public-key", "x", "--version-key", "x"}, args...)
		} else {
			args = append(args, "--seal-private-key", "x")
		}
		out := runFailing(t, program, args...)
		if !strings.Contains(out, "--tls-cert") || !strings.Contains(out, "--allow-plaintext") {
			t.Errorf("%s said %q, want what to do", program, out)
		}
	}
}

// TestHealthIsOpenAndReflectionIsNot: a load balancer has no token, anybody else needs one,
// and reflection has to be asked for.
func TestHealthIsOpenAndReflectionIsNot(t *testing.T) {
	t.Parallel()
	w := setup(t)
	server := w.XDS("--reflection")
	conn := w.Dial(server.Address)
	h, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	list := func(ctx context.Context) (*reflectionpb.ServerReflectionResponse, error) {
		s, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
		world.Must(t, err)
		_ = s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
		return s.Recv()
	}
	if _, err := list(t.Context()); status.Code(err) != codes.Unauthenticated {
		t.Errorf("reflection without a token: %v, want Unauthenticated", err)
	}
	r, err := list(world.WithToken(t.Context(), w.NodeToken))
	if err != nil || !strings.Contains(r.String(), "AggregatedDiscoveryService") {
		t.Errorf("reflection with a token: %v, %v", r, err)
	}
}

// TestServersStopInOrder: SIGTERM ends both servers well, with a client connected, and
// the proxy goes on.
func TestServersStopInOrder(t *testing.T) {
	t.Parallel()
	r := setupRouted(t, setup(t), true)
	world.Must(t, r.xds.Signal(syscall.SIGTERM))
	if err := r.xds.Err(); err != nil {
		t.Errorf("the xDS server ended with %v", err)
	}
	r.awaitBody("a")
	if n := r.Node("n1"); n.State != client.NodeStateOffline {
		t.Errorf("the node is %s after its server stopped, want offline", n.State)
	}
}

// TestAPIWithoutADatabase: the process is alive and says that it waits; a port that is
// taken is told before that.
func TestAPIWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := world.Empty(t)
	w.MakeKeys()
	serve := []string{"--database-url", "postgres://nobody@" + silent(t) + "/none?connect_timeout=1", "--listen"}
	address := w.StartAPI(append(serve, world.AnyPort)...).Logged("the port is open", "address")
	world.AwaitOK(t, "http://"+address+"/healthz")
	for path, want := range map[string]string{"/readyz": "the database was not reached yet", "/v1/tenants": `"code":"unavailable"`} {
		if code, body := world.Get("http://" + address + path); code != http.StatusServiceUnavailable || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q, want 503 and %q", path, code, body, want)
		}
	}
	second := w.StartAPI(append(serve, address)...)
	select {
	case <-second.Done():
	case <-time.After(world.Soon):
		t.Fatal("it waits for the database with a port that it cannot have")
	}
	if out := string(world.Read(t, second.Log)); second.Err() == nil || !strings.Contains(out, address+" is in use") {
		t.Errorf("it ended with %v and said %q, want that the port is in use", second.Err(), out)
	}
}

// silent is an address that takes connections and never answers.
func silent(t testing.TB) string {
	t.Helper()
	lis, err := net.Listen("tcp", world.AnyPort)
	world.Must(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	return lis.Addr().String()
}

// TestBootstrapTokenIsMadeOnce: the second run fails with a sentence and leaves no file.
func TestBootstrapTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	file := w.Path("second")
	out, code := runCode(t, world.Bin("api"), "bootstrap-token", "--database-url", w.DB.App, "--out", file)
	if want := "api: there is an operator token that is good, and this command makes one only where there is none: use that one, or make another with it (POST /v1/operator/tokens)\n"; code != 1 || out != want {
		t.Errorf("exit status %d, %q, want 1 and %q", code, out, want)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of --out: %v, want none", err)
	}
}

// runCode runs a program to its end and returns what it printed and its exit status.
func runCode(t testing.TB, path string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// runFailing runs one of our programs, which must fail, and returns what it printed.
func runFailing(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, code := runCode(t, world.Bin(program), args...)
	if code == 0 {
		t.Fatalf("%s %s ended well: %s", program, strings.Join(args, " "), out)
	}
	return out
}
