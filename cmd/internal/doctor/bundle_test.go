package doctor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/bootstrap"
)

// unpacked are the files of a bundle.
func unpacked(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(h.Name, "fairlead-support/")
		if !inside || h.Mode != 0o600 {
			t.Errorf("%+v", h)
		}
		files[name] = string(text)
	}
}

// TestNoSecretIsInABundle, wherever one stands in the installation: each has a canary in it.
func TestNoSecretIsInABundle(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at, u := w.xds(nil, false), w.api(nil)
	_, token := w.nodeToken("edge", "edge-*", 0)
	owner := w.apiToken(0)
	root := w.authority()
	der, err := x509.MarshalPKCS8PrivateKey(root.key)
	w.must(err)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		w.must(err)
		return string(raw)
	}
	w.put(u, owner, "secrets", "tls", `{"body": {"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": `+quoted(string(root.pem))+`}, "private_key": {"inline_string": `+quoted(key)+`}}}}`)
	w.put(u, owner, "secrets", "word", `{"body": {"name": "word", "generic_secret": {"secret": {"inline_string": "canary-in-a-secret"}}}}`)
	w.send(http.MethodPatch, u, owner, "", `{"values": {"password": "canary-of-a-placeholder"}}`)
	w.put(u, owner, "clusters", "backend", strings.Replace(cluster, `"connect_timeout"`, `"alt_stat_name": "${fleet.values.password}", "connect_timeout"`, 1))
	w.send(http.MethodPatch, u, owner, "", `{"values": {"password": "canary-of-another"}}`)
	p := w.connect(at, token, "1.40.0")
	p.answer("no such thing: postgres://me:canary-in-words@db/x, " + token + ", Bearer canary-in-a-header-of-a-refusal, canary-of-another, " + key)
	metrics := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "fairlead_streams 1\n# postgres://me:canary-of-metrics@db/x\n")
	}))
	defer metrics.Close()

	c := w.envoy(at, token, func(c *bootstrap.Config) { c.Metadata = map[string]any{"note": "canary-of-metadata"} })
	c.Database = "postgres://fairlead_app:canary-database-password@" + w.closed() + "/x"
	c.ListenDatabase = strings.Replace(c.Database, "canary-", "canary-listen-", 1)
	c.ReadDatabase = strings.Replace(c.Database, "canary-", "canary-read-", 1)
	c.API = w.at(u, owner).API
	w.env["HTTPS_PROXY"] = "http://me:canary-of-a-proxy@proxy.example.com"
	w.until(c, "api.refusals", Failed)
	var out bytes.Buffer
	has, err := Bundle(t.Context(), &out, BundleConfig{Config: c, Versions: map[string]string{"fairlead": "v1"}, Metrics: []string{metrics.URL, "http://me:canary-of-a-url@" + w.closed(), "http://" + w.closed()}})
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, out.Bytes())
	body := strings.Split(key, "\n")[1]
	for name, text := range files {
		for _, secret := range []string{"canary", token[10:], owner[10:], body, "PRIVATE KEY"} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %q: ...%s...", name, secret, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
	// And what it is made for is in it.
	for name, says := range map[string]string{
		"doctor.json": `"database.reach"`, "versions.json": `"v1"`, "whoami.json": `"owner"`, "fleet.json": `"password": "[removed]"`, "nodes.json": `"edge-1"`, "nodes/1.json": "no such thing",
		"findings.json": `"value_changed"`, "receipt.json": `"nacked": 1`, "revisions.json": `"revision"`, "events.json": "no such thing", "credentials.json": `"edge-*"`, "usage.json": "{", "metrics-1.txt": "fairlead_streams 1", "manifest.json": "servers.json",
	} {
		if !strings.Contains(files[name], says) {
			t.Errorf("%s says no %s: %s", name, says, files[name])
		}
	}
	var left []string
	for _, l := range has.LeftOut {
		left = append(left, l.File)
		if strings.Contains(l.Why, "canary") {
			t.Errorf("%+v", l)
		}
	}
	if !slices.Equal(left, []string{"servers.json", "metrics-2.txt", "metrics-3.txt"}) || len(has.Files) != len(files) {
		t.Errorf("%+v, %d files", has, len(files))
	}
}

// TestABundleIsMadeWhereNothingAnswers.
func TestABundleIsMadeWhereNothingAnswers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var out bytes.Buffer
	has, err := Bundle(t.Context(), &out, BundleConfig{Config: w.at(&url.URL{Scheme: "http", Host: w.closed()}, anAPIToken)})
	if err != nil || !slices.Equal(has.Files, []string{"versions.json", "doctor.json", "manifest.json"}) || len(has.LeftOut) != 3 {
		t.Errorf("%+v, %v", has, err)
	}
	if doctor := unpacked(t, out.Bytes())["doctor.json"]; !strings.Contains(doctor, "refuses the connection") || strings.Contains(doctor, anAPIToken) {
		t.Error(doctor)
	}
}

// TestABundleQuotesNobodyWhereValuesAreUnknown: neither where the fleet cannot be read, nor where no API is given.
func TestABundleQuotesNobodyWhereValuesAreUnknown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at, u := w.xds(nil, false), w.api(nil)
	_, token := w.nodeToken("edge", "edge-*", 0)
	owner := w.apiToken(0)
	w.send(http.MethodPatch, u, owner, "", `{"values": {"password": "canary-of-a-placeholder"}}`)
	w.put(u, owner, "clusters", "backend", strings.Replace(cluster, `"connect_timeout"`, `"alt_stat_name": "${fleet.values.password}", "connect_timeout"`, 1))
	p := w.connect(at, token, "1.40.0")
	p.answer("no such thing: canary-of-a-placeholder")
	c := w.envoy(at, token)
	c.API = w.at(u, owner).API
	w.until(c, "api.refusals", Failed)
	broken := c
	broken.API = w.at(w.before(u, func(path string, body []byte) []byte {
		if strings.HasSuffix(path, "/fleets/edge") {
			return []byte("{")
		}
		return body
	}), owner).API
	alone := c
	alone.API = nil
	for name, conf := range map[string]Config{"broken": broken, "alone": alone} {
		var out bytes.Buffer
		if _, err := Bundle(t.Context(), &out, BundleConfig{Config: conf}); err != nil {
			t.Fatal(err)
		}
		files := unpacked(t, out.Bytes())
		for file, text := range files {
			if strings.Contains(text, "canary") {
				t.Errorf("%s: %s has a value of the fleet: %s", name, file, text)
			}
		}
		if !strings.Contains(files["doctor.json"], `"node.stream"`) {
			t.Errorf("%s: %s", name, files["doctor.json"])
		}
	}
}
