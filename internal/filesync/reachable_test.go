package filesync

import (
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// TestReachable: one server that answers is enough, and nothing that it sends is confirmed. Else the last one's reason is told.
func TestReachable(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system takes its connections, and nobody reads them
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	const nobody = "127.0.0.1:1"
	for name, c := range map[string]struct {
		servers func(living string) []string
		token   string
		within  time.Duration
		share   time.Duration // of each server; 0: what is left of within
		gone    bool          // who asks, when the second server is asked
		says    string        // "": it answers
	}{
		"it answers":         {func(living string) []string { return []string{living} }, "*", time.Minute, 0, false, ""},
		"the second answers": {func(living string) []string { return []string{nobody, living} }, "*", time.Minute, 0, false, ""},
		"after a silent one": {func(living string) []string { return []string{silent.Addr().String(), living} }, "*", time.Minute, 2 * time.Second, false, ""},
		"nobody is there":    {func(string) []string { return []string{nobody} }, "*", time.Minute, 0, true, nobody + " cannot be reached"},
		"it is silent":       {func(string) []string { return []string{silent.Addr().String()} }, "*", 300 * time.Millisecond, 0, false, silent.Addr().String() + ": no answer within"},
		"a bad token":        {func(living string) []string { return []string{living} }, "bad", time.Hour, 0, false, " has ended the stream"},
		"another node":       {func(living string) []string { return []string{living} }, "other-*", time.Hour, 0, false, " has ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Publish(all(t)...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			config := Config{
				Servers: c.servers(w.address), Token: func() (string, error) { return c.token, nil },
				Node: &core.Node{Id: "n1"}, Version: "1.0", Within: c.within,
			}
			if c.gone {
				second, err := net.Listen("tcp", "127.0.0.1:0")
				must(t, err)
				var accepting sync.WaitGroup
				accepting.Go(func() {
					if conn, err := second.Accept(); err == nil {
						cancel()
						_ = conn.Close()
					}
				})
				t.Cleanup(func() { _ = second.Close(); accepting.Wait() })
				config.Servers = append(config.Servers, second.Addr().String())
			}
			err := config.reachable(ctx, cmp.Or(c.share, config.share()))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if c.says == "" && w.streams(AgentBootstrap+" 1.0") == 0 {
				t.Error("no stream says that it is the bootstrap's")
			}
			if got := w.confirmed(); got != 0 {
				t.Errorf("the node has confirmed revision %d", got)
			}
		})
	}
}

// TestEachServerHasItsShare of the time, and no less than an attempt takes.
func TestEachServerHasItsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers      int
		within, want time.Duration
	}{{1, 300 * time.Millisecond, 300 * time.Millisecond}, {1, time.Minute, time.Minute}, {2, 4 * time.Second, 2 * time.Second}, {5, 4 * time.Second, time.Second}} {
		if got := (Config{Servers: make([]string, c.servers), Within: c.within}).share(); got != c.want {
			t.Errorf("each of %d servers is asked for %s of %s, want %s", c.servers, got, c.within, c.want)
		}
	}
}

func TestStartable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cds.json", "lds.json"} {
		if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), "fairlead sync") {
			t.Errorf("without %s: %v", name, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(`{"resources": []}`), 0o600))
	}
	must(t, Startable(dir))
	for _, text := range []string{"", " ", `{"resources": [{"name": "a"`, "[]", "null", `{} {}`} { // as where a copy of the folder was cut off
		must(t, os.WriteFile(filepath.Join(dir, "cds.json"), []byte(text), 0o600))
		if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "cds.json")) || !strings.Contains(err.Error(), "fairlead sync") {
			t.Errorf("with %q: %v", text, err)
		}
	}
}

