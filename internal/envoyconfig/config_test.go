package envoyconfig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// shown writes a result as text: the documents, then what is not in them.
func shown(t *testing.T, r envoyconfig.Result) string {
	t.Helper()
	var b bytes.Buffer
	for _, d := range r.Documents {
		fmt.Fprintf(&b, "%s/%s\n", d.Type.Slug(), d.Name)
		var body bytes.Buffer
		if err := json.Indent(&body, d.Body, "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", body.Bytes())
	}
	for _, l := range r.Left {
		word := "left out"
		if l.Stays {
			word = "note"
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", word, l.What, l.Why)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (GOLDEN=1 writes it):\n%s", path, diff)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, golden string
		o          envoyconfig.Options
	}{
		{"bootstrap.yaml", "bootstrap.txt", envoyconfig.Options{}},
		{"bootstrap.yaml", "bootstrap-lifted.txt", envoyconfig.Options{RDS: true, EDS: true}},
		{"dump.json", "dump.txt", envoyconfig.Options{RDS: true}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			in, err := os.ReadFile(filepath.Join("testdata", c.in))
			if err != nil {
				t.Fatal(err)
			}
			r, err := envoyconfig.Read(in, c.o)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.golden, shown(t, r))
		})
	}
}

// TestAPrivateKeyBecomesASecret: the API takes none in a listener.
func TestAPrivateKeyBecomesASecret(t *testing.T) {
	t.Parallel()
	in := `{"static_resources": {"listeners": [{"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [], "transport_socket": {"name": "tls",
		"typed_config": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": {"tls_certificates": [
			{"certificate_chain": {"filename": "/c"}, "private_key": {"filename": "/k"}}, {"certificate_chain": {"filename": "/d"}, "private_key": {"inline_string": %q}}]}}}}]}]}}`
	r, err := envoyconfig.Read(fmt.Appendf(nil, in, "a-private-key"), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := shown(t, r)
	if len(r.Documents) != 2 || r.Documents[1].Name != "l-tls" || !strings.Contains(string(r.Documents[1].Body), "a-private-key") {
		t.Fatal(text)
	}
	if l := string(r.Documents[0].Body); strings.Contains(l, "a-private-key") || !strings.Contains(l, `"tls_certificate_sds_secret_configs":[{"name":"l-tls","sds_config":{"ads":{},`) || !strings.Contains(l, `"/k"`) {
		t.Error(text)
	}
	// of a dump the key is not to be had: the listener asks for a secret that is to be written
	r, err = envoyconfig.Read(fmt.Appendf(nil, in, "[redacted]"), envoyconfig.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Documents) != 1 || !strings.Contains(shown(t, r), `left out: secrets/l-tls: a dump does not hold what is secret: write it with "fairlead secret"`) {
		t.Error(shown(t, r))
	}
}

func TestWhatIsNoConfiguration(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "[]", "a: 1", `{"resources": []}`, "{", "\x00", "null"} {
		r, err := envoyconfig.Read([]byte(in), envoyconfig.Options{})
		if err == nil || !errors.Is(err, envoyconfig.ErrForm) && !errors.Is(err, fleet.ErrInvalid) {
			t.Errorf("%q: %+v, %v", in, r, err)
		}
	}
}

// FuzzRead: what is read the API takes, whatever the input.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"bootstrap.yaml", "dump.json"} {
		in, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, true, true)
	}
	f.Add([]byte(`{"static_resources":{"clusters":[{"name":"a"},1,{"name":"a","type":7},{}],"secrets":[{"name":"s","generic_secret":{}}],"listeners":7}}`), false, true)
	compiler := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)})
	f.Fuzz(func(t *testing.T, in []byte, rds, eds bool) {
		r, err := envoyconfig.Read(in, envoyconfig.Options{RDS: rds, EDS: eds})
		if err != nil {
			return
		}
		seen := map[fleet.Ref]bool{}
		for _, d := range r.Documents {
			ref := fleet.Ref{Type: d.Type, Name: d.Name}
			if seen[ref] {
				t.Errorf("%s/%s is there twice", d.Type.Slug(), d.Name)
			}
			seen[ref] = true
			if _, err := compiler.Compile(fleet.Key{}, resource.Document{Type: d.Type, Name: d.Name, Body: d.Body}); err != nil {
				t.Errorf("%s/%s: %v", d.Type.Slug(), d.Name, err)
			}
		}
	})
}
