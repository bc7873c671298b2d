package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// limitsSize is how large TestSoakAtTheLimits is.
type limitsSize struct {
	clusters, routes int   // of the fleet of many small resources
	large            int   // resources of the other fleet
	bytes            int   // of each of these, as a message
	judged           bool  // times and memory
	memory           int64 // bytes that the API server may have
	watch            time.Duration
}

func sizeOfLimits() limitsSize {
	if !full() {
		return limitsSize{clusters: 80, routes: 20, large: 2, bytes: 16 << 10}
	}
	return limitsSize{clusters: 40_000, routes: 10_000, large: 64, bytes: 1<<20 - 4<<10, judged: true, memory: 512 << 20, watch: time.Minute}
}

// TestSoakAtTheLimits: a tenant whose limits are the default ones has a fleet with as many resources as it may have, and one with as many bytes. Both are listed,
// exported, compared with their export, applied, changed whole, planned, rolled back and promoted, through the command line as a person does. Each
// succeeds; meanwhile the API server has less memory than its bound, and what another tenant writes and reads takes at most twice the time.
func TestSoakAtTheLimits(t *testing.T) {
	size := sizeOfLimits()
	w, _ := setupPostgres(t)
	beside := &neighbour{estate: w.found("beside", "beside", nil), judged: size.judged}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	running.Go(func() { beside.run(ctx) })

	many, large := smallOnes(size), largeOnes(t, size)
	for _, f := range []*filled{
		{name: "many", first: many("1s"), second: many("2s"), resources: size.clusters + size.routes},
		{name: "large", first: large(1000), second: large(2000), resources: size.large},
	} {
		f.installation, f.size, f.beside = w, size, beside
		w.Step(f.name, f.all)
	}
}

// filled is a fleet at a limit.
type filled struct {
	*installation
	size          limitsSize
	beside        *neighbour
	name          string
	first, second []byte // its content, as files that apply takes, and the same with a change of each resource
	resources     int

	alone besideOf
	table []string
}

// all does everything that is done with a whole fleet.
func (f *filled) all() {
	f.make(f.name)
	f.make(f.name + "-copy")
	first, second, exported := f.file("first.json", f.first), f.file("second.json", f.second), f.Path(f.name, "export.yaml")
	f.quiet(first)

	f.step("apply of all, into an empty fleet", once, func() { f.cli(0, "apply", "-f", first) })
	f.mustHave(f.name)
	before := f.newest()
	f.step("list, all pages", often, func() {
		if n := f.list(nil); n != f.resources {
			f.T.Errorf("%d resources are listed, want %d", n, f.resources)
		}
	})
	f.step("export", often, func() { world.Must(f.T, os.WriteFile(exported, f.cli(0, "export"), 0o600)) })
	f.step("diff of the export", often, func() { f.cli(0, "diff", "-f", exported) })
	f.step("apply of the export", often, func() { f.cli(0, "apply", "-f", exported) })
	if now := f.newest(); now != before {
		f.T.Errorf("the export changed something: revision %d, and it was %d", now, before)
	}
	f.step("diff of a change of all", often, func() { f.cli(1, "diff", "-f", second) })
	changed := 0
	f.step("apply of a change of all", often, func() {
		f.cli(0, "apply", "-f", []string{second, first}[changed%2])
		changed++
	})
	if changed%2 == 0 {
		f.cli(0, "apply", "-f", second)
	}
	after := f.newest()
	f.step("comparison of revisions", often, func() {
		out := f.cli(0, "history", "show", "latest", "--from", strconv.FormatInt(before, 10), "--json")
		if n := bytes.Count(out, []byte(`"action"`)); n != f.resources {
			f.T.Errorf("%d resources differ, want %d", n, f.resources)
		}
	})
	f.step("list of a past revision", often, func() {
		if n := f.list(&before); n != f.resources {
			f.T.Errorf("at revision %d there were %d resources, want %d", before, n, f.resources)
		}
	})
	f.step("plan of a rollback of all", often, func() { f.cli(0, "rollback", strconv.FormatInt(before, 10), "--dry-run") })
	to := []int64{before, after}
	rolledBack := 0
	f.step("rollback of all", often, func() {
		f.cli(0, "rollback", strconv.FormatInt(to[rolledBack%2], 10))
		rolledBack++
	})
	if rolledBack%2 == 0 {
		f.cli(0, "rollback", strconv.FormatInt(before, 10))
	}
	f.cli(0, "diff", "-f", exported)
	f.step("findings", often, func() { f.cli(0, "findings", "--json") })
	promote := []string{"promote", "--from", f.name, "--to", f.name + "-copy"}
	f.step("plan of a promotion", often, func() { f.cli(0, append(promote, "--dry-run")...) })
	f.step("promotion", once, func() { f.cli(0, promote...) })
	f.mustHave(f.name + "-copy")
	f.T.Logf("%s: the step, how long it took, processor time of the API server, its memory, the other tenant's writes and reads (p99)\n%s", f.name, strings.Join(f.table, "\n"))
}

