package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The cells of both commands are named in a file that nobody else may read, and no error holds any of its URLs.
func TestCommandsFindTheirCells(t *testing.T) {
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
	text := "cells:\n- {name: eu-1, database_url: 'postgres://u:s3cret@127.0.0.1:1/f'}\n- {name: eu-2, database_url: 'postgres://u:s3cret@127.0.0.1:2/f'}\n"
	near, open := file("near", text, 0o600), file("open", text, 0o644)
	far := file("far", strings.Replace(text, "127.0.0.1:2/f", "db.example.com/f?sslmode=require", 1), 0o600)
	out := filepath.Join(dir, "token")
	first := func(path, cell string) *bootstrapTokenCommand {
		c := &bootstrapTokenCommand{Out: out, Cell: cell, Expires: longestLife}
		c.File = path
		return c
	}
	for want, err := range map[string]error{
		"--from: there is no cell \"us\", the file names eu-1, eu-2": (&moveTenantCommand{Cells: near, From: "us", To: "eu-2"}).Run(t.Context()),
		"--to: there is no cell \"eu\", the file names eu-1, eu-2":   (&moveTenantCommand{Cells: near, From: "eu-1", To: "eu"}).Run(t.Context()),
		"others than the owner may use":                              (&moveTenantCommand{Cells: open, From: "eu-1", To: "eu-2"}).Run(t.Context()),
		"database_url of cell eu-2 leads to another machine":         (&moveTenantCommand{Cells: far, From: "eu-1", To: "eu-2"}).Run(t.Context()),
		"--from and --to are the same cell, eu-1":                    (&moveTenantCommand{Cells: near, From: "eu-1", To: "eu-1"}).Run(t.Context()),
		"--purged goes with --forget":                                (&moveTenantCommand{Cells: near, From: "eu-1", To: "eu-2", Purged: true}).Run(t.Context()),
		"127.0.0.1":                                                  (&moveTenantCommand{Cells: near, From: "eu-1", To: "eu-2"}).Run(t.Context()),
		"--cell is missing: give one of eu-1, eu-2":                  first(near, "").Run(t.Context()),
		"127.0.0.1 ": first(near, "eu-2").Run(t.Context()),
		"--cell goes with --cells-file: --database-url is one database": (&bootstrapTokenCommand{DatabaseURL: "postgres://u@127.0.0.1:1/f", Cell: "eu-1", Out: out, Expires: longestLife}).Run(t.Context()),
	} {
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
