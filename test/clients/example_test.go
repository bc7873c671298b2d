package clients

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// language is a client with its example. All examples take the same arguments and print the same.
type language struct {
	name    string
	command func() []string
	env     func() []string
}

var languages = []language{
	{name: "go", command: func() []string { return []string{world.Bin("example")} }},
	{name: "typescript", command: func() []string {
		return []string{"node", filepath.Join(world.Bin("typescript"), "dist", "example", "main.js")}
	}},
	{name: "python", command: func() []string {
		return []string{"python3", filepath.Join(root, "clients", "python", "example", "main.py")}
	}, env: func() []string {
		return []string{"PYTHONPATH=" + pythonPath, "PYTHONDONTWRITEBYTECODE=1"}
	}},
}

// TestExamples runs every example: with a fleet that has a proxy, with one that is not there yet, and with what
// the API refuses.
func TestExamples(t *testing.T) {
	w := world.New(t)
	w.Envoy("router-1", w.XDS().Address, true)
	w.AwaitLive("router-1")
	for _, l := range languages {
		w.Step(l.name, func() {
			e := example{w, l}
			e.isTaken()
			e.makesTheFleet()
			e.printsProblems()
		})
	}
}

// example runs one language's.
type example struct {
	*world.World
	language
}

func (e example) isTaken() {
	e.T.Helper()
	before := e.revision()
	cluster := "from-" + e.name
	out, _ := e.run(0, e.Token, e.Fleet, cluster, "3s")
	want := fmt.Sprintf("fleet edge is at revision %[1]d\nrevision %[2]d: 1 changed\nrevision %[2]d is delivered; ACKed by 1: router-1\n", before, before+1)
	if out != want {
		e.T.Errorf("it printed:\n%swant:\n%s", out, want)
	}
	stored, err := e.REST.GetResourceWithResponse(e.T.Context(), e.Tenant, e.Fleet, client.TypeParam("clusters"), cluster, nil)
	e.Made(stored, err)
	if !bytes.Contains(stored.Body, []byte(`"3s"`)) {
		e.T.Errorf("stored is %s", stored.Body)
	}
	made, err := e.REST.GetRevisionWithResponse(e.T.Context(), e.Tenant, e.Fleet, before+1)
	e.Made(made, err)
	if m := made.JSON200.Message; m == nil || *m != "written by the example" {
		e.T.Errorf("the revision's message is lost: %s", made.Body)
	}
}

func (e example) makesTheFleet() {
	e.T.Helper()
	name := "new-" + e.name
	out, _ := e.run(0, e.Token, name, "backend", "1s")
	if want := "fleet " + name + " is new\nrevision 1: 1 changed\nrevision 1 is stored; ACKed by 0: \n"; out != want {
		e.T.Errorf("it printed:\n%swant:\n%s", out, want)
	}
}

func (e example) printsProblems() {
	e.T.Helper()
	before := e.revision()
	for name, c := range map[string]struct {
		token string
		args  []string
		want  string
	}{
		"a fault of the document": {e.Token, []string{e.Fleet, "bad", "soon"}, `(?s)^4\d\d [a-z_]+: .+ \(request [^)]+\)\n  /resources/0/body/connect_timeout: .+\n$`},
		"a stale revision":        {e.Token, []string{e.Fleet, "bad", "1s", "0"}, `^412 [a-z_]+: .+ \(request [^)]+\)\n`},
		"a wrong token":           {"fla_wrong", []string{e.Fleet, "bad", "1s"}, `^401 unauthenticated: .+ \(request [^)]+\)\n$`},
	} {
		_, words := e.run(1, c.token, c.args...)
		if !regexp.MustCompile(c.want).MatchString(words) {
			e.T.Errorf("%s: it said:\n%swant: %s", name, words, c.want)
		}
	}
	if after := e.revision(); after != before {
		e.T.Errorf("a refused write made revision %d", after)
	}
}

// run runs the example, which has to end with the status.
func (e example) run(status int, token string, args ...string) (out, words string) {
	e.T.Helper()
	command := append(e.command(), args...)
	cmd := exec.CommandContext(e.T.Context(), command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), "FAIRLEAD_URL="+e.API, "FAIRLEAD_TENANT="+e.Tenant, "FAIRLEAD_TOKEN="+token)
	if e.env != nil {
		cmd.Env = append(cmd.Env, e.env()...)
	}
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		e.T.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		e.T.Fatalf("%s %q ended with %d, want %d:\n%s%s", e.name, args, got, status, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// revision is what the fleet is at.
func (e example) revision() int64 {
	e.T.Helper()
	f, err := e.REST.GetFleetWithResponse(e.T.Context(), e.Tenant, e.Fleet)
	e.Made(f, err)
	return f.JSON200.Revision
}

// TestTheClientsTakeWordsThatAreNewer: a list of words in an answer may grow, and no client that was generated before
// may break by that. Go and TypeScript have them as texts; of Python a class is made.
func TestTheClientsTakeWordsThatAreNewer(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "python3", "-c", `
from fairlead_client.models import Finding, FindingCode
f = Finding.from_dict({"code": "newer", "severity": "error", "type": "clusters", "name": "c", "pointer": "", "detail": "d"})
assert f.code == "newer" and str(f.code) == "newer" and f.to_dict()["code"] == "newer", f
assert f.code != FindingCode.UNREACHABLE and f.severity is type(f.severity)("error")
`)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+pythonPath, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
