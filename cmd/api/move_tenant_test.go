package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// A move says what it could not know better than the operator: which server does not know the target, and which streams did not end in time.
func TestAMoveTellsOfServers(t *testing.T) {
	t.Parallel()
	from, to := storetest.New(t), storetest.New(t)
	key := fleet.Key{}
	key.Tenant, key.Fleet = from.TenantWithFleet(t)
	path := filepath.Join(t.TempDir(), "owners.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, "cells:\n- {name: eu-1, database_url: %q}\n- {name: eu-2, database_url: %q}\n", from.Owner, to.Owner), 0o600); err != nil {
		t.Fatal(err)
	}
	server, source := fleet.NewServerID(), from.NodeStore(t)
	term, err := source.Lease(t.Context(), server, "host-a", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Report(t.Context(), fleet.Status{Key: key, Server: server, Term: term, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true, Streams: 3}}}); err != nil {
		t.Fatal(err)
	}
	var warnings bytes.Buffer
	move := &moveTenantCommand{Tenant: key.Tenant.String(), Cells: path, From: "eu-1", To: "eu-2", Drain: 10 * time.Millisecond, Warnings: &warnings}
	if err := move.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "1 xDS server that serves the source eu-1 does not know the target eu-2: host-a ("+server.String()+")") || warnings.Len() > 0 {
		t.Errorf("%v %s", err, &warnings)
	}
	if _, err := to.NodeStore(t).LeaseWith(t.Context(), server.Beside(), "host-a", time.Hour, store.ServerLoad{}); err != nil {
		t.Fatal(err)
	}
	if err := move.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "warning: after --drain=10ms 3 streams of the tenant were still open at the cell eu-1: 3 on host-a (" + server.String() + ")."; !strings.HasPrefix(warnings.String(), want) {
		t.Errorf("%s: want %s", &warnings, want)
	}
}

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
