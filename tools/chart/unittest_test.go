package chart

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// TestUnits is "helm unittest --strict": what each value changes, as the chart's folder tests says.
func TestUnits(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "tool", "helm-unittest", "--strict", chartDir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`(?m)^Tests: +[1-9]`).Match(out) {
		t.Errorf("nothing was tried:\n%s", out)
	}
}

// TestEachValueHasAUnit: a value that no unit test sets may be one that no template reads.
func TestEachValueHasAUnit(t *testing.T) {
	t.Parallel()
	set := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(chartDir, "tests", "*_test.yaml"))
	must(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(t, err)
		var suite struct {
			Tests []struct {
				Set  map[string]any `json:"set"`
				Skip any            `json:"skip"`
			} `json:"tests"`
			Skip any `json:"skip"`
		}
		must(t, yaml.Unmarshal(text, &suite))
		if suite.Skip != nil {
			t.Errorf("%s is skipped", f)
		}
		for _, unit := range suite.Tests {
			if unit.Skip != nil {
				t.Errorf("%s has a test that is skipped", f)
			}
			for path, value := range unit.Set {
				leaves(path, value, set)
			}
		}
	}
	all := map[string]bool{}
	for path, value := range load(t).Values {
		leaves(path, value, all)
	}
	if len(all) < 100 {
		t.Fatalf("the chart has %d values", len(all))
	}
	for path := range all {
		if !set[path] && !slices.ContainsFunc(keysOf(set), func(s string) bool { return strings.HasPrefix(s, path+".") }) {
			t.Errorf("no test of the chart's folder tests sets %s", path)
		}
	}
}

// leaves puts the paths of what has nothing below it into all.
func leaves(path string, value any, all map[string]bool) {
	below, ok := value.(map[string]any)
	if !ok || len(below) == 0 {
		all[path] = true
		return
	}
	for name, v := range below {
		leaves(path+"."+name, v, all)
	}
}

func keysOf(m map[string]bool) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// TestTestsAreNotPacked: what "helm package" makes has no tests, and no values for them.
func TestTestsAreNotPacked(t *testing.T) {
	t.Parallel()
	c := load(t)
	path, err := chartutil.Save(c, t.TempDir())
	must(t, err)
	f, err := os.Open(path)
	must(t, err)
	defer f.Close() //nolint:errcheck // it is read alone
	z, err := gzip.NewReader(f)
	must(t, err)
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		names = append(names, h.Name)
	}
	for _, n := range names {
		if strings.HasPrefix(n, "fairlead/tests/") || strings.HasPrefix(n, "fairlead/ci/") {
			t.Errorf("the package has %s", n)
		}
	}
	if !slices.Contains(names, "fairlead/templates/api.yaml") {
		t.Errorf("the package has %v", names)
	}
}
