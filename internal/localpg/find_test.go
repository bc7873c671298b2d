package localpg_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
)

// fakeBin is a directory with a postgres that says that it is of some version.
func fakeBin(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"postgres": "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n",
		"initdb":   "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindExplicit(t *testing.T) {
	dir := fakeBin(t, "16.4 (Debian 16.4-1)")
	got, err := localpg.Find(t.Context(), localpg.FindConfig{Explicit: dir})
	if err != nil || got != dir {
		t.Errorf("explicit: %q, %v", got, err)
	}
	t.Setenv("PG_BIN", dir)
	if got, err = localpg.Find(t.Context(), localpg.FindConfig{}); err != nil || got != dir {
		t.Errorf("PG_BIN: %q, %v", got, err)
	}
	_, err = localpg.Find(t.Context(), localpg.FindConfig{Explicit: fakeBin(t, "14.1")})
	if !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "version 14, needed is 15") {
		t.Errorf("old: %v", err)
	}
	if _, err = localpg.Find(t.Context(), localpg.FindConfig{Explicit: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
}

func TestFindOnPath(t *testing.T) {
	t.Setenv("PG_BIN", "")
	dir, links := fakeBin(t, "18.4"), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", links+":"+os.Getenv("PATH"))
	if got, err := localpg.Find(t.Context(), localpg.FindConfig{}); err != nil || got != dir {
		t.Errorf("through a link on PATH: %q, %v, want %q", got, err, dir)
	}
}
