package run

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/store/storetest"
	"fairlead/internal/xds/xdstest"
)

// made is a certificate that signs itself, with its key; its serial number tells it from others.
type made struct{ chain, key []byte }

func makeCertificate(t *testing.T, serial int64, ends time.Time) made {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost"},
		NotBefore: ends.Add(-365 * 24 * time.Hour), NotAfter: ends, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return made{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})}
}

// certificateWorld is a Certificate with its files, its clock and its log.
type certificateWorld struct {
	*testing.T
	c         *Certificate
	cert, key string
	now       time.Time
	log       *bytes.Buffer
	conf      *tls.Config
}

func (w *certificateWorld) put(path string, text []byte) {
	w.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		w.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		w.Fatal(err)
	}
}

func (w *certificateWorld) putPair(m made) {
	w.Helper()
	w.put(w.cert, m.chain)
	w.put(w.key, m.key)
}

func newCertificateWorld(t *testing.T, first made) *certificateWorld {
	t.Helper()
	dir := t.TempDir()
	w := &certificateWorld{T: t, cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), now: time.Now(), log: new(bytes.Buffer)}
	w.putPair(first)
	w.open()
	return w
}

// look is two looks: what has changed is taken when the second one sees the same.
func (w *certificateWorld) look() {
	w.c.look()
	w.c.look()
}

func (w *certificateWorld) open() {
	w.Helper()
	var err error
	w.c, err = newCertificate(w.cert, w.key, slog.New(slog.NewTextHandler(w.log, nil)), func() time.Time { return w.now })
	if err != nil {
		w.Fatal(err)
	}
	w.conf = w.c.Config()
}

// shake makes a handshake with a server that sends back what it reads, and returns the client's end.
func (w *certificateWorld) shake(client *tls.Config) (*tls.Conn, tls.ConnectionState) {
	w.Helper()
	lis := listenHere(w.T)
	var served sync.WaitGroup
	served.Go(func() {
		conn, err := lis.Accept()
		if err != nil {
			return // the client tells
		}
		server := tls.Server(conn, w.conf)
		_, _ = io.Copy(server, server)
		_ = server.Close()
	})
	c, err := (&tls.Dialer{Config: client}).DialContext(w.Context(), "tcp", lis.Addr().String())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		_ = c.Close()
		served.Wait()
	})
	conn := c.(*tls.Conn) //nolint:forcetypeassert // what a tls.Dialer makes
	w.echo(conn)          // a ticket comes before it
	return conn, conn.ConnectionState()
}

func listenHere(t *testing.T) net.Listener {
	t.Helper()
	lis, err := Listen("127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	return lis
}

func (w *certificateWorld) echo(c *tls.Conn) {
	w.Helper()
	if _, err := c.Write([]byte("x")); err != nil {
		w.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		w.Fatal(err)
	}
}

func insecure() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, ServerName: "localhost", ClientSessionCache: tls.NewLRUClientSessionCache(2)} //nolint:gosec // which one it is shows by its number
}

func (w *certificateWorld) serial() int64 {
	w.Helper()
	_, state := w.shake(insecure())
	return state.PeerCertificates[0].SerialNumber.Int64()
}

func (w *certificateWorld) wantSerial(want int64) {
	w.Helper()
	if got := w.serial(); got != want {
		w.Errorf("a handshake gets the certificate %d, want %d; the log: %s", got, want, w.log)
	}
}

func (w *certificateWorld) wantLogged(times int, words string) {
	w.Helper()
	if got := strings.Count(w.log.String(), words); got != times {
		w.Errorf("%q is logged %d times, want %d:\n%s", words, got, times, w.log)
	}
}

var nextYear = time.Now().Add(365 * 24 * time.Hour)

func TestANewCertificateIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
	client := insecure()
	open, _ := w.shake(client)
	if _, state := w.shake(client); !state.DidResume {
		t.Error("a session is not resumed while the certificate stays")
	}
	w.look()
	w.wantSerial(1)
	w.putPair(makeCertificate(t, 2, nextYear))
	w.look()
	w.wantSerial(2)
	if _, state := w.shake(client); state.DidResume || state.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Error("who has a session of the old certificate is not shown the new one")
	}
	if _, state := w.shake(client); !state.DidResume {
		t.Error("a session of the new certificate is not resumed")
	}
	w.echo(open) // goes on
	w.wantLogged(1, "new handshakes get the new certificate")
}

// What Kubernetes does with a mounted Secret: the files are links into a folder that is swapped as a whole.
func TestACertificateBehindALinkThatIsSwapped(t *testing.T) {
	t.Parallel()
	w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
	dir := t.TempDir()
	for i, m := range []made{makeCertificate(t, 2, nextYear), makeCertificate(t, 3, nextYear)} {
		version := filepath.Join(dir, string('a'+rune(i)))
		if err := os.Mkdir(version, 0o700); err != nil {
			t.Fatal(err)
		}
		w.put(filepath.Join(version, "tls.crt"), m.chain)
		w.put(filepath.Join(version, "tls.key"), m.key)
		link := filepath.Join(dir, "..data")
		if err := os.Symlink(version, link+"_tmp"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+"_tmp", link); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			w.cert, w.key = filepath.Join(link, "tls.crt"), filepath.Join(link, "tls.key")
			w.open()
		}
		w.look()
		w.wantSerial(int64(i + 2))
	}
}

func TestABrokenCertificateIsNotTaken(t *testing.T) {
	t.Parallel()
	good := makeCertificate(t, 1, nextYear)
	other, ended := makeCertificate(t, 2, nextYear), makeCertificate(t, 3, time.Now().Add(-time.Minute))
	const refused = "the new certificate is not used"
	for name, c := range map[string]struct {
		cert, key []byte // nil: the file is gone
		says      string
	}{
		"a key of another":       {other.chain, good.key, "private key does not match public key"},
		"no certificate":         {[]byte("x"), other.key, "failed to find any PEM data"},
		"half a file":            {other.chain[:len(other.chain)/2], other.key, "tls.crt"},
		"empty files":            {[]byte{}, []byte{}, "failed to find any PEM data"},
		"no file":                {nil, other.key, "no such file"},
		"one that has ended":     {ended.chain, ended.key, "it expired at"},
		"a key without its file": {other.chain, nil, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCertificateWorld(t, good)
			for path, text := range map[string][]byte{w.cert: c.cert, w.key: c.key} {
				if text != nil {
					w.put(path, text)
				} else if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				w.look()
			}
			w.wantSerial(1)
			w.wantLogged(1, refused)
			w.wantLogged(1, c.says)
			if bytes.Contains(w.log.Bytes(), []byte("PRIVATE KEY")) {
				t.Error("the key is in the log")
			}
			w.putPair(other)
			w.look()
			w.wantSerial(2)
		})
	}
}

// A chain is often written over in place. One that ends early is a good pair to Go, and most clients refuse what is left: they do not know who signed it.
func TestAChainThatIsHalfWrittenIsNotTaken(t *testing.T) {
	t.Parallel()
	next, authority := makeCertificate(t, 2, nextYear), makeCertificate(t, 3, nextYear)
	whole := slices.Concat(next.chain, authority.chain)
	for name, size := range map[string]int{
		"between two certificates":      len(next.chain),
		"in the second one":             len(next.chain) + len(authority.chain)/2,
		"in the second one's last line": len(whole) - 3,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
			w.put(w.key, next.key)
			w.c.look()
			w.put(w.cert, whole[:size])
			w.c.look()
			w.wantSerial(1)
			w.wantLogged(0, "not used")
			if name != "between two certificates" { // nothing tells that file from a chain of one
				w.look()
				w.wantSerial(1)
				w.wantLogged(1, "the block that begins in line")
				if _, err := newCertificate(w.cert, w.key, slog.New(slog.DiscardHandler), time.Now); err == nil {
					t.Error("a server starts with it")
				}
			}
			w.put(w.cert, whole)
			w.look()
			if _, state := w.shake(insecure()); len(state.PeerCertificates) != 2 || state.PeerCertificates[0].SerialNumber.Int64() != 2 {
				t.Errorf("the whole chain has 2 certificates, a handshake gets %d; the log: %s", len(state.PeerCertificates), w.log)
			}
			w.wantLogged(1, "new handshakes get the new certificate")
		})
	}
}

