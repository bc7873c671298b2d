package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"fairlead/internal/bootstrap"
	"fairlead/internal/client"
	"fairlead/internal/localenvoy"
	"fairlead/internal/seal"
)

// certificate is a self-signed one for 127.0.0.1 and localhost, as PEM.
func certificate(t testing.TB) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	must(t, err)
	pk, err := x509.MarshalECPrivateKey(k)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: pk})
}

// trusting returns an HTTP client that knows the certificate.
func trusting(t testing.TB, cert []byte) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	c := &http.Client{Timeout: soon, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// TestServersWithTLS: both servers prove themselves, and an Envoy with a token file takes
// its configuration over TLS.
func TestServersWithTLS(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cert, key := certificate(t)
	certFile, keyFile, tokenFile := w.path("tls.crt"), w.path("tls.key"), w.path("node.token")
	must(t, os.WriteFile(certFile, cert, 0o600), os.WriteFile(keyFile, key, 0o600), os.WriteFile(tokenFile, []byte(w.nodeToken), 0o600))

	api := w.start("api", "serve", "--listen", anyPort, "--tls-cert", certFile, "--tls-key", keyFile, "--database-url", w.db.app,
		"--seal-public-key", w.path("keys", seal.PublicFile), "--version-key", w.path("keys", seal.VersionFile)).logged("the port is open", "address")
	c := trusting(t, cert)
	eventually(t, 2*soon, "the API did not answer over TLS", func() bool {
		resp, err := c.Get("https://" + api + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})

	server := w.xds("--tls-cert", certFile, "--tls-key", keyFile)
	conf := bootstrap.Config{NodeID: "n1", XDSAddresses: []string{server.address}, Delta: true, CAFile: certFile, ServerName: "localhost", TokenFile: tokenFile, AdminAddress: "127.0.0.1:0"}
	sds, err := bootstrap.TokenSDS(tokenFile)
	must(t, err, os.WriteFile(conf.TokenSDSPath(), sds, 0o600))
	text, err := bootstrap.Envoy(conf)
	must(t, err)
	e, err := localenvoy.Start(t.Context(), localenvoy.Config{Bin: envoyBin, Bootstrap: text, Dir: w.path("envoy")})
	must(t, err)
	t.Cleanup(func() { _ = e.Stop(); w.dump(e.LogFile()) })
	address := freePort(t)
	w.apply(together(listener("l", address, "r"), route("r", "a"), cluster("a", "1s"), endpoints("a", backend(t, "a"))))
	eventually(t, 2*soon, "no request was routed", func() bool { _, body := get("http://" + address); return body == "a" })
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
	server := w.xds("--reflection")
	conn, err := grpc.NewClient("passthrough:///"+server.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	h, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	list := func(ctx context.Context) (*reflectionpb.ServerReflectionResponse, error) {
		s, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
		must(t, err)
		_ = s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
		return s.Recv()
	}
	if _, err := list(t.Context()); status.Code(err) != codes.Unauthenticated {
		t.Errorf("reflection without a token: %v, want Unauthenticated", err)
	}
	r, err := list(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+w.nodeToken))
	if err != nil || !strings.Contains(r.String(), "AggregatedDiscoveryService") {
		t.Errorf("reflection with a token: %v, %v", r, err)
	}
}

// TestServersStopInOrder: SIGTERM ends both servers well, with a client connected, and
// the proxy goes on.
func TestServersStopInOrder(t *testing.T) {
	t.Parallel()
	r := setupRouted(t, setup(t), true)
	must(t, r.xds.Signal(syscall.SIGTERM))
	if err := r.xds.Err(); err != nil {
		t.Errorf("the xDS server ended with %v", err)
	}
	r.awaitBody("a")
	n, err := r.rest.GetNodeWithResponse(t.Context(), "acme", "edge", "n1")
	r.made(n, err)
	if n.JSON200.State != client.NodeStateOffline {
		t.Errorf("the node is %s after its server stopped, want offline", n.JSON200.State)
	}
}

// TestAPIWithoutADatabase: the process is alive and says that it waits; a port that is
// taken is told before that.
func TestAPIWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := &world{t: t, whole: t, dir: t.TempDir()}
	run(t, "api", "keys", "--dir", w.path("keys"))
	serve := []string{"serve", "--database-url", "postgres://nobody@" + silent(t) + "/none?connect_timeout=1",
		"--seal-public-key", w.path("keys", seal.PublicFile), "--version-key", w.path("keys", seal.VersionFile), "--listen"}
	address := w.start("api", append(serve, anyPort)...).logged("the port is open", "address")
	w.awaitOK("http://" + address + "/healthz")
	for path, want := range map[string]string{"/readyz": "the database was not reached yet", "/v1/tenants": `"code":"unavailable"`} {
		if code, body := get("http://" + address + path); code != http.StatusServiceUnavailable || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q, want 503 and %q", path, code, body, want)
		}
	}
	second := w.start("api", append(serve, address)...)
	select {
	case <-second.Done():
	case <-time.After(soon):
		t.Fatal("it waits for the database with a port that it cannot have")
	}
	if out := string(read(t, second.log)); second.Err() == nil || !strings.Contains(out, address+" is in use") {
		t.Errorf("it ended with %v and said %q, want that the port is in use", second.Err(), out)
	}
}

// silent is an address that takes connections and never answers.
func silent(t testing.TB) string {
	t.Helper()
	lis, err := net.Listen("tcp", anyPort)
	must(t, err)
	t.Cleanup(func() { _ = lis.Close() })
	return lis.Addr().String()
}

// TestBootstrapTokenIsMadeOnce: the second run fails with a sentence and leaves no file.
func TestBootstrapTokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	file := w.path("second")
	out, code := runCode(t, filepath.Join(binDir, "api"), "bootstrap-token", "--database-url", w.db.app, "--out", file)
	if want := "api: there is an operator token that is good, and this command makes one only where there is none: use that one, or make another with it (POST /v1/operator/tokens)\n"; code != 1 || out != want {
		t.Errorf("exit status %d, %q, want 1 and %q", code, out, want)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of --out: %v, want none", err)
	}
}
