package envoyversion_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

func TestFind(t *testing.T) {
	t.Parallel()
	newest := envoyversion.Newest()
	for _, asked := range []string{newest, envoyversion.Minor(newest)} {
		if got, err := envoyversion.Find(asked); err != nil || got != newest {
			t.Errorf("Find(%q) = %q, %v", asked, got, err)
		}
	}
	for _, asked := range []string{"", "1", "1.35", "1.40.99", "newest"} {
		if got, err := envoyversion.Find(asked); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), newest) {
			t.Errorf("Find(%q) = %q, %v", asked, got, err)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"1.36.4": false, "1.36.0-dev": false, "1.9.0": false, "1.37.0": true, "1.40.0": true, "1.100.0": true, "2.0.0": true,
		"": true, "1": true, "v1.36": true, "nightly": true, // nothing is known of them
	} {
		if got := envoyversion.Has(version, envoyversion.VirtualHosts); got != want {
			t.Errorf("virtual hosts of %q: %v", version, got)
		}
	}
	if v := envoyversion.Since(envoyversion.VirtualHosts); !envoyversion.Has(v, envoyversion.VirtualHosts) {
		t.Errorf("%s has them first, and has them not", v)
	}
}

// TestTheVersionsAreOneList: make, the documentation and this package name the same ones.
func TestTheVersionsAreOneList(t *testing.T) {
	t.Parallel()
	var minors []string
	for _, v := range envoyversion.Supported() {
		minors = append(minors, envoyversion.Minor(v))
	}
	makefile := read(t, "Makefile")
	m := regexp.MustCompile(`(?m)^ENVOY_MINORS := (.*)$`).FindStringSubmatch(makefile)
	if m == nil || !slices.Equal(strings.Fields(m[1]), minors) {
		t.Errorf("the Makefile has %q, want %v", m, minors)
	}
	page := read(t, filepath.Join("docs", "envoy-versions.md"))
	for _, v := range envoyversion.Supported() {
		if !strings.Contains(page, "| "+v+" |") {
			t.Errorf("docs/envoy-versions.md has no row of %s", v)
		}
	}
}

// TestWhatTheTurnLeavesOutIsThere: what is named of the end-to-end tests, so that the turn with an older Envoy leaves it out, is one of them.
func TestWhatTheTurnLeavesOutIsThere(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile(`(?m)^ANY_ENVOY := (.*)$`).FindStringSubmatch(read(t, "Makefile"))
	if m == nil {
		t.Fatal("the Makefile has no ANY_ENVOY")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "test", "e2e", "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var tests []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllSubmatch(text, -1) {
			tests = append(tests, string(f[1]))
		}
	}
	for _, part := range strings.Split(m[1], "|") {
		if !slices.ContainsFunc(tests, func(name string) bool { return strings.Contains(name, part) }) {
			t.Errorf("no end-to-end test has %q in its name", part)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
