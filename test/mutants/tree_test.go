package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAPackageIsTestedInItsModule: go tests packages of the module alone in whose folder it is started.
func TestAPackageIsTestedInItsModule(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"go.mod", "test/compose/go.mod"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pkg, want := range map[string][2]string{
		"./internal/xds": {"", "./internal/xds"}, "./test/compose": {"test/compose", "./."}, "./test/compose/podman": {"test/compose", "./podman"},
	} {
		if folder, from := module(root, pkg); folder != filepath.Join(root, want[0]) || from != want[1] {
			t.Errorf("%s is %s in %s, want %s in %s", pkg, from, folder, want[1], want[0])
		}
	}
}

// TestWhatNoBuildReplacesIsCopied: files beside no package, which a test reads itself.
func TestWhatNoBuildReplacesIsCopied(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"compose.yml", "deploy/hba.conf", "migrations/embed.go", "migrations/functions/token.sql", ".git/HEAD", "web/node_modules/a.js"} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{
		"compose.yml": true, "deploy/hba.conf": true, "migrations/embed.go": false, "migrations/functions/token.sql": false,
	} {
		if got := (mutant{touched: []string{name}}).readByTests(root); got != want {
			t.Errorf("%s is read by tests: %t", name, got)
		}
	}
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "compose.yml"), []byte("another and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(root, to); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"compose.yml": "compose.yml", "migrations/functions/token.sql": "migrations/functions/token.sql", ".git/HEAD": "", "web/node_modules/a.js": ""} {
		if text, _ := os.ReadFile(filepath.Join(to, name)); string(text) != want {
			t.Errorf("%s holds %q, want %q", name, text, want)
		}
	}
}
