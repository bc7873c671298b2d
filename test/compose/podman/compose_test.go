package podman

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
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
	script, err := filepath.Abs("../../../deploy/compose-env")
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

// TestCompose goes the steps of the compose file's first lines, from nothing to the first routed request and its receipt, with the release before.
// After the upgrade all else is tried with this one.
func TestCompose(t *testing.T) {
	e := newEngine(t)
	env := dotenv(t)
	e.program("", "test/compose/podman/images", append([]string{e.cache}, images...)...)
	e.before()
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
	e.start("envoy")
	for !strings.Contains(e.once("", "owner", "nodes"), "envoy-1") { // it connects by itself
		if t.Context().Err() != nil {
			t.Fatal("the demo Envoy does not connect")
		}
	}
	demo, err := os.ReadFile("../../../deploy/demo.yaml")
	must(t, err)
	if out := e.once(string(demo), "owner", "apply", "-f", "-", "--wait"); !strings.Contains(out, "ACKed by 1/1 nodes") {
		t.Errorf("the apply says %s", out)
	}
	resp, err := http.Get("http://" + e.port("envoy", 10000) + "/") //nolint:noctx // the test's own time
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || string(body) != "hello from the backend\n" {
		t.Errorf("the first request: %s %q", resp.Status, body)
	}
	var receipt struct {
		State  string
		Counts struct{ Acked int }
	}
	must(t, json.Unmarshal([]byte(e.once("", "owner", "receipt", "latest", "--json")), &receipt))
	if receipt.State != "delivered" || receipt.Counts.Acked != 1 {
		t.Errorf("the receipt: %+v", receipt)
	}

	t.Run("an upgrade, and back", e.upgrade)
	t.Run("the files of each", e.files)
	t.Run("nothing in the clear", e.nothingInTheClear)
	t.Run("new certificates without a restart", e.newCertificates)
}

// files: who runs one service reads nothing of another's, though its volume were mounted.
func (e *engine) files(t *testing.T) {
	args := []string{"run", "--rm", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000", "--network", "none"}
	volumes := map[string]int{"api": 65532, "xds": 65533, "postgres": 999, "operator": 65531, "owner": 65529, "proxy": 65530, "authority": 0}
	script := "ls /all/api >&2\n"
	for volume, owner := range volumes {
		args = append(args, "--volume", e.prefix+"-"+volume+":/all/"+volume+":ro")
		for _, user := range volumes {
			if user != 0 { // root reads all, and has no network
				script += fmt.Sprintf("setpriv --reuid=%d --regid=%d --clear-groups ls /all/%s >/dev/null 2>&1 && echo %d reads %s of %d\n", user, user, volume, user, volume, owner)
			}
		}
	}
	out, listed, err := e.try("", "podman", append(args, images[1], "bash", "-c", script+"true")...)
	must(t, err)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); f[0] != f[len(f)-1] {
			t.Errorf("the user %s", strings.TrimSpace(line))
		}
	}
	if got := strings.Count(out, "\n"); got != len(volumes)-1 {
		t.Errorf("%d users read their own files, want %d:\n%s", got, len(volumes)-1, out)
	}
	if got := strings.Join(strings.Fields(listed), " "); !strings.Contains(got, "ca.crt seal.pub tls.crt tls.key version.key") || strings.Contains(got, "seal.key") {
		t.Errorf("the API's container has %s", got)
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
