package childproc_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A parent that is killed takes its child with it: the child holds the write end of the
// pipe, so the read ends when both are gone and not before.
func TestChildDiesWithAKilledParent(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdout = role("parent"), w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	out := bufio.NewReader(r)
	pid := readyPID(t, out)
	if pid == cmd.Process.Pid {
		t.Fatal("the parent answered, not the child")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Fatalf("the child outlived its parent: %v", err)
	}
}