// TestStartableWithWhatIsNamed: the files that clusters and listeners name, and those that these name in turn, have to be there and whole.
func TestStartableWithWhatIsNamed(t *testing.T) {
	t.Parallel()
	source := func(path string) string { return `"path_config_source": {"path": "` + path + `"}` }
	const torn, empty = `{"resources": [{"name": "a"`, `{"resources": []}`
	for name, c := range map[string]struct {
		file, text string // "": it is not there
		says       string // beside the file
	}{
		"all is there":                    {},
		"a number above all":              {"XDS/eds/a.json", `{"resources": [1e999]}`, ""},
		"endpoints are missing":           {"XDS/eds/a.json", "", "XDS/cds.json fairlead sync"},
		"endpoints are cut off":           {"XDS/eds/a.json", torn, "XDS/cds.json fairlead sync"},
		"routes are missing":              {"XDS/rds/r.json", "", "XDS/lds.json fairlead sync"},
		"routes are empty":                {"XDS/rds/r.json", " ", "XDS/lds.json fairlead sync"},
		"a secret is missing":             {"XDS/sds/s.json", "", "XDS/lds.json fairlead sync"},
		"the proxy's own YAML is missing": {"OWN/scopes.yaml", "", ""},
		"the proxy's own are no JSON":     {"OWN/scopes.yaml", "resources: []", ""},
		"the proxy's own are cut off":     {"OWN/routes.json", torn, "OWN/scopes.json --seen-as"},
		"an extension is missing":         {"XDS/ecds/x.json", "", "XDS/lds.json fairlead sync"},
		"what an extension names is not":  {"XDS/sds/deep.json", "", "XDS/ecds/x.json fairlead sync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := strings.NewReplacer("XDS", filepath.Join(dir, "xds"), "OWN", filepath.Join(dir, "own")).Replace
			files := map[string]string{
				"XDS/cds.json": `{"resources": [{"name": "a", "eds_cluster_config": {"eds_config": {` + source("XDS/eds/a.json") + `}}}, {"name": "b", "eds_cluster_config": {"eds_config": {` + source("in/its/own/folder.json") + `}}}]}`,
				"XDS/lds.json": `{"resources": [{"name": "l", "filter_chains": [{"filters": [{"typed_config": {"rds": {"config_source": {` + source("XDS/rds/r.json") + `}}}},
					{"typed_config": {"scoped_routes": {"scoped_rds": {"scoped_rds_config_source": {` + source("OWN/scopes.yaml") + `}}, "rds_config_source": {` + source("OWN/scopes.json") + `}}}},
					{"config_discovery": {"config_source": {` + source("XDS/ecds/x.json") + `}}}],
					"transport_socket": {"typed_config": {"common_tls_context": {"tls_certificate_sds_secret_configs": [{"name": "s", "sds_config": {` + source("XDS/sds/s.json") + `}}]}}}}]}]}`,
				"XDS/ecds/x.json": `{"resources": [{"name": "x", "typed_config": {"sds_config": {` + source("XDS/sds/deep.json") + `}, "itself": {` + source("XDS/ecds/x.json") + `}}}]}`,
				"OWN/scopes.json": `{"resources": [{"name": "s", "rds": {` + source("OWN/routes.json") + `}}]}`,
				"XDS/eds/a.json":  empty, "XDS/rds/r.json": empty, "XDS/sds/s.json": empty, "XDS/sds/deep.json": empty, "OWN/scopes.yaml": "", "OWN/routes.json": empty,
			}
			if c.text == "" {
				delete(files, c.file)
			} else {
				files[c.file] = c.text
			}
			for file, text := range files {
				must(t, os.MkdirAll(filepath.Dir(in(file)), 0o700))
				must(t, os.WriteFile(in(file), []byte(in(text)), 0o600))
			}
			err := Startable(in("XDS"))
			if c.says == "" {
				must(t, err)
				return
			}
			if err == nil {
				t.Fatal("an Envoy is to start from it")
			}
			for _, word := range append(strings.Fields(in(c.says)), in(c.file)) {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v says nothing of %s", err, word)
				}
			}
		})
	}
}

// TestStartableBesideASync: a file that is removed because nothing names it any more, after what named it was read, is not missing.
func TestStartableBesideASync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, endpoints string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(`{"resources": [{"eds_config": {"path_config_source": {"path": "`+filepath.Join(dir, endpoints)+`"}}}]}`), 0o600))
	}
	write("cds.json", "a.json")
	write("lds.json", "b.json")
	must(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte("{}"), 0o600))
	reads := 0
	must(t, startable(dir, func(file string) ([]byte, error) {
		if reads++; filepath.Base(file) == "a.json" {
			write("cds.json", "b.json")
		}
		return readRegular(file)
	}))
	if reads != 6 {
		t.Errorf("%d files were read", reads)
	}
}

// TestStartableReadsFilesAlone: it waits for nobody who writes to a pipe.
func TestStartableReadsFilesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "cds.json"), 0o600))
	if err := Startable(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "cds.json")) {
		t.Error(err)
	}
}
