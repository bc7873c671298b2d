package run_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/cmd/internal/run"
	"fairlead/internal/localpg"
	"fairlead/internal/store"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key, a.pem = certificate(t, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// certificate makes one, signed by a, or by itself where that is nil.
func certificate(t *testing.T, a *authority, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if a == nil {
		a = &authority{cert: c, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// secured is a Postgres that speaks TLS, with a certificate for localhost alone.
func secured(t *testing.T, ca *authority) *localpg.Server {
	t.Helper()
	ctx := t.Context()
	bin, err := localpg.Find(ctx, localpg.FindConfig{Fetch: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := localpg.Start(ctx, localpg.Config{Bin: bin, Ephemeral: true, TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	_, key, chain := certificate(t, ca, &x509.Certificate{Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, s.URL("postgres", localpg.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the statements' errors are the ones that count
	// Postgres writes the files itself: they have to be its own user's.
	for file, text := range map[string][]byte{"server.crt": chain, "server.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		sql := fmt.Sprintf(`COPY (SELECT unnest(ARRAY['%s'])) TO PROGRAM 'umask 077 && cat > %s'`, strings.Join(lines, "','"), file)
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{`ALTER SYSTEM SET ssl = on`, `SELECT pg_reload_conf()`} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestVerifyFullAgainstARealPostgres: it works under the name that the certificate is
// for, and under no other, nor with another authority.
func TestVerifyFullAgainstARealPostgres(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s := secured(t, ca)
	dir := t.TempDir()
	file := func(name string, a *authority) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, a.pem, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := func(host, root string) string {
		u := url.URL{Scheme: "postgres", Host: fmt.Sprintf("%s:%d", host, s.Port()), User: url.UserPassword(localpg.Superuser, s.Password()), Path: "/postgres",
			RawQuery: url.Values{"sslmode": {"verify-full"}, "sslrootcert": {root}}.Encode()}
		return u.String()
	}
	ours, other := file("ours.crt", ca), file("other.crt", newAuthority(t))
	good := at("localhost", ours)
	if err := (run.Database{}).CheckURL("--database-url", good); err != nil {
		t.Fatal(err)
	}
	for { // a reload of Postgres's settings is not waited for
		conn, err := pgx.Connect(t.Context(), good)
		if err == nil {
			var encrypted bool
			if err := conn.QueryRow(t.Context(), `SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`).Scan(&encrypted); err != nil || !encrypted {
				t.Fatalf("encrypted: %t, %v", encrypted, err)
			}
			_ = conn.Close(t.Context())
			break
		}
		if !strings.Contains(err.Error(), "server refused TLS connection") {
			t.Fatal(err)
		}
	}
	if _, err := store.Migrate(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for what, wrong := range map[string]string{"another name": at("127.0.0.1", ours), "another authority": at("localhost", other)} {
		_, err := store.Migrate(t.Context(), wrong)
		if err == nil || !strings.Contains(err.Error(), "x509") || strings.Contains(err.Error(), s.Password()) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
