package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// secret is a server's certificate.
func secret(name string, cert, key []byte) world.Resource {
	body, _ := json.Marshal(map[string]any{"name": name, "tls_certificate": map[string]any{
		"certificate_chain": map[string]string{"inline_string": string(cert)},
		"private_key":       map[string]string{"inline_string": string(key)},
	}})
	return world.NewResource("secrets", name, string(body))
}

// presents is the httpListener.tls of one that shows the certificate of a secret.
func presents(secret, source string) string {
	return sprintf(`transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
    common_tls_context: {tls_certificate_sds_secret_configs: [{name: %s, sds_config: %s}]}}},`, secret, source)
}

// TestSecretIsServedAndRotatedUnderLoad: sealed at the write, opened by the xDS server,
// never shown; and no handshake fails while the certificate changes ten times.
func TestSecretIsServedAndRotatedUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		r := setupRouted(t, setup(t), delta)
		address := world.FreePort(t)
		cert, key := world.Certificate(t)
		tls := world.HTTPListener{Name: "tls", Address: address, Routes: world.RDS("r", world.ADS), TLS: presents("server", world.ADS)}
		revision := r.Apply(world.Together(secret("server", cert, key), tls.Resource()))
		c := trusting(t, cert)
		promptly(t, "routed over TLS", func() bool {
			resp, err := c.Get("https://" + address)
			if err != nil {
				return false
			}
			_ = resp.Body.Close()
			return resp.StatusCode == 200
		})
		r.AwaitState(revision, "delivered")
		s, err := r.REST.GetResourceWithResponse(t.Context(), "acme", "edge", client.TypeParam("secrets"), "server", nil)
		r.Made(s, err)
		if body := string(s.Body); strings.Contains(body, "PRIVATE KEY") || !strings.Contains(body, "CN=test") {
			t.Errorf("the secret is shown as %s, want its subject and no key", body)
		}

		load := startHandshakes(t, address)
		for range 10 {
			cert, key = world.Certificate(t)
			revision = r.Put(secret("server", cert, key))
			promptly(t, "served with the new certificate", func() bool { return load.serves(cert) })
		}
		r.AwaitState(revision, "delivered")
		done, failed := load.stop()
		t.Logf("%d handshakes, %d failed", done, failed)
		if failed > 0 || done == 0 {
			t.Errorf("%d of %d handshakes failed: %v", failed, done, load.first)
		}
		load.shake(address)
		if !load.serves(cert) {
			t.Error("the last certificate is not the one that is served")
		}
	})
}

// handshakes is a load of new TLS connections.
type handshakes struct {
	cancel       context.CancelFunc
	wg           sync.WaitGroup
	done, failed atomic.Int64

	mu    sync.Mutex // guards what follows
	der   []byte     // of the newest handshake's certificate
	first error      // what failed first
}

// startHandshakes makes 400 connections a second, each new, from four workers.
func startHandshakes(t testing.TB, address string) *handshakes {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h := &handshakes{cancel: cancel}
	for range 4 {
		h.wg.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				h.shake(address)
				<-tick.C
			}
		})
	}
	t.Cleanup(func() { h.stop() })
	return h
}

// shake makes one connection and one request over it: in TLS 1.3 the client is done
// before the server is.
func (h *handshakes) shake(address string) {
	der, err := request(address)
	h.done.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.der = der
		return
	}
	if h.failed.Add(1) == 1 {
		h.first = err
	}
}

func request(address string) (der []byte, err error) {
	// Any certificate is good: which one it is is compared.
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: world.Soon}, Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(world.Soon))
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: e2e\r\nConnection: close\r\n\r\n")); err != nil {
		return nil, err
	}
	answer := make([]byte, 15)
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 200 OK" {
		return nil, errors.Join(err, errors.New("answered "+string(answer)))
	}
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw, nil
}

// serves reports whether the newest handshake showed this certificate.
func (h *handshakes) serves(cert []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	block, _ := pem.Decode(cert)
	return slices.Equal(h.der, block.Bytes)
}

func (h *handshakes) stop() (done, failed int64) {
	h.cancel()
	h.wg.Wait()
	return h.done.Load(), h.failed.Load()
}