// One whose time has not begun would be refused by every client. It waits, and is used then without a change of the files.
func TestACertificateWhoseTimeHasNotBegunWaits(t *testing.T) {
	t.Parallel()
	w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
	begins := w.now.Add(24 * time.Hour)
	w.putPair(makeCertificate(t, 2, begins.Add(365*24*time.Hour)))
	for range 3 {
		w.look()
	}
	w.wantSerial(1)
	w.wantLogged(1, "it begins at")
	w.now = begins.Add(time.Minute)
	for range 3 {
		w.look()
	}
	w.wantSerial(2)
	w.wantLogged(1, "new handshakes get the new certificate")
	w.wantLogged(0, "has not begun")
	w.now = begins.Add(-time.Hour)
	w.open() // a server that starts with it serves, and says so
	w.wantSerial(2)
	w.wantLogged(1, "has not begun")
}

func TestACertificateThatEndsSoonIsTold(t *testing.T) {
	t.Parallel()
	w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
	const soon, ended = "the certificate expires soon", "the certificate has expired"
	w.wantLogged(0, soon)
	w.now = nextYear.Add(-certificateSoon + time.Minute)
	for range 3 {
		w.look()
	}
	w.wantLogged(1, soon)
	w.now = w.now.Add(certificateDaily)
	w.look()
	w.wantLogged(2, soon)
	w.now = nextYear.Add(time.Minute)
	w.look()
	w.wantLogged(1, ended)
	w.putPair(makeCertificate(t, 2, w.now.Add(30*24*time.Hour)))
	w.look()
	w.look()
	w.wantSerial(2)
	w.wantLogged(2, soon)
	w.wantLogged(1, ended)
	w.now = w.now.Add(20 * 24 * time.Hour) // the new one is told of by itself
	w.look()
	w.wantLogged(3, soon)
}

// A server that starts with a certificate that has ended serves, and says so: clients may be told to take it.
func TestACertificateThatHasEndedAtTheStart(t *testing.T) {
	t.Parallel()
	w := newCertificateWorld(t, makeCertificate(t, 1, time.Now().Add(-time.Hour)))
	w.wantSerial(1)
	w.wantLogged(1, "the certificate has expired")
}

// The xDS server's port, with the component that watches.
func TestTheXDSServerTakesANewCertificate(t *testing.T) {
	w := newCertificateWorld(t, makeCertificate(t, 1, nextYear))
	w.c.every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { _ = w.c.Components()[0].Run(ctx) })
	defer watching.Wait()
	defer cancel()
	d := openDoorWith(t, storetest.New(t), w.conf)
	dial := func() *tls.Conn {
		t.Helper()
		client := insecure()
		client.NextProtos = []string{"h2"}
		c, err := (&tls.Dialer{Config: client}).DialContext(t.Context(), "tcp", d.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.(*tls.Conn)
	}
	old := dial()
	w.putPair(makeCertificate(t, 2, nextYear))
	for dial().ConnectionState().PeerCertificates[0].SerialNumber.Int64() != 2 { //nolint:revive // the files are read within a millisecond
	}
	r := xdstest.NewRaw(t, old) // a connection from before goes on
	id := r.Call("/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus", d.good)
	r.Send(id, xdstest.Message(0, nil), true)
	if code, err := r.End(id); code != codes.OK {
		t.Errorf("a call on the old connection: %v (%v)", code, err)
	}
}
