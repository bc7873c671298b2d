package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build builds a package of the module that dir is in.
func build(t *testing.T, dir, to string, packages ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-ldflags=-s", "-o", to + "/"}, packages...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s in %s: %v\n%s", packages, dir, err, out)
	}
}

// TestAllServersTakeTurns: the programs as they are built run a small grid with Fairlead, the
// floor and the incumbent, and every client gets all of it, once.
func TestAllServersTakeTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build(t, "../..", dir, "./cmd/...")
	build(t, "../../..", dir, "./cmd/xds", "./cmd/fairlead")
	const streams, changes = 5, 2
	out := filepath.Join(dir, "results.jsonl")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "xdsbench"), "-cells", "5x10+node,5x80+own,5x10+node+cds", "-protocols", "delta,sotw,rest", "-rounds", "1", "-changes", "2",
		"-at-rest", "10ms", "-out", out, "-idle-wait", "0", "-timeout", "60s", "-server-cpus", "", "-client-cpus", "")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for d := json.NewDecoder(f); ; n++ {
		var r run
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := r.Server + " " + r.Protocol + " " + r.Cell.String()
		if r.Result == nil {
			t.Errorf("%s: %s", name, r.Error)
			continue
		}
		each := 2*r.Cell.Clusters + 2
		if r.Cell.Option == optionOwn && r.Server != theFloor { // which sends everything
			each -= 2 * 3
		}
		after := 1 // resources that a client has of a change that it missed
		if r.Cell.has(optionCDS) {
			if each = r.Cell.Clusters; r.Protocol != "delta" {
				after = each // the set
			}
		}
		if got, want := r.Result.Storm.Resources, int64(streams*each); got != want {
			t.Errorf("%s: %d resources at first, want %d", name, got, want)
		}
		if len(r.Result.Changes) != changes || r.Result.Idle.Heap == 0 || r.Result.Rest.RSS == 0 || r.Result.Storm.ServerCPU == 0 {
			t.Errorf("%s: %+v", name, r.Result)
		}
		if got := r.Result.Same.Resources + r.Result.Other.Resources; got > 0 && r.Protocol != "sotw" {
			t.Errorf("%s: %d resources are sent again", name, got)
		}
		if got, want := r.Result.Changed.Resources, int64(streams*after); got != want && r.Protocol != "sotw" {
			t.Errorf("%s: %d resources after a change, want %d", name, got, want)
		}
		if r.Result.AtRest.Seconds == 0 {
			t.Errorf("%s: it was not looked at while nothing changed", name)
		}
	}
	if want := 2*3*2 + 3; n != want {
		t.Errorf("%d runs, want %d", n, want)
	}
}
