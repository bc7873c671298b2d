package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/seal"
)

func TestKeysAreMadeOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	// What a start left that was killed while it made them.
	if err := os.MkdirAll(dir+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir+".new", seal.PrivateFile), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	var first string
	for i := range 2 {
		k, err := ensureKeys(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := seal.LoadPublic(k.public); err != nil {
			t.Error(err)
		}
		if _, err := seal.LoadVersion(k.version); err != nil {
			t.Error(err)
		}
		private, err := seal.LoadPrivate(k.private)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = string(private)
		} else if string(private) != first {
			t.Error("the second start made other keys")
		}
	}
}

// TestKeysThatAreNotComplete: a start says so; it neither goes on nor makes others.
func TestKeysThatAreNotComplete(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{seal.PublicFile, seal.PrivateFile, seal.VersionFile} {
		data := t.TempDir()
		dir := filepath.Join(data, "keys")
		if _, err := ensureKeys(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
		_, err := ensureKeys(dir)
		if err == nil || !strings.Contains(err.Error(), lost) || !strings.Contains(err.Error(), "remove the folder "+data) {
			t.Errorf("without %s: %v, want what is missing and what to do", lost, err)
		}
	}
}
