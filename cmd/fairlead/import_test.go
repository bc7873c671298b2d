package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const smallBootstrap = `node: {id: edge-1}
static_resources:
  clusters:
  - {name: a, connect_timeout: 1s}
  - {name: b, no_such_field: 1}
`

func TestImport(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := "type: clusters\nname: a\nbody:\n  name: a\n  connect_timeout: \"1s\"\n"
	left := "left out: clusters/b: line 5: /static_resources/clusters/1/no_such_field: Cluster has no such field\nnote: node: it is the proxy's own: \"fairlead bootstrap\" takes it by --node-id and the like\n"
	w.bare("", "import", w.file("envoy.yaml", smallBootstrap)).want(t, exitDiffers, a, left)
	w.bare(smallBootstrap, "import", "-", w.dir+"/out").want(t, exitDiffers, "1 resource written to DIR/out\n", left)
	if diff := cmp.Diff(map[string]string{"clusters/a.yaml": a}, tree(t, w.dir+"/out")); diff != "" {
		t.Error(diff)
	}
	w.bare(smallBootstrap, "import", "-", "--json").want(t, exitDiffers, indented(t, `{"resources": [{"type": "clusters", "name": "a", "body": {"name": "a", "connect_timeout": "1s"}}],
		"left_out": [{"what": "clusters/b", "reason": "line 5: /static_resources/clusters/1/no_such_field: Cluster has no such field"}],
		"notes": [{"what": "node", "reason": "it is the proxy's own: \"fairlead bootstrap\" takes it by --node-id and the like"}]}`), "")
	w.bare("static_resources: {clusters: [{name: a, connect_timeout: 1s}]}", "import", "-").want(t, exitOK, a, "")
	w.bare("# a template left nothing here\n---\n---\nstatic_resources: {clusters: [{name: a, connect_timeout: 1s}]}\n---\n", "import", "-").want(t, exitOK, a, "")
	for _, c := range []struct{ in, err string }{
		{"a: 1\na: 2\n", "standard input:2: /a: the key stands twice in one object"},
		{"a: 1\n", "standard input: this is neither an Envoy bootstrap (static_resources) nor a /config_dump (configs), nor resources as an Envoy reads them from a file (resources)"},
		{"admin: {}\nstatic_resources: {}\nstaticResources: {clusters: []}\n", "standard input:3: /staticResources: this is the same field as static_resources: write it once"},
		{smallBootstrap + "---\nstatic_resources: {clusters: [{name: z}]}\n", "standard input:6: a second YAML document begins here (---), and one is read: give each by itself, or put all resources into one list"},
		{"resources: []\n---\n# of the listeners\nresources: []\n", "standard input:2: a second YAML document begins here (---), and one is read: give each by itself, or put all resources into one list"},
		{"static_resources: {}\nx: *y\n", "standard input:1: an alias (*name) has no anchor (&name) before it: a text that begins with * needs quotes"},
	} {
		w.bare(c.in, "import", "-").want(t, exitTrouble, "", "fairlead: "+c.err+"\n")
	}
	w.bare("", "import", w.dir+"/none").want(t, exitTrouble, "", "fairlead: open DIR/none: no such file or directory\n")
	w.bare(smallBootstrap, "import", "-", w.dir+"/out").want(t, exitUsage, "", "fairlead: the folder DIR/out is not empty: with --replace what it holds of the fleet is replaced\n")
	if len(w.sent) > 0 {
		t.Error("a server was asked")
	}
}

// TestImportLeavesPartsOut: no file is written of what was a part of a listener or a cluster that is left out.
func TestImportLeavesPartsOut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const in = `static_resources:
  listeners:
  - name: l
    no_such_field: 1
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: l
          route_config: {name: r}
  clusters:
  - {name: a, connect_timeout: 1s}
  - {name: b, no_such_field: 1, load_assignment: {cluster_name: b}}
`
	const left = `left out: clusters/b: line 14: /static_resources/clusters/1/no_such_field: Cluster has no such field
left out: endpoints/b: line 14: /static_resources/clusters/1/load_assignment: it is a part of clusters/b, which is left out
left out: listeners/l: line 4: /static_resources/listeners/0/no_such_field: Listener has no such field
left out: routes/r: line 11: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config: it is a part of listeners/l, which is left out
`
	w.bare(in, "import", "-", w.dir+"/out", "--rds", "--eds").want(t, exitDiffers, "1 resource written to DIR/out\n", left)
	if files := tree(t, w.dir+"/out"); len(files) != 1 || files["clusters/a.yaml"] == "" {
		t.Error(files)
	}
}

