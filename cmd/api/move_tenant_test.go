package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The URLs are in files of their own, which nobody else may read, and are checked like those of the servers; no error holds any of them.
func TestMoveTenantReadsItsURLs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return path
	}
	near := file("near", "postgres://u:s3cret@127.0.0.1:1/f\n", 0o600)
	for name, c := range map[string]struct{ path, want string }{
		"not there":         {filepath.Join(dir, "none"), "no such file"},
		"others may read":   {file("open", "postgres://u:s3cret@127.0.0.1:1/f", 0o644), "chmod 600"},
		"empty":             {file("empty", "\n", 0o600), "write one URL"},
		"too long":          {file("long", strings.Repeat("s3cret", longestURL), 0o600), "write one URL"},
		"another machine":   {file("far", "postgres://u:s3cret@db.example.com/f?sslmode=require", 0o600), "leads to another machine"},
		"what is none":      {file("none-such", "s3cret://", 0o600), "cannot be read"},
		"nobody is at home": {near, "127.0.0.1"},
	} {
		for flag, cmd := range map[string]moveTenantCommand{"--from-database-url-file": {From: c.path, To: near}, "--to-database-url-file": {From: near, To: c.path}} {
			err := cmd.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") || c.path != near && !strings.HasPrefix(err.Error(), flag) {
				t.Errorf("%s, %s: %v", name, flag, err)
			}
		}
	}
}
