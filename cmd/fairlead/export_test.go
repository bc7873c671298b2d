package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oneOfAll holds each type, a variant, labels, odd names and a secret.
const oneOfAll = `resources:
- {type: clusters, name: a, labels: {team: shop}, description: "the \"shop\"", body: {name: a, connect_timeout: 1s, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}
- {type: clusters, name: a, variant: eu, selector: "locality.region=eu", priority: 3, body: {name: a, connect_timeout: 2s}}
- {type: clusters, name: A, body: {name: A}}
- {type: clusters, name: "../x y/ü%@:", body: {name: "../x y/ü%@:"}}
- {type: clusters, name: "a@eu", body: {name: "a@eu"}}
- {type: endpoints, name: a, body: {cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}}
- {type: secrets, name: password, labels: {team: shop}, body: {name: password, generic_secret: {secret: {inline_string: a-secret-that-is-sealed}}}}
- {type: listeners, name: l, body: {name: l, address: {socket_address: {address: 0.0.0.0, port_value: 8080}}}}
- {type: routes, name: r, body: {name: r, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, direct_response: {status: 200, body: {inline_string: "yes\nno \nmaybe\n"}}}]}]}}
- {type: runtimes, name: rt, body: {name: rt, layer: {a.b: 12345678901, "on": "off"}}}
- {type: virtual-hosts, name: r/w, body: {name: r/w, domains: [w.example]}}
- {type: extensions, name: e, body: {name: e, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}
`

func TestExportIsTakenBackWithoutADifference(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", oneOfAll, "apply", "-f", "-").is(t, exitOK)
	text := w.on("edge", "", "export").is(t, exitOK)
	if strings.Contains(text, "a-secret-that-is-sealed") || !strings.Contains(text, "keep: true") {
		t.Errorf("the export is\n%s", text)
	}
	unchanged := "nothing changed; revision 1 is current\n"
	w.on("edge", text, "apply", "-f", "-").want(t, exitOK, unchanged, "")
	js := w.on("edge", "", "export", "--json").is(t, exitOK)
	w.on("edge", js, "apply", "-f", "-").want(t, exitOK, unchanged, "")
	dir := filepath.Join(w.dir, "edge")
	w.on("edge", "", "export", dir).want(t, exitOK, "12 resources of revision 1 written to DIR/edge\n", "")
	w.on("edge", "", "apply", "-R", "-f", dir).want(t, exitOK, unchanged, "")
	w.on("edge", "", "diff", "-R", "-f", dir).want(t, exitOK, "12 unchanged, on revision 1\n", "")
	w.on("edge", "", "export", dir).want(t, exitUsage, "", "fairlead: the folder DIR/edge is not empty: with --replace what it holds of the fleet is replaced\n")

	// what get prints of all types is taken back too
	for _, kind := range []string{"clusters", "secrets"} {
		w.on("edge", w.on("edge", "", "get", kind).is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, "")
	}

	w.on("edge", "delete: [{type: clusters, name: A}]\n", "apply", "-f", "-").is(t, exitOK)
	w.file("edge/README.md", "mine")
	before := tree(t, dir)
	w.on("edge", "", "export", dir, "--replace").want(t, exitOK, "11 resources of revision 2 written to DIR/edge; 1 file removed\n", "")
	if after := tree(t, dir); len(before)-len(after) != 1 || after["README.md"] != "mine" {
		t.Error(cmp.Diff(before, after))
	}
	w.on("edge", "", "apply", "-R", "-f", dir).want(t, exitOK, "nothing changed; revision 2 is current\n", "")
}

// TestExportOfAThousandIsTakenBack: of resources that refer to each other, listener, route, cluster and endpoints.
func TestExportOfAThousandIsTakenBack(t *testing.T) {
	t.Parallel()
	w := live(t)
	var b strings.Builder
	b.WriteString("resources:\n")
	for i := range 250 {
		fmt.Fprintf(&b, chain, i)
	}
	w.on("edge", b.String(), "apply", "-f", "-").want(t, exitOK, "revision 1: 1000 resources changed\n", "")
	text := w.on("edge", "", "export").is(t, exitOK)
	if n := strings.Count(text, "\n---\n") + 1; n != 1000 {
		t.Errorf("%d documents", n)
	}
	w.on("edge", text, "apply", "-f", "-").want(t, exitOK, "nothing changed; revision 1 is current\n", "")
	w.on("edge", strings.Replace(text, "7s", "8s", 1), "apply", "-f", "-").want(t, exitOK, "revision 2: 1 resource changed\n", "")
}

// chain is four resources, of which each names the next.
const chain = `- {type: listeners, name: l%[1]d, body: {name: l%[1]d, address: {socket_address: {address: 0.0.0.0, port_value: 80}}, filter_chains: [{filters: [{name: h, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: h, rds: {route_config_name: r%[1]d, config_source: {ads: {}, resource_api_version: V3}}}}]}]}}
- {type: routes, name: r%[1]d, body: {name: r%[1]d, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: c%[1]d}}]}]}}
- {type: clusters, name: c%[1]d, body: {name: c%[1]d, type: EDS, connect_timeout: 7s, eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}}}
- {type: endpoints, name: c%[1]d, body: {cluster_name: c%[1]d, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}}
`

