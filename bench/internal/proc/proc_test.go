package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// TestChildIsPartOfTheTree: what a child of this process has run for counts, and a child that
// waits comes to rest.
func TestChildIsPartOfTheTree(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	if err := Quiesce(t.Context(), pid); err != nil {
		t.Error(err)
	}
	own, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	ran, err := CPU(pid)
	if err != nil || ran <= 0 {
		t.Errorf("the child ran for %v, %v", ran, err)
	}
	if tree := TreeCPU(os.Getpid()); tree < own+ran {
		t.Errorf("the tree ran for %v, and %v and %v are part of it", tree, own, ran)
	}
	if m, err := MemoryOf(pid); err != nil || m.RSS <= 0 || m.Peak < m.RSS {
		t.Errorf("memory %+v, %v", m, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Quiesce(ended, pid); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // read fails at the end of its input
	if _, err := CPU(pid); err == nil {
		t.Error("a process that is gone has run")
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	if l := Machine(); l.Busy <= 0 || l.CPUs < 1 {
		t.Errorf("%+v", l)
	}
}

func TestWarm(t *testing.T) {
	const n = 64 << 20
	before, err := MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := Warm(n); err != nil {
		t.Fatal(err)
	}
	after, err := MemoryOf(os.Getpid())
	if err != nil || after.Peak < before.RSS+n*9/10 || after.RSS > before.RSS+n/2 {
		t.Errorf("memory %+v, then %+v, %v", before, after, err)
	}
}