// TestImportedIsApplied: what was imported the API takes, and an export is equal to it, but
// for the secret.
func TestImportedIsApplied(t *testing.T) {
	t.Parallel()
	w := live(t)
	in, err := os.ReadFile(filepath.Join("..", "..", "internal", "envoyconfig", "testdata", "bootstrap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.bare(string(in), "import", "-", w.dir+"/in", "--rds", "--eds").is(t, exitDiffers)
	w.on("edge", "", "apply", "-R", "-f", w.dir+"/in").is(t, exitOK)
	w.on("edge", "", "export", w.dir+"/out").is(t, exitOK)
	imported, exported := tree(t, w.dir+"/in"), tree(t, w.dir+"/out")
	secret := "secrets/web_cert.yaml"
	if !strings.Contains(imported[secret], "/etc/tls/web.key") || exported[secret] != "type: secrets\nname: web_cert\nkeep: true\n" {
		t.Errorf("the secret: %q, exported %q", imported[secret], exported[secret])
	}
	delete(imported, secret)
	delete(exported, secret)
	if diff := cmp.Diff(imported, exported); diff != "" || len(exported) < 7 {
		t.Errorf("%d files: %s", len(exported), diff)
	}
	if info, err := os.Stat(filepath.Join(w.dir, "in", secret)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the secret: %v, %v", info.Mode(), err)
	}
}

// TestFilesOfAnEnvoyAreTaken: what an Envoy reads from a file, or is answered, is imported, and applied as it is.
func TestFilesOfAnEnvoyAreTaken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const cluster = `{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "type": "static", "connectTimeout": {"seconds": 2}}`
	documents := "type: clusters\nname: a\nbody:\n  name: a\n  type: STATIC\n  connect_timeout: \"2s\"\n"
	for name, in := range map[string]string{
		"cds.yaml":      "\ufeffversion_info: \"0\"\nresources:\n  '@type': own.example/envoy.config.cluster.v3.Cluster\n  name: a\n  type: static\n  connect_timeout: 02s\n",
		"answer.json":   "\ufeff" + `{"versionInfo": "1", "resources": [` + cluster + `], "typeUrl": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "nonce": "1", "canary": true, "controlPlane": {"identifier": "x"}}`,
		"resource.json": `{"resources": [{"@type": "type.googleapis.com/envoy.service.discovery.v3.Resource", "name": "a", "resource": ` + cluster + `}]}`,
	} {
		file := w.file(name, in)
		w.bare("", "import", file).want(t, exitOK, documents, "")
		w.bare("", "validate", "-f", file).want(t, exitOK, "the API would take 1 document\n", "")
	}
	bad := w.file("bad.yaml", "resources:\n- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: a\n  hosts: []\nnonce: x\n")
	const say = "Envoy's API has this field no more: write load_assignment, with an endpoint for each host\n"
	w.bare("", "import", bad).want(t, exitDiffers, "", "left out: clusters/a: line 4: /resources/0/hosts: "+say)
	w.bare("", "validate", "-f", bad).want(t, exitFailed, "", "fairlead: DIR/bad.yaml:4: /resources/0/hosts: "+say)
	aliased := w.file("aliased.yaml", "!ignore shared: &two {seconds: 2}\nresources:\n- {type: clusters, name: a, body: {name: a, connect_timeout: *two}}\n")
	w.bare("", "validate", "-f", aliased).want(t, exitOK, "the API would take 1 document\n", "")
	w.bare("", "import", aliased).want(t, exitDiffers, "", "left out: resources/0: line 3: /resources/0: this is a document of Fairlead: \"fairlead apply\" takes it as it is\n")
	named := w.file("named.yaml", "type: clusters\nname: n\nbody: {name: n}\n")
	w.bare("", "validate", "-f", named).want(t, exitFailed, "", "fairlead: DIR/named.yaml:2: /name: this must be a text, not a boolean: in YAML y, n, yes, no, on and off are true and false, and a text in quotes\n")
}