// tree is the files of a folder with what they hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKeepIsTheStoredOne(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", oneOfAll, "apply", "-f", "-").is(t, exitOK)
	keep := "type: secrets\nname: password\nkeep: true\n"
	w.on("edge", keep, "apply", "-f", "-").want(t, exitOK, "nothing changed; revision 1 is current\n", "")
	// of a fleet that has none it is an error, and nothing is written
	r := w.on("prod", "type: clusters\nname: a\nbody: {name: a}\n---\n"+keep, "apply", "-f", "-")
	r.is(t, exitFailed)
	if want := "standard input:7: /keep: keep stands for a resource that is stored, and this fleet has no secrets/password: write it once with its body"; !strings.Contains(r.err, want) {
		t.Errorf("%s\nwant %s", r.err, want)
	}
	w.on("prod", "", "get", "clusters").want(t, exitOK, "", "")
	for _, c := range []struct{ more, want string }{
		{"labels: {team: other}\n", "standard input:4: /labels: keep leaves the resource as it is stored, where this is another one"},
		{"body: {}\n", "standard input:4: /body: a body writes the resource, keep leaves it as it is stored"},
		{"unknown: 1\n", "a document has no such field"},
	} {
		r := w.on("edge", keep+c.more, "apply", "-f", "-")
		if r.code != exitFailed || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: %d %s\nwant %s", c.more, r.code, r.err, c.want)
		}
	}
	w.on("edge", strings.Replace(keep, "true", "false", 1), "apply", "-f", "-").is(t, exitFailed)
	w.on("edge", keep+"labels: {team: shop}\nsecret: {kind: generic_secret}\n", "apply", "-f", "-").want(t, exitOK, "nothing changed; revision 1 is current\n", "")
}

// TestExportGolden: the form of what is printed, without a server.
func TestExportGolden(t *testing.T) {
	t.Parallel()
	w := setup(t)
	fleet := `{"id": "x", "name": "edge", "revision": %d}`
	at := func(n string) reply { return ok(strings.Replace(fleet, "%d", n, 1)) }
	w.on("GET", "", at("6"), at("7"), at("7"), at("7"))
	list := ok(`{"items": [{"etag": "x", "type": "clusters", "name": "a", "body": {"name": "a"}, "version": "v", "revision": 7, "created_at": "x", "updated_at": "x"},
		{"type": "secrets", "name": "s", "secret": {"kind": "generic_secret"}, "revision": 7},
		{"type": "listeners", "name": "l", "labels": {"a": "b"}, "body": {"name": "l", "stat_prefix": "[redacted]"}}]}`)
	w.on("GET", "/resources", list)
	w.run("export").want(t, exitOK, "type: clusters\nname: a\nbody:\n  name: a\n---\ntype: secrets\nname: s\nkeep: true\n---\ntype: listeners\nname: l\nlabels:\n  a: b\nkeep: true\n", "")
	if n := strings.Count(strings.Join(w.requests(), "\n"), "GET /resources"); n != 2 {
		t.Errorf("the list was read %d times, want 2: the fleet was written meanwhile", n)
	}
	w.run("export", "--json").want(t, exitOK, indented(t, `{"resources": [{"type": "clusters", "name": "a", "body": {"name": "a"}},
		{"type": "secrets", "name": "s", "keep": true}, {"type": "listeners", "name": "l", "labels": {"a": "b"}, "keep": true}]}`), "")
	w.run("export", w.dir+"/x", "--json").want(t, exitUsage, indented(t, `{"error": {"detail": "--json prints: leave the folder out"}}`), "fairlead: --json prints: leave the folder out\n")
	w.on("GET", "/resources", problemReply(403, "forbidden", "no"))
	w.run("export", w.dir+"/x").want(t, exitFailed, "", "fairlead: Forbidden: no\nrequest id req-1\n")
	w.on("GET", "/resources", ok(`{"items": [{"type": "meshes", "name": "m", "body": {}}]}`))
	w.run("export").want(t, exitFailed, "", "fairlead: the API has resources of the type \"meshes\", which this fairlead does not know: take a newer one\n")
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range []struct{ name, variant, want string }{
		{"a", "", "a.yaml"}, {"a", "eu", "a@eu.yaml"}, {"a@eu", "", "a@eu-"}, {"A", "", "A-"}, {"a/b", "", "a_b-"}, {"..", "", "_.-"}, {"-x", "", "_x-"},
		{strings.Repeat("n", 500), "", strings.Repeat("n", maxFileName) + "-"}, {"ü", "", "_-"}, {"grpc/server?xds=0.0.0.0:50051", "", "grpc_server_xds_0.0.0.0_50051-"},
	} {
		got := fileName(c.name, c.variant)
		if !strings.HasPrefix(got, strings.TrimSuffix(c.want, ".yaml")) || len(got) > 255 || seen[got] != "" {
			t.Errorf("%q, %q: %s, want %s", c.name, c.variant, got, c.want)
		}
		seen[got] = c.name
	}
}

// TestEachResourceHasAFileOfItsOwn: also one that is called as another one's file is, and where all but the hashes is equal.
func TestEachResourceHasAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, docs := t.TempDir(), []exportedDocument{}
	for _, name := range []string{"ü", strings.TrimSuffix(fileName("ü", ""), ".yaml"), "b", "B"} {
		docs = append(docs, exportedDocument{kind: "clusters", name: name, yaml: []byte(name)})
	}
	for range 2 { // again it removes none
		removed, err := writeFolder(dir, docs)
		if err != nil || removed != 0 {
			t.Fatalf("%d removed: %v", removed, err)
		}
		held := map[string]bool{}
		files, err := filepath.Glob(filepath.Join(dir, "clusters", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			held[string(text)] = true
		}
		if len(held) != len(docs) || len(files) != len(docs) {
			t.Errorf("%d resources are in %d files, which hold %v", len(docs), len(files), held)
		}
	}
}