func (f *filled) make(name string) {
	f.T.Helper()
	made, err := f.REST.CreateFleetWithResponse(f.T.Context(), f.Tenant, client.FleetCreate{Name: name})
	f.Made(made, err)
}

func (f *filled) file(name string, content []byte) string {
	f.T.Helper()
	name = f.Path(f.name, name)
	world.Must(f.T, os.MkdirAll(f.Path(f.name), 0o700), os.WriteFile(name, content, 0o600))
	return name
}

// mustHave fails if a fleet has not got all that it should, or is not at one of its limits.
func (f *filled) mustHave(name string) {
	f.T.Helper()
	u, err := f.REST.GetFleetUsageWithResponse(f.T.Context(), f.Tenant, name)
	f.Made(u, err)
	told, close := "", false
	for _, l := range u.JSON200.Items {
		if (l.What == "resources" || l.What == "fleet_bytes") && l.Used != nil {
			told += fmt.Sprintf(" %s %d of %d", l.What, *l.Used, l.Limit)
			close = close || *l.Used*100 >= l.Limit*98
			if l.What == "resources" && *l.Used != int64(f.resources) {
				f.T.Errorf("fleet %s has %d resources, want %d", name, *l.Used, f.resources)
			}
		}
	}
	if f.T.Logf("fleet %s:%s", name, told); f.size.judged && !close {
		f.T.Errorf("fleet %s is not at a limit:%s", name, told)
	}
}

func (f *filled) newest() int64 {
	f.T.Helper()
	got, err := f.REST.GetFleetWithResponse(f.T.Context(), f.Tenant, f.name)
	f.Made(got, err)
	return got.JSON200.Revision
}

// list has all pages read, and counted, by a program of its own: the other tenant is one of this.
func (f *filled) list(at *int64) (n int) {
	f.T.Helper()
	order, err := json.Marshal(listOrder{f.API, f.Token, f.Tenant, f.name, at})
	world.Must(f.T, err)
	out, told, code := f.runs([]string{listEnv + "=" + string(order)}, os.Args[0])
	if _, err := fmt.Sscan(string(out), &n); err != nil || code != 0 {
		f.T.Fatalf("list: status %d: %s%s", code, out, tail(told))
	}
	return n
}

// listEnv makes the test program list a fleet, and say how many resources there are.
const listEnv = "FAIRLEAD_E2E_LIST"

// listOrder is what it is told.
type listOrder struct {
	API, Token, Tenant, Fleet string
	At                        *int64 // nil: now
}

func runList(order string, out io.Writer) error {
	var o listOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	api, err := client.NewClientWithResponses(o.API, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+o.Token)
		return nil
	}))
	if err != nil {
		return err
	}
	n, limit := 0, 500
	for cursor := (*string)(nil); ; {
		p, err := api.ListResourcesWithResponse(context.Background(), o.Tenant, o.Fleet, &client.ListResourcesParams{Limit: &limit, Cursor: cursor, Revision: o.At})
		if err != nil {
			return err
		}
		if p.JSON200 == nil {
			return fmt.Errorf("the API answered %d: %s", p.StatusCode(), p.Body)
		}
		n += len(p.JSON200.Items)
		if cursor = p.JSON200.NextCursor; cursor == nil {
			_, err := fmt.Fprintln(out, n)
			return err
		}
	}
}

// cli runs a command line of fairlead as the tenant's admin, and returns what was printed.
func (f *filled) cli(want int, args ...string) []byte {
	f.T.Helper()
	env := []string{"FAIRLEAD_URL=" + f.API, "FAIRLEAD_TOKEN=" + f.Token, "FAIRLEAD_TENANT=" + f.Tenant}
	if args[0] != "promote" {
		env = append(env, "FAIRLEAD_FLEET="+f.name)
	}
	out, told, code := f.runs(env, world.Bin("fairlead"), append(args[:len(args):len(args)], yes(args)...)...)
	if code != want {
		f.T.Fatalf("fairlead %s: status %d, want %d: %s", strings.Join(args, " "), code, want, tail(told))
	}
	return out
}

// runs runs a program to its end. Where times are judged it yields to all others, as if it had a machine of its own.
func (f *filled) runs(env []string, program string, args ...string) (out, told []byte, code int) {
	f.T.Helper()
	cmd := exec.CommandContext(f.T.Context(), program, args...) //nolint:gosec // our own program
	if f.size.judged {
		cmd = elsewhere(f.T.Context(), program, args...)
	}
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	world.Must(f.T, cmd.Start())
	if f.size.judged {
		world.Must(f.T, yieldsSession(cmd))
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		world.Must(f.T, err)
	}
	return stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()
}

