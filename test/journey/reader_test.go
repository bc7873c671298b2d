package journey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/childproc"
	"fairlead/test/world"
)

// reader is somebody at a shell who does what the page says.
type reader struct {
	t      *testing.T
	dir    string // where they stand
	state  string // the file that keeps what they exported
	env    []string
	names  names
	status int // of the last command
}

// longest bounds a command, and what is awaited.
const longest = time.Minute

// newReader sits down in a folder, with the programs on the path.
func newReader(t *testing.T, dir string) *reader {
	t.Helper()
	tools := t.TempDir()
	world.Must(t, os.Symlink(world.EnvoyBin(), filepath.Join(tools, "envoy")))
	r := &reader{t: t, dir: dir, state: filepath.Join(tools, "state"), names: names{}}
	world.Must(t, os.WriteFile(r.state, nil, 0o600))
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "FAIRLEAD_") && name != "PATH" && name != "XDG_CONFIG_HOME" {
			r.env = append(r.env, v)
		}
	}
	r.env = append(r.env, "LC_ALL=C", "XDG_CONFIG_HOME="+filepath.Join(tools, "config"),
		"PATH="+strings.Join([]string{filepath.Dir(world.Bin("fairlead")), tools, os.Getenv("PATH")}, string(os.PathListSeparator)))
	return r
}

// write writes a file as the page shows it.
func (r *reader) write(name string, text []byte) {
	r.t.Helper()
	world.Must(r.t, os.WriteFile(filepath.Join(r.dir, name), []byte(r.names.here(string(text))), 0o600))
}

// run runs one command and returns what it printed, as the page would say it.
func (r *reader) run(command string) []string {
	r.t.Helper()
	if background, is := strings.CutSuffix(command, " &"); is {
		r.start(background)
		return nil
	}
	out, err := r.shell(fmt.Sprintf("(exit %d)\n%s\nstatus=$?; export -p > %s; exit $status", r.status, r.names.here(command), r.state))
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		r.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	r.status = 0
	if ended != nil {
		r.status = ended.ExitCode()
	}
	text := strings.TrimSuffix(r.names.there(out), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (r *reader) shell(script string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", ". "+r.state+"\n"+script) //nolint:gosec // the page's own
	cmd.Dir, cmd.Env = r.dir, r.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), errors.Join(err, ctx.Err())
}

// start runs a command until the test ends.
func (r *reader) start(command string) {
	r.t.Helper()
	p, err := childproc.Start(childproc.Spec{
		Path: "/bin/sh", Args: []string{"-c", ". " + r.state + "\nexec " + r.names.here(command)}, Dir: r.dir, Env: r.env,
	})
	world.Must(r.t, err)
	r.t.Cleanup(func() { _ = p.Stop() })
	r.status = 0
}

// await runs a command until it prints the text.
func (r *reader) await(a await) {
	r.t.Helper()
	var out string
	defer func() {
		if r.t.Failed() {
			r.t.Logf("%s printed:\n%s", a.command, out)
		}
	}()
	world.Eventually(r.t, longest, fmt.Sprintf("%s did not print %q", a.command, a.text), func() bool {
		out, _ = r.shell(r.names.here(a.command))
		return strings.Contains(r.names.there(out), a.text)
	})
}
