package run_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/cmd/internal/run"
)

func TestWhichDatabaseURLsAreTaken(t *testing.T) {
	for _, name := range []string{"PGSSLMODE", "PGHOST", "PGSSLROOTCERT", "PGSERVICE"} { // the machine's own must not decide
		t.Setenv(name, "")
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, newAuthority(t).pem, 0o600); err != nil {
		t.Fatal(err)
	}
	const secret = "s3cret-pass"
	for url, good := range map[string]bool{
		"postgres://u:" + secret + "@db.example.com/f":                                                             false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=disable":                                             false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=allow":                                               false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=prefer":                                              false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=require":                                             false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=require&sslrootcert=" + ca:                           false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=verify-ca":                                           false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=verify-full":                                         true,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=verify-full&sslrootcert=" + ca:                       true,
		"postgres://u:" + secret + "@db.example.com/f?sslrootcert=system":                                          true,
		"postgres://u:" + secret + "@10.0.0.7/f?sslmode=disable":                                                   false,
		"postgres://u:" + secret + "@127.0.0.1.example.com/f":                                                      false,
		"host=db.example.com user=u password=" + secret + " dbname=f":                                              false,
		"host=db.example.com user=u password=" + secret + " dbname=f sslmode=verify-full":                          true,
		"postgres://u:" + secret + "@127.0.0.1:5432/f?sslmode=disable":                                             true,
		"postgres://u:" + secret + "@[::1]/f":                                                                      true,
		"postgres://u:" + secret + "@localhost/f?sslmode=prefer":                                                   true,
		"postgres:///f?host=/run/postgresql":                                                                       true,
		"postgres://u:" + secret + "@127.0.0.1,localhost/f":                                                        true,
		"postgres://u:" + secret + "@127.0.0.1,db.example.com/f":                                                   false,
		"postgres://u:" + secret + "@db.example.com,127.0.0.1/f?sslmode=prefer":                                    false,
		"postgres://u:" + secret + "@db-1.example.com,db-2.example.com/f?sslmode=verify-full&target_session_attrs": false, // cannot be read
		"postgres://u:" + secret + "@db-1.example.com,db-2.example.com/f?sslmode=verify-full":                      true,
		"postgres://u:" + secret + "@db.example.com:x/f?sslmode=verify-full":                                       false,
		"postgres://u:" + secret + "@db.example.com/f?sslmode=verify-full&sslrootcert=/nowhere":                    false,
	} {
		err := run.Database{}.CheckURL("--database-url", url)
		if (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || !strings.HasPrefix(err.Error(), "--database-url ") || !strings.Contains(err.Error(), "sslmode=verify-full")) {
			t.Errorf("%s is told %q", url, err)
		}
	}
	plain := run.Database{AllowPlaintextDatabase: true}
	if err := plain.CheckURL("--x", "postgres://u:p@db.example.com,db.example.org/f?sslmode=prefer"); err != nil {
		t.Errorf("asked for by name: %v", err)
	}
	if err := plain.CheckURL("--x", "postgres://u:"+secret+"@h:x/f"); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("asked for by name, not to be read: %v", err)
	}
}

// Both servers ask before they do anything else.
func TestServersRefuseAnUncheckedDatabase(t *testing.T) {
	t.Parallel()
	const near, far = "postgres://u@127.0.0.1:1/f", "postgres://u@db.example.com/f?sslmode=require"
	log := slog.New(slog.DiscardHandler)
	_, api := run.NewAPI(t.Context(), run.APIConfig{DatabaseURL: far}, log)
	_, xds := run.NewXDS(t.Context(), run.XDSConfig{DatabaseURL: far}, log)
	_, listen := run.NewXDS(t.Context(), run.XDSConfig{DatabaseURL: near, ListenURL: far}, log)
	_, read := run.NewXDS(t.Context(), run.XDSConfig{DatabaseURL: near, ReadURL: far}, log)
	for what, c := range map[string]struct {
		err  error
		flag string
	}{"api": {api, "--database-url "}, "xds": {xds, "--database-url "}, "LISTEN": {listen, "--listen-database-url "}, "a standby": {read, "--read-database-url "}} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.flag) || !strings.Contains(c.err.Error(), "--allow-plaintext-database") {
			t.Errorf("%s: %v", what, c.err)
		}
	}
}
