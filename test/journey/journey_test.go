package journey

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/test/world"
)

var update = flag.Bool("update", false, "write what is printed into docs/tutorial.md")

// told are what the journey is about: the page has to say them, however it is written anew.
var told = []string{
	"left out: stats_flush_interval",            // an import says what it does not take over
	"to create, on revision 0",                  // a difference before the first write
	"ACKed by 1/1 nodes",                        // delivered
	"the shop, version 1",                       // served, through Envoy
	`was changed by "ada" in revision 2`,        // the second writer is told, and merges
	"is clusters/checkout meant?",               // a misspelt cluster, before it is written
	"rejected: demo-envoy refused clusters/web", // a poison
	"kept the last known good version",          // of which Envoy serves
	"--from edge --to prod",                     // promoted
	"prune: clusters/catalogue",                 // pruned
	"nothing changed; revision",                 // what is exported is what is there
	"--base-id 1",                               // beside another Envoy
}

// TestTutorial is the journey of a reader of docs/tutorial.md.
func TestTutorial(t *testing.T) {
	const file = "../../docs/tutorial.md"
	before := string(world.Read(t, file))
	p, err := readPage(before)
	world.Must(t, err)
	r := sit(t)
	for i := range p {
		r.do(&p[i])
	}
	after := p.String()
	for _, words := range told {
		if !strings.Contains(after, words) {
			t.Errorf("%s does not say %q", file, words)
		}
	}
	if *update && !t.Failed() {
		world.Must(t, os.WriteFile(file, []byte(after), 0o644))
		return
	}
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")); diff != "" {
		t.Errorf("%s says another thing than the programs do (-page +programs); -update writes it anew:\n%s", file, diff)
	}
}

// sit starts Fairlead as the page has it, and a reader beside it.
func sit(t *testing.T) *reader {
	t.Helper()
	dir := world.DataDir(t)
	d := world.StartDev(t, filepath.Join(dir, ".fairlead"), []string{"ENVOY_BIN=" + world.EnvoyBin()}, "--no-demo")
	r := newReader(t, dir)
	port := func(address string) string {
		_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
		world.Must(t, err)
		return port
	}
	r.names["8080"], r.names["18000"] = port(d.Ready.APIURL), port(d.Ready.XDSAddress)
	for _, name := range []string{"10000", "10001", "9001", "9002", "9003"} {
		r.names[name] = port(world.FreePort(t))
	}
	base := strconv.Itoa(os.Getpid()) // one that no other test has
	r.names["--base-id 1"] = "--base-id " + base
	t.Cleanup(func() { _ = os.Remove("/dev/shm/envoy_shared_memory_" + base + "0") }) // Envoy leaves it behind
	r.write("envoy.yaml", world.Read(t, "../../docs/tutorial/envoy.yaml"))
	return r
}

// do does what a part of the page says, and notes what was printed.
func (r *reader) do(p *part) {
	r.t.Helper()
	switch {
	case p.await != nil:
		r.await(*p.await)
	case p.file != "":
		r.write(p.file, []byte(strings.Join(p.lines[1:len(p.lines)-1], "\n")+"\n"))
	}
	for i := range p.steps {
		s := &p.steps[i]
		s.printed = r.run(s.command)
		if said := i+1 < len(p.steps) && p.steps[i+1].command == "echo $?"; r.status != 0 && !said {
			r.t.Fatalf("%s ended with %d, and the page does not ask for it:\n%s", s.command, r.status, strings.Join(s.printed, "\n"))
		}
	}
}