// yes is what confirms a write.
func yes(args []string) []string {
	switch args[0] {
	case "apply", "rollback", "promote":
		if args[len(args)-1] != "--dry-run" {
			return []string{"--yes"}
		}
	}
	return nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

const (
	once  = false
	often = true
)

// quiet measures the other tenant alone, with which the steps are compared. Then it is measured beside a program that works as those of the steps do, on the
// same processors, and asks no server: what that takes from others is the machine's, and the log tells how much of a step it may be.
func (f *filled) quiet(documents string) {
	f.beside.since()
	<-time.After(2*f.size.watch + 500*time.Millisecond) // what is measured is time that passes
	f.alone = f.beside.since()
	f.T.Logf("the other tenant alone: %v", f.alone)
	for began := time.Now(); ; {
		f.cli(0, "validate", "-f", documents)
		if time.Since(began) >= f.size.watch {
			break
		}
	}
	f.T.Logf("the other tenant beside a program that asks no server: %v", f.beside.since())
}

// step does something, for as long as it is watched if it can be done often, and looks what it took of the API server and of the other tenant.
func (f *filled) step(what string, again bool, do func()) {
	f.T.Helper()
	server := &measured{f.Server}
	server.forgetPeak(f.T)
	f.beside.since()
	n, began, spent := 0, time.Now(), server.processor(f.T)
	for {
		do()
		n++
		if !again || time.Since(began) >= f.size.watch {
			break
		}
	}
	took := time.Since(began) / time.Duration(n)
	spent = (server.processor(f.T) - spent) / time.Duration(n)
	peak, other := server.memory(f.T, "VmHWM"), f.beside.since()
	f.table = append(f.table, fmt.Sprintf("| %s | %.1f s | %.1f s | %d MiB | %.0f ms | %.0f ms |", what, took.Seconds(), spent.Seconds(), peak>>10, other.writes.p99, other.reads.p99))
	f.T.Logf("%s: %d times, %.2f s each, %.2f s of a processor in the API server; it had %d MiB at most; the other tenant: %v", what, n, took.Seconds(), spent.Seconds(), peak>>10, other)
	if !f.size.judged {
		return
	}
	if most := f.size.memory >> 10; int64(peak) >= most {
		f.T.Errorf("%s: the API server had %d KiB, %d are its bound", what, peak, most)
	}
	other.within(f.T, what, f.alone)
}

// leastWait is a p99, in ms, below which nobody notices a difference.
const leastWait = 5

// neighbour is another tenant, who writes and reads now and then.
type neighbour struct {
	*estate
	judged bool // none of it may be refused

	mu            sync.Mutex // guards what follows
	writes, reads []time.Duration
}

// besideOf is how long what the neighbour did took.
type besideOf struct{ writes, reads quantiles }

// within fails unless the waits are at most twice as long as alone.
func (b besideOf) within(t testing.TB, what string, alone besideOf) {
	t.Helper()
	for _, c := range []struct {
		what          string
		beside, alone quantiles
	}{{"writes", b.writes, alone.writes}, {"reads", b.reads, alone.reads}} {
		if most := 2 * max(c.alone.p99, leastWait); c.beside.p99 > most {
			t.Errorf("%s: the other tenant's %s take %v, and %v alone", what, c.what, c.beside, c.alone)
		}
	}
}

func (b besideOf) String() string { return fmt.Sprintf("writes %v, reads %v", b.writes, b.reads) }

// run writes a resource and reads it, time and again, until ctx ends.
func (n *neighbour) run(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i := 1; ; i++ {
		began := time.Now()
		_, again, err := n.try(ctx, static(beat, fmt.Sprintf("%d.%03ds", 1+i/1000%1000, i%1000)))
		wrote := time.Now()
		if err == nil && again > 0 && n.judged {
			err = errors.New("a write was refused for a moment")
		}
		if err == nil {
			var got *client.GetResourceResponse
			if got, err = n.api.GetResourceWithResponse(ctx, n.tenant, n.fleet, client.TypeParam(fleet.Cluster.Slug()), beat, nil); err == nil && got.JSON200 == nil {
				err = fmt.Errorf("the API answered %d: %s", got.StatusCode(), got.Body)
			}
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			n.Whole.Errorf("the other tenant: %v", err)
			return
		}
		n.mu.Lock()
		n.writes, n.reads = append(n.writes, wrote.Sub(began)), append(n.reads, time.Since(wrote))
		n.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// during is what took how long in that time.
func (n *neighbour) during(d time.Duration) besideOf {
	ctx, cancel := context.WithTimeout(n.Whole.Context(), d)
	defer cancel()
	n.since()
	n.run(ctx)
	return n.since()
}

// since is what was measured since the last time.
func (n *neighbour) since() besideOf {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := besideOf{quantilesOf(n.writes), quantilesOf(n.reads)}
	n.writes, n.reads = nil, nil
	return out
}
