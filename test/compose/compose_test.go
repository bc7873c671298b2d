package compose

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dotenv is what `make compose-env` writes, where nobody tells it a digest.
func dotenv(t *testing.T) map[string]string {
	t.Helper()
	dir, nobody := t.TempDir(), t.TempDir()
	for _, name := range []string{"docker", "skopeo"} {
		must(t, os.WriteFile(filepath.Join(nobody, name), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	}
	script, err := filepath.Abs("../../deploy/compose-env")
	must(t, err)
	cmd := exec.Command(script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+nobody+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".env"))
	must(t, err)
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	return env
}

// TestCompose goes the steps of the compose file's first lines, from nothing to the first routed request and its receipt.
func TestCompose(t *testing.T) {
	e := newEngine(t)
	env := dotenv(t)
	e.build()
	e.load(env)
	e.program("", "podman", "network", "create", e.prefix)
	e.start("api", "xds-1", "xds-2")
	e.once("", "operator-token")
	e.once("", "cli", "tenant", "create", "demo")
	env["FAIRLEAD_OWNER_TOKEN"] = e.once("", "cli", "token", "create", "first", "--tenant", "demo", "--role", "owner")
	e.load(env)
	e.once("", "owner", "fleet", "create", "demo")
	env["FAIRLEAD_NODE_TOKEN"] = e.once("", "owner", "credential", "create", "envoy-1")
	e.load(env)
	demo, err := os.ReadFile("../../deploy/demo.yaml")
	must(t, err)
	e.once(string(demo), "owner", "apply", "-f", "-")
	e.start("envoy")
	e.once("", "owner", "receipt", "latest", "--wait")
	resp, err := http.Get("http://" + e.port("envoy", 10000) + "/") //nolint:noctx // the test's own time
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || string(body) != "hello from the backend\n" {
		t.Errorf("the first request: %s %q", resp.Status, body)
	}
	var receipt struct{ State string }
	must(t, json.Unmarshal([]byte(e.once("", "owner", "receipt", "latest", "--json")), &receipt))
	t.Logf("the receipt: %+v", receipt)

	t.Run("the files of each", e.files)
	t.Run("nothing in the clear", e.nothingInTheClear)
	t.Run("new certificates without a restart", e.newCertificates)
}

// files: who runs the API cannot read the private key, though it were mounted, and no service has what is another's.
func (e *engine) files(t *testing.T) {
	for _, c := range []struct{ volume, user, file string }{
		{"xds", "65532", "seal.key"}, {"operator", "65532", "operator.token"}, {"xds", "65532", "tls.key"}, {"api", "65533", "version.key"},
		{"authority", "65532", "ca.key"}, {"operator", "65533", "operator.token"}, {"postgres", "65532", "tls.key"}, {"api", "65530", "tls.key"},
	} {
		read := func(user string) error {
			_, _, err := e.try("", "podman", "run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--network", "none", "--cap-drop", "ALL", "--user", user, "--volume", e.prefix+"-"+c.volume+":/keys:ro",
				images[1], "cat", "/keys/"+c.file)
			return err
		}
		if read(c.user) == nil {
			t.Errorf("the user %s reads %s of %s", c.user, c.file, c.volume)
		}
	}
	out, errs, err := e.try("", "podman", "run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--network", "none", "--volume", e.prefix+"-api:/keys:ro", images[1], "ls", "/keys")
	if got := strings.Join(strings.Fields(out), " "); err != nil || got != "ca.crt seal.pub tls.crt tls.key version.key" {
		t.Errorf("the API's container has %s (%v %s)", got, err, errs)
	}
}

// nothingInTheClear: neither Postgres, nor the API, nor an xDS server answers without TLS.
func (e *engine) nothingInTheClear(t *testing.T) {
	psql := func(mode string) (string, error) {
		s := e.project.Services["postgres"]
		out, errs, err := e.try("", "podman", "run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--network", e.prefix, "--env", "PGPASSWORD="+*s.Environment["FAIRLEAD_APP_PASSWORD"], images[1],
			"psql", "host=postgres dbname=fairlead user=fairlead_app sslmode="+mode, "-Atc", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
		return strings.TrimSpace(out + errs), err
	}
	if out, err := psql("require"); err != nil || out != "t" {
		t.Errorf("Postgres with TLS: %s %v", out, err)
	}
	if out, err := psql("disable"); err == nil || !strings.Contains(out, "no encryption") {
		t.Errorf("Postgres without TLS: %s %v", out, err)
	}
	resp, err := http.Get("http://" + e.port("api", 8443) + "/healthz") //nolint:noctx // as above
	if err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("the API answers without TLS")
		}
	}
}

// newCertificates: what `make compose-certs` signs is used by the next handshake, and its authority is the old one.
func (e *engine) newCertificates(t *testing.T) {
	ca, errs, err := e.try("", "podman", "run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--network", "none", "--volume", e.prefix+"-api:/keys:ro", images[1], "cat", "/keys/ca.crt")
	if err != nil {
		t.Fatal(errs, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(ca))
	serial := func() string {
		t.Helper()
		d := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}}
		c, err := d.DialContext(t.Context(), "tcp", e.port("api", 8443))
		must(t, err)
		defer c.Close()                                                                  //nolint:errcheck // only its certificate is looked at
		return c.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String() //nolint:forcetypeassert // a tls.Dialer's
	}
	before := serial()
	e.once("", "certs")
	for until := time.Now().Add(time.Minute); serial() == before; {
		if time.Now().After(until) {
			t.Fatal("the API goes on with its old certificate")
		}
	}
	e.program("", "podman", "exec", "--user", "postgres", e.container("postgres"), "pg_ctl", "reload")
	e.once("", "owner", "nodes")
}
