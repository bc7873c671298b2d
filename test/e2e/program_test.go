package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/childproc"
)

// anyPort lets a server take a port by itself, and tell it in its log.
const anyPort = "127.0.0.1:0"

// program is one of our programs that runs.
type program struct {
	*childproc.Process
	t   testing.TB
	log string // file
}

// start starts one of our programs; its log is shown when the test fails.
func (w *world) start(name string, args ...string) *program {
	w.t.Helper()
	f, err := os.CreateTemp(w.dir, name+"-*.log")
	must(w.t, err)
	p, err := childproc.Start(childproc.Spec{Path: filepath.Join(binDir, name), Args: args, Stdout: f, Stderr: f})
	must(w.t, err)
	w.whole.Cleanup(func() {
		_ = p.Stop()
		_ = f.Close()
		if bytes.Contains(read(w.whole, f.Name()), []byte("WARNING: DATA RACE")) {
			w.whole.Errorf("%s has a data race", name)
		}
		w.dump(f.Name())
	})
	return &program{p, w.t, f.Name()}
}

// logged waits for the line of the log that has this message, and returns an attribute
// of it.
func (p *program) logged(message, attribute string) (value string) {
	p.t.Helper()
	eventually(p.t, 2*soon, "the log has no line "+message, func() bool {
		for line := range bytes.Lines(read(p.t, p.log)) {
			var attributes map[string]any
			if json.Unmarshal(line, &attributes) == nil && attributes["msg"] == message {
				value = fmt.Sprint(attributes[attribute])
				return true
			}
		}
		select {
		case <-p.Done():
			p.t.Fatalf("it ended (%v) without a line %q", p.Err(), message)
		default:
		}
		return false
	})
	return value
}

// run runs one of our programs to its end.
func run(t testing.TB, program string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	p, err := childproc.Start(childproc.Spec{Path: filepath.Join(binDir, program), Args: args, Stdout: &out, Stderr: &out})
	must(t, err)
	if err := p.Err(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out.Bytes())
	}
	return out.String()
}

// runCode runs a program to its end and returns what it printed and its exit status.
func runCode(t testing.TB, path string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), path, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// runFailing runs one of our programs, which must fail, and returns what it printed.
func runFailing(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, code := runCode(t, filepath.Join(binDir, program), args...)
	if code == 0 {
		t.Fatalf("%s %s ended well: %s", program, strings.Join(args, " "), out)
	}
	return out
}
