package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/xds"
	"fairlead/internal/xds/conformance"
	"fairlead/internal/xds/xdstest"
)

// contender is a server that the checks are run against.
type contender struct {
	name  string
	start conformance.Start
	// lacks says why checks that need something do not apply.
	lacks map[conformance.Need]string
	// unordered says, if it does, why nothing of it is in an order: what it sends first is
	// left to chance, and so would be its score.
	unordered string
	unpolled  string // says, if it does not, why it answers no polls
}

// leaves says why a check does not apply, if it does not.
func (x contender) leaves(c conformance.Check) (why string, no bool) {
	if c.Rule == 19 && x.unordered != "" {
		return x.unordered, true
	}
	if c.Rule == 27 && x.unpolled != "" {
		return x.unpolled, true
	}
	why, no = x.lacks[c.Needs]
	return why, no
}

// What a library leaves to the program around it.
var left = map[conformance.Need]string{
	conformance.Tokens:    "a library leaves who may connect to the program around it",
	conformance.Limits:    "a library leaves what a stream may cost, and gRPC's settings, to the program around it",
	conformance.Records:   "a library leaves what is done with a client's words to the program around it",
	conformance.Loading:   "a library leaves when streams are taken to the program around it",
	conformance.Revisions: "it knows no fleets",
	conformance.Aging:     "a library leaves the age of connections to the program around it",
}

func contenders() []contender {
	linear := map[conformance.Need]string{
		conformance.TTLs:   "it knows no TTLs",
		conformance.Nobody: "it is filled before it is served",
	}
	for need, why := range left {
		linear[need] = why
	}
	return []contender{
		{name: "Fairlead", start: conformance.Fairlead},
		{name: "SnapshotCache", start: startSnapshotCache, lacks: left},
		{name: "LinearCache", start: startLinearCache, lacks: linear, unordered: "nothing orders several of them", unpolled: "it answers no polls"},
	}
}

// broken are servers that end otherwise than by an answer. They stand behind the
// contenders.
func broken() []contender {
	return []contender{
		{name: "panics", start: func(testing.TB, xdstest.Protocol, func(*xds.Config)) conformance.Server {
			go panic("of the server's own")
			select {}
		}},
		{name: "hangs", start: func(t testing.TB, _ xdstest.Protocol, _ func(*xds.Config)) conformance.Server {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			_, _ = r.Read(make([]byte, 1)) // a bubble does not know that this never ends
			return nil
		}},
	}
}

// trial is one check of one variant against one server.
type trial struct {
	Contender, Check int
	Variant          xdstest.Protocol
}

// verdict is how it ended: why it failed, or nothing.
type verdict struct {
	trial
	Begun bool
	Why   string
}

// hang is how long one trial may take: its time is that of a bubble, which jumps.
const hang = 20 * time.Second

const hung = "it hung, or took the process with it"

const childVariable = "FAIRLEAD_CONFORMANCE_TRIALS"

// trials are all that apply to a contender.
func trials(contender int) []trial {
	var all []trial
	who := contenders()[contender]
	for i, c := range conformance.Checks() {
		if _, no := who.leaves(c); no {
			continue
		}
		for _, v := range c.Variants() {
			all = append(all, trial{contender, i, v})
		}
	}
	return all
}

// judge runs every trial in child processes: one that hangs or panics, and there is no
// other way to end it, is killed with its process, and the next one runs in another.
func judge(ctx context.Context, t *testing.T, lists [][]trial, hang time.Duration) map[trial]string {
	t.Helper()
	var mu sync.Mutex
	verdicts := map[trial]string{}
	var wg sync.WaitGroup
	for _, rest := range lists {
		wg.Go(func() {
			for len(rest) > 0 {
				done := child(ctx, t, rest, hang)
				if len(done) == 0 {
					t.Error("a child process did nothing")
					return
				}
				mu.Lock()
				for _, v := range done {
					verdicts[v.trial] = v.Why
				}
				mu.Unlock()
				rest = rest[len(done):]
			}
		})
	}
	wg.Wait()
	return verdicts
}

// child runs trials in a process of their own, as far as it gets.
func child(ctx context.Context, t *testing.T, rest []trial, hang time.Duration) []verdict {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	list, err := json.Marshal(rest)
	if err != nil {
		t.Error(err)
		return nil
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestTrials$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), childVariable+"="+string(list))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = cmd.Wait() }() // it may have been killed
	watchdog := time.AfterFunc(hang, cancel)
	defer watchdog.Stop()
	var done []verdict
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v verdict
		if json.Unmarshal(lines.Bytes(), &v) != nil {
			continue // of package testing
		}
		watchdog.Reset(hang)
		if v.Begun {
			v.Why = hung
			done = append(done, v)
		} else {
			done[len(done)-1] = v
		}
	}
	return done
}

// TestTrials is the child process; by itself it has nothing to do.
func TestTrials(t *testing.T) {
	list := os.Getenv(childVariable)
	if list == "" {
		return
	}
	var all []trial
	if err := json.Unmarshal([]byte(list), &all); err != nil {
		t.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	for i, x := range all {
		check, contender := conformance.Checks()[x.Check], append(contenders(), broken()...)[x.Contender]
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_ = out.Encode(verdict{trial: x, Begun: true})
			synctest.Test(t, func(t *testing.T) {
				r := newRecorder(t)
				why := r.run(func(t testing.TB) { check.Run(conformance.Lay(t, check, x.Variant, contender.start)) })
				_ = out.Encode(verdict{trial: x, Why: why}) // before what may hang
				r.clean()
			})
		})
	}
}

// TestTrialsAreContained: a server that hangs or panics costs its own trial alone.
func TestTrialsAreContained(t *testing.T) {
	t.Parallel()
	n := len(contenders())
	good, panics, hangs := trial{0, 0, xdstest.DeltaADS}, trial{n, 0, xdstest.DeltaADS}, trial{n + 1, 0, xdstest.DeltaADS}
	second := trial{0, 0, xdstest.SotWADS}
	got := judge(t.Context(), t, [][]trial{{good, panics, hangs, second}}, 10*time.Second)
	want := map[trial]string{good: "", panics: hung, hangs: hung, second: ""}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
