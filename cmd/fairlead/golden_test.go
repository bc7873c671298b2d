package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shownCommand is how a command's golden file calls it. Where wrong is nil the failure is that of
// an API that has nothing.
type shownCommand struct {
	args  []string // after the command's name
	json  []string // the same for JSON, where it is another
	wrong []string
	stdin string
	world func(w *world)
	noAPI bool // it asks no API, and takes no settings of one
}

// withoutJSON are the commands that print no JSON, and why.
var withoutJSON = map[string]string{
	"bootstrap":  "what it prints is the file that a client starts with",
	"completion": "what it prints is a script of a shell",
	"dev":        "it runs until it is stopped, and writes ready.json",
	"discover":   "it runs until it is stopped",
	"sync":       "it runs until it is stopped, and writes files",

	"endpoints register": "what it prints is what its program prints",
}

// withoutEnd are the commands that do not end by themselves: only their failure is shown.
var withoutEnd = map[string]string{"dev": "test/e2e runs it", "endpoints register": "TestRegister runs it"}

// leaves are all commands of the model, by their words.
func leaves(t *testing.T) map[string]*kong.Node {
	t.Helper()
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*kong.Node{}
	for _, n := range parser.Model.Leaves(true) {
		out[n.Path()] = n
	}
	return out
}

func takesJSON(n *kong.Node) bool {
	return slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
}

// TestGolden shows every command: what it prints for people, as JSON, and both of a failure.
// go test ./cmd/fairlead -run Golden -update writes the files.
func TestGolden(t *testing.T) {
	t.Parallel()
	all := leaves(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, there := shownCommands[name]
			if !there {
				t.Fatalf("fairlead %s is not shown: say in shownCommands of golden_commands_test.go how it is called, and write its file with -update", name)
			}
			if why, none := withoutJSON[name]; takesJSON(all[name]) == none {
				t.Fatalf("it takes --json: %v; withoutJSON says: %q", !none, why)
			}
			matches(t, filepath.Join("testdata", "golden", strings.ReplaceAll(name, " ", "-")+".txt"), c.show(t, name))
		})
	}
	for name := range shownCommands {
		if all[name] == nil {
			t.Errorf("shownCommands has fairlead %s, which is no command", name)
		}
	}
	files, err := os.ReadDir(filepath.Join("testdata", "golden"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for name := range shownCommands {
		shown[strings.ReplaceAll(name, " ", "-")+".txt"] = true
	}
	for _, f := range files {
		if !shown[f.Name()] {
			t.Errorf("testdata/golden/%s is of no command: remove it", f.Name())
		}
	}
}

func matches(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", file, diff)
	}
}

// show runs the command four times, each in a world of its own.
func (c shownCommand) show(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	words := strings.Fields(name)
	wrong := c.wrong
	if wrong == nil {
		wrong = c.args
	}
	if _, endless := withoutEnd[name]; !endless {
		c.section(t, &b, "for people", true, append(slices.Clone(words), c.args...))
	}
	_, noJSON := withoutJSON[name]
	if !noJSON {
		args := c.args
		if c.json != nil {
			args = c.json
		}
		oneDocument(t, false, c.section(t, &b, "as JSON", true, append(slices.Clone(words), append([]string{"--json"}, args...)...)))
	}
	r := c.section(t, &b, "a failure", false, append(slices.Clone(words), wrong...))
	if r.code == exitOK || !strings.HasPrefix(r.err, "fairlead: ") {
		t.Errorf("this is no failure: %+v", r)
	}
	if !noJSON {
		oneDocument(t, true, c.section(t, &b, "a failure as JSON", false, append(slices.Clone(words), append([]string{"--json"}, wrong...)...)))
	}
	return b.String()
}

// section runs a command line, against an API that has everything or nothing, and shows it.
func (c shownCommand) section(t *testing.T, b *strings.Builder, title string, has bool, args []string) result {
	t.Helper()
	w := setup(t)
	if has {
		for at, body := range answers {
			w.replies[strings.Replace(at, " /fleet", " "+fleetPath, 1)] = []reply{body}
		}
	}
	if c.world != nil {
		c.world(w)
	}
	in := func(text string) string { return strings.ReplaceAll(text, "DIR", w.dir) }
	line := make([]string, len(args))
	for i, a := range args {
		line[i] = in(a)
	}
	if !c.noAPI {
		line = append(line, "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge")
		if slices.Contains(args, "--from") { // of promote
			line = line[:len(line)-2]
		}
	}
	r := w.bare(c.stdin, line...)
	steady := strings.NewReplacer(w.server.URL, "https://fairlead.example.com", runtime.Version(), "GOVERSION")
	fmt.Fprintf(b, "== %s\n$ fairlead %s\n%s", title, strings.Join(args, " "), steady.Replace(r.out))
	if r.err != "" {
		fmt.Fprintf(b, "-- standard error\n%s", steady.Replace(r.err))
	}
	fmt.Fprintf(b, "-- exit status %d\n\n", r.code)
	return r
}

// oneDocument checks that JSON is one document, and an error if one is meant.
func oneDocument(t *testing.T, failed bool, r result) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	var doc map[string]json.RawMessage
	if err := d.Decode(&doc); err != nil {
		t.Errorf("no JSON document: %v in\n%s%s", err, r.out, r.err)
		return
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("more than one document:\n%s", r.out)
	}
	if _, is := doc["error"]; is != failed || failed && r.code == exitOK {
		t.Errorf("an error: %v, exit status %d, want an error: %v", is, r.code, failed)
	}
}

// TestAWrongCommandLineIsJSONToo: whatever is wrong with it, and wherever --json stands.
func TestAWrongCommandLineIsJSONToo(t *testing.T) {
	t.Parallel()
	for name, n := range leaves(t) {
		if !takesJSON(n) {
			continue
		}
		r := setup(t).bare("", append(strings.Fields(name), "--no-such-flag", "--json")...)
		oneDocument(t, true, r)
		if r.code != exitUsage {
			t.Errorf("%s: exit status %d", name, r.code)
		}
	}
	w := setup(t)
	for _, args := range [][]string{{"get", "--json", "--none"}, {"get", "-o", "json", "--none"}, {"get", "--none", "-ojson"}, {"get", "--none", "--output=json"}} {
		oneDocument(t, true, w.bare("", args...))
	}
	for _, args := range [][]string{{"get", "--none"}, {"get", "--none", "--", "--json"}, {"get", "--none", "-o", "table"}, {"get", "--none", "-o"}} {
		if r := w.bare("", args...); r.out != "" || r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
