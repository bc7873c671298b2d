package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/childproc"
)

// Program is one of our programs that runs.
type Program struct {
	*childproc.Process
	Log string // file

	t testing.TB
}

// Start starts one of our programs. It outlives a step; its log is shown when the test
// fails.
func (w *World) Start(name string, args ...string) *Program {
	w.T.Helper()
	f, err := os.CreateTemp(w.Dir, name+"-*.log")
	Must(w.T, err)
	command := slices.Concat(w.Under, []string{w.program(name)}, args)
	path, err := exec.LookPath(command[0])
	Must(w.T, err)
	p, err := childproc.Start(childproc.Spec{Path: path, Args: command[1:], Stdout: f, Stderr: f})
	Must(w.T, err)
	w.Whole.Cleanup(func() {
		_ = p.Stop()
		_ = f.Close()
		if bytes.Contains(Read(w.Whole, f.Name()), []byte("WARNING: DATA RACE")) {
			w.Whole.Errorf("%s has a data race", name)
		}
		Dump(w.Whole, f.Name())
	})
	return &Program{p, f.Name(), w.T}
}

// Logged waits for the line of the log that has this message, and returns an attribute
// of it.
func (p *Program) Logged(message, attribute string) (value string) {
	p.t.Helper()
	Eventually(p.t, 2*Soon, "the log has no line "+message, func() bool {
		for line := range bytes.Lines(Read(p.t, p.Log)) {
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

// program is the path of what is started by that name.
func (w *World) program(name string) string {
	if w.Programs == "" {
		return Bin(name)
	}
	return filepath.Join(w.Programs, name)
}

// Run runs one of the world's programs to its end.
func (w *World) Run(program string, args ...string) {
	w.T.Helper()
	run(w.T, w.program(program), args...)
}

// Run runs one of our programs to its end.
func Run(t testing.TB, program string, args ...string) {
	t.Helper()
	run(t, Bin(program), args...)
}

func run(t testing.TB, path string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	p, err := childproc.Start(childproc.Spec{Path: path, Args: args, Stdout: &out, Stderr: &out})
	Must(t, err)
	if err := p.Err(); err != nil {
		t.Fatalf("%s %s: %v\n%s", path, strings.Join(args, " "), err, out.Bytes())
	}
}

// Dump shows the end of a file if the test has failed.
func Dump(t testing.TB, file string) {
	if t.Failed() {
		b, _ := os.ReadFile(file)
		t.Logf("%s:\n%s", filepath.Base(file), b[max(0, len(b)-12_000):])
	}
}
