package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if built != "" {
			_ = os.RemoveAll(built)
		}
		os.Exit(code)
	}))
}

// built is the folder of the programs, once they are.
var built string

// programs builds them once for all tests.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "xdsbench-test-")
	if err != nil {
		return "", err
	}
	built = dir
	return dir, errors.Join(build("../..", dir, "./cmd/..."), build("../../..", dir, "./cmd/xds", "./cmd/fairlead"))
})

// build builds packages of the module that dir is in.
func build(dir, to string, packages ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-ldflags=-s", "-o", to + "/"}, packages...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", packages, dir, err, out)
	}
	return nil
}

// xdsbench runs the programs as they are built, on all CPUs, and returns the results.
func xdsbench(t *testing.T, args ...string) (all []run) {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "results.jsonl")
	args = append([]string{"-rounds", "1", "-out", out, "-idle-wait", "0", "-timeout", "60s", "-server-cpus", "", "-client-cpus", ""}, args...)
	if said, err := exec.CommandContext(t.Context(), filepath.Join(dir, "xdsbench"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var r run
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// TestTwoServersAndAKill: clients of two servers come and go, one server is killed and started again, and no client is without a change or loses
// a connection for another reason. What all processes use is told.
func TestTwoServersAndAKill(t *testing.T) {
	t.Parallel()
	const streams, seconds = 20, 6
	all := xdsbench(t, "-fleet", "-cells", "20x10+shared", "-protocols", "delta", "-duration", "6s", "-leaving", "3000", "-away", "1s")
	if len(all) != 1 || all[0].Churn == nil {
		t.Fatalf("%+v", all)
	}
	c := all[0].Churn
	if len(c.Phases) != 3 || c.Lost != 0 || c.Connections != 6 {
		t.Fatalf("%+v", c)
	}
	made, acks, returned := 0, 0, 0
	for i, p := range c.Phases {
		if i > 0 { // the server that was killed may not be up again
			p.Servers = p.Servers[1:]
		}
		made, acks, returned = made+p.Made, acks+p.ACK.Count, returned+p.Returned.Count
		for _, u := range append(p.Servers, p.API, p.Postgres, p.Clients) {
			if u.CPU <= 0 || u.RSS <= 0 {
				t.Errorf("%s: %+v", p.Name, p)
			}
		}
	}
	if made < seconds-2 || acks+returned != made*streams || returned == 0 {
		t.Errorf("%d changes have %d ACKs of clients that were there and %d of clients that came back, want %d", made, acks, returned, made*streams)
	}
}

// TestAllServersTakeTurns: the programs as they are built run a small grid with Fairlead, the
// floor and the incumbent, and every client gets all of it, once.
func TestAllServersTakeTurns(t *testing.T) {
	t.Parallel()
	const streams, changes = 5, 2
	all := xdsbench(t, "-cells", "5x10+node+shared,5x80+own,5x10+node+cds", "-protocols", "delta,sotw,rest", "-changes", "2", "-at-rest", "10ms")
	for _, r := range all {
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
	if want := 2*3*2 + 3; len(all) != want {
		t.Errorf("%d runs, want %d", len(all), want)
	}
}
