package childproc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/childproc"
)

// patience is how long an event may take before a test fails.
const patience = time.Minute

// roleVariable makes a second run of the test binary play a part.
const roleVariable = "CHILDPROC_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "parent":
		parent()
	case "child":
		child()
	case "stubborn":
		ignoreTerm()
	default:
		goleak.VerifyTestMain(m)
	}
}

// child says that it runs, and waits for its end; a limit, so that a failed test leaves none.
func child() {
	fmt.Println("ready", os.Getpid())
	time.Sleep(time.Minute)
}

func ignoreTerm() {
	signal.Ignore(syscall.SIGTERM)
	child()
}

// parent starts a child that inherits its output, and waits to be killed.
func parent() {
	_, err := childproc.Start(childproc.Spec{Path: os.Args[0], Env: role("child"), Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Println("start:", err)
		os.Exit(1)
	}
	select {}
}

func role(name string) []string { return append(os.Environ(), roleVariable+"="+name) }

func start(t *testing.T, part string, change func(*childproc.Spec)) (*childproc.Process, *bufio.Reader) {
	t.Helper()
	r, w := io.Pipe()
	spec := childproc.Spec{Path: os.Args[0], Env: role(part), Stdout: w}
	if change != nil {
		change(&spec)
	}
	p, err := childproc.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); p.Kill() })
	return p, bufio.NewReader(r)
}

func readyPID(t *testing.T, r *bufio.Reader) int {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "ready "))
	if err != nil {
		t.Fatalf("child said %q", line)
	}
	return pid
}

func waitDone(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the process did not end")
	}
}

func TestStopEndsAWillingChild(t *testing.T) {
	t.Parallel()
	p, out := start(t, "child", nil)
	if got := readyPID(t, out); got != p.PID() {
		t.Fatalf("child is %d, PID says %d", got, p.PID())
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.Err(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v, want the stop signal", err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestStopKillsAStubbornChild(t *testing.T) {
	t.Parallel()
	p, out := start(t, "stubborn", func(s *childproc.Spec) { s.StopTimeout = 50 * time.Millisecond })
	readyPID(t, out)
	if err := p.Stop(); !errors.Is(err, childproc.ErrKilled) {
		t.Errorf("Stop: %v, want ErrKilled", err)
	}
	waitDone(t, p.Done())
}

func TestDoneTellsOfAnEndOfItsOwn(t *testing.T) {
	t.Parallel()
	p, out := start(t, "child", nil)
	if err := syscall.Kill(readyPID(t, out), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, p.Done())
	if p.Err() == nil {
		t.Error("a killed child ended without an error")
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	_, err := childproc.Start(childproc.Spec{Path: filepath.Join(t.TempDir(), "nothing")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

func TestPIDFileEndsALeftover(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "child.pid")
	withFile := func(s *childproc.Spec) { s.PIDFile = file }
	first, out := start(t, "child", withFile)
	readyPID(t, out)
	second, out := start(t, "child", withFile)
	readyPID(t, out)
	waitDone(t, first.Done())
	text, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(text)) != strconv.Itoa(second.PID()) {
		t.Errorf("pid file holds %q (%v), want %d", text, err, second.PID())
	}
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pid file after Stop: %v", err)
	}
}

func TestPIDFileOfAStrangerIsIgnored(t *testing.T) {
	t.Parallel()
	stranger := exec.Command("sleep", "60")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	file := filepath.Join(t.TempDir(), "child.pid")
	if err := os.WriteFile(file, []byte(strconv.Itoa(stranger.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out := start(t, "child", func(s *childproc.Spec) { s.PIDFile = file })
	readyPID(t, out)
	if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the stranger is gone: %v", err)
	}
}
