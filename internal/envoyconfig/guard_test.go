package envoyconfig_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// needsAnAdmin is what of the tree's configurations an editor may not write, by file, rule and resource; with the reason.
var needsAnAdmin = map[string]string{
	"docs/tutorial/envoy.yaml loopback clusters/catalogue":                                besideIt,
	"docs/tutorial/envoy.yaml loopback clusters/checkout":                                 besideIt,
	"docs/tutorial/envoy.yaml loopback clusters/web":                                      besideIt,
	"internal/envoyconfig/testdata/dump.json loopback clusters/shop":                      besideIt,
	"internal/envoyconfig/testdata/dump.json loopback endpoints/eds":                      besideIt,
	"internal/bootstrap/testdata/relay-plaintext-env.yaml loopback clusters/fairlead_xds": "an xDS server on the same machine",

	"internal/envoyconfig/testdata/dump.json config_sources clusters/eds":         "its endpoints come from another control plane",
	"internal/envoyconfig/testdata/bootstrap.yaml files clusters/elsewhere":       "its endpoints come from a file",
	"internal/envoyconfig/testdata/bootstrap.yaml files secrets/web_cert":         "the key is in a file",
	"internal/resource/testdata/listener.yaml files listeners/ingress":            "a log, a key or a body in a file",
	"internal/resource/testdata/listener.yaml machine_identity listeners/ingress": "a Secret of the bootstrap",

	"internal/bootstrap/testdata/relay-plaintext-env.yaml bootstrap_names clusters/fairlead_xds": itself,
	"internal/bootstrap/testdata/relay-plaintext-env.yaml bootstrap_names listeners/relay":       itself,
	"internal/bootstrap/testdata/relay-plaintext-env.yaml environment clusters/fairlead_xds":     itself,
	"internal/bootstrap/testdata/relay-token-file.yaml bootstrap_names clusters/fairlead_xds":    itself,
	"internal/bootstrap/testdata/relay-token-file.yaml bootstrap_names listeners/relay":          itself,
	"internal/bootstrap/testdata/relay-token-file.yaml files clusters/fairlead_xds":              itself,
}

const (
	besideIt = "a backend on the proxy's machine: the fleet's local_ports open its port"
	itself   = "the proxy's own bootstrap, with what it proves who it is with"
)

// TestT22_RealConfigurationsAreData: of all of Envoy's configurations in this tree (examples of the docs, the tutorial, what
// the import is tried with, bootstraps) an editor may write every resource but those that are told here, with the reason.
func TestT22_RealConfigurationsAreData(t *testing.T) {
	t.Parallel()
	c := resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)})
	got, resources, files := map[string]bool{}, 0, 0
	for file, docs := range realDocuments(t) {
		files++
		for _, d := range docs {
			out, err := c.Compile(fleet.Key{}, d)
			if err != nil {
				t.Errorf("%s: %s %s: %v", file, d.Type.Slug(), d.Name, err)
				continue
			}
			resources++
			for _, g := range out.Guarded {
				got[fmt.Sprintf("%s %s %s/%s", file, g.Rule, d.Type.Slug(), d.Name)] = true
			}
		}
	}
	for place := range got {
		if needsAnAdmin[place] == "" {
			t.Errorf("%s: an editor may not write it: is that meant?", place)
		}
	}
	for place := range needsAnAdmin {
		if !got[place] {
			t.Errorf("%s: an editor may write it", place)
		}
	}
	byRule := map[string]int{}
	for place := range got {
		byRule[strings.Fields(place)[1]]++
	}
	t.Logf("%d resources of %d files; by rule %v", resources, files, byRule)
	if resources < 49 || files < 12 {
		t.Errorf("only %d resources of %d files", resources, files)
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// realDocuments reads every file of the tree that is a configuration of Envoy's, and the documents in the pages.
func realDocuments(t *testing.T) map[string][]resource.Document {
	t.Helper()
	out := map[string][]resource.Document{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != "." || e.Name() == "node_modules" || !slices.Contains([]string{".", "docs", "deploy", "internal", "test"}, strings.Split(path, "/")[0])):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		if path == "openapi.yaml" || strings.HasPrefix(path, "docs/soak") || strings.HasSuffix(path, "testdata/guard.yaml") || strings.HasSuffix(path, "testdata/constraints.yaml") {
			return nil // no configurations, or those that are refused
		}
		text, err := fs.ReadFile(root, path)
		switch filepath.Ext(path) {
		case ".md":
			for _, block := range yamlBlock.FindAllSubmatch(text, -1) {
				out[path] = append(out[path], written(strings.NewReplacer("${fleet.values.PORT}", "80", "${fleet.values.BACKEND}", "backend").Replace(string(block[1])))...)
			}
		case ".yaml", ".json":
			if r, err := envoyconfig.Read(text, envoyconfig.Options{}); err == nil {
				for _, d := range r.Documents {
					body, err := json.Marshal(map[string]any{"type": d.Type.Slug(), "name": d.Name, "body": d.Body})
					if err != nil {
						return err
					}
					out[path] = append(out[path], written(string(body))...)
				}
				if strings.HasSuffix(path, "ordinary.yaml") {
					whole(t, r)
				}
			} else {
				out[path] = append(out[path], written(string(text))...)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(out, func(_ string, docs []resource.Document) bool { return len(docs) == 0 })
	return out
}

// whole fails if something of an ordinary configuration was left out: then nobody would look at it here.
func whole(t *testing.T, r envoyconfig.Result) {
	t.Helper()
	if i := slices.IndexFunc(r.Left, func(l envoyconfig.Left) bool { return !l.Stays }); i >= 0 {
		t.Errorf("left out: %+v", r.Left[i])
	}
}

// written are the documents of a text, one or those of an apply; none if it is something else.
func written(text string) (out []resource.Document) {
	j, err := resource.ToJSON(resource.YAML, []byte(text))
	if err != nil {
		return nil
	}
	var apply struct{ Resources []json.RawMessage }
	if err := json.Unmarshal(j, &apply); err != nil || apply.Resources == nil {
		apply.Resources = []json.RawMessage{j}
	}
	for _, one := range apply.Resources {
		if d, err := resource.ParseDocument(one); err == nil && len(d.Body) > 0 {
			out = append(out, d)
		}
	}
	return out
}
