package internal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// eachTest calls f with each file of tests, and the folder of its package as make has it.
func eachTest(t *testing.T, f func(file, folder string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipped(file)
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			f(file, "."+filepath.ToSlash(filepath.Dir(file))[2:], text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mustList fails unless the Makefile has a variable with these words, and a rule with each of these lines.
func mustList(t *testing.T, variable string, want []string, rules ...string) {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if !bytes.Contains(makefile, []byte(rule+"\n")) {
			t.Errorf("the Makefile has no line that ends with %q", rule)
		}
	}
	list := regexp.MustCompile(`(?m)^` + variable + ` := (.+)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatalf("the Makefile has no %s", variable)
	}
	slices.Sort(want)
	if got, want := strings.Fields(string(list[1])), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the Makefile's %s is %q, want %q", variable, got, want)
	}
}

// What is built without the race detector alone is run by "make test" all the same: in a package that it names, by the name that it
// asks for. "make soak" runs it with the race detector.
func TestWhatTheRaceDetectorLeavesOutIsRun(t *testing.T) {
	t.Parallel()
	var left []string
	large := regexp.MustCompile(`(?m)^func TestLarge`)
	eachTest(t, func(file, folder string, text []byte) {
		if large.Match(text) { // what runs without the race detector leaves them to the other run
			left = append(left, folder)
		}
		if !bytes.HasPrefix(text, []byte("//go:build !race")) {
			return
		}
		for _, test := range regexp.MustCompile(`(?m)^func (Test\w*)\(`).FindAllSubmatch(text, -1) {
			if !bytes.HasPrefix(test[1], []byte("TestLarge")) {
				t.Errorf("%s: %s is never run: its name has to begin with TestLarge", file, test[1])
			}
			if !bytes.HasPrefix(text, []byte("//go:build !race || soak\n")) {
				t.Errorf("%s: %s is never run with the race detector: build it with !race || soak", file, test[1])
			}
		}
	})
	mustList(t, "LARGE", left, "packages=$$(go list $(LARGE) | $(call turn,1)); [ -z \"$$packages\" ] || { set -x; $(PLAIN) -timeout 5m -run '^TestLarge' $(TEST_FLAGS) $$packages; }", "-tags soak -run '^TestLarge' $(TEST_FLAGS) $(LARGE)")
}

// In CI the race detector looks at the packages of one turn, in "make soak" at all of them; so it is with what else is long. A pattern that
// names no folder leaves its packages to another turn.
func TestTheRaceDetectorHasItsTurns(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	turns := []string{"servers"} // which no pattern names
	for _, of := range regexp.MustCompile(`\$\(call raced,(\w+)\)`).FindAllSubmatch(makefile, -1) {
		if turn := string(of[1]); !slices.Contains(turns, turn) {
			turns = append(turns, turn)
		}
	}
	for _, of := range regexp.MustCompile(`\$\$0 ~ "\$\((\w+)\)" \? "(\w+)"`).FindAllSubmatch(makefile, -1) {
		turns = append(turns, string(of[2]))
		pattern := regexp.MustCompile(`(?m)^` + string(of[1]) + ` := (?:\^fairlead)?/(.*)\((\S+)\)\(/\|\$\$\)$`).FindSubmatch(makefile)
		if pattern == nil {
			t.Fatalf("the Makefile's %s is no list of folders", of[1])
		}
		for _, name := range strings.Split(string(pattern[2]), "|") {
			if _, err := os.Stat(filepath.Join("..", string(pattern[1]), name)); err != nil {
				t.Errorf("the Makefile's %s: %v", of[1], err)
			}
		}
	}
	mustList(t, "TURNS", turns, "\t$(MAKE) test TURN=all TEST_FLAGS='$(TEST_FLAGS) -count=1'", "\t$(MAKE) page-browser schemathesis e2e-versions TURN=all")
	others := regexp.MustCompile(`(?m)^(WITH_\w+) := (.+)$`).FindAllSubmatch(makefile, -1)
	if len(others) == 0 {
		t.Error("nothing but the race detector has turns")
	}
	for _, other := range others {
		for _, turn := range strings.Fields(string(other[2])) {
			if !slices.Contains(turns, turn) {
				t.Errorf("the Makefile's %s has a turn %q that never comes", other[1], turn)
			}
		}
		if !bytes.Contains(makefile, fmt.Appendf(nil, "$(call turn_of,$(%s))", other[1])) {
			t.Errorf("no rule of the Makefile asks for %s", other[1])
		}
	}
}

// Random histories of which the race detector has a tenth are played whole by "make soak".
func TestHistoriesThatTheRaceDetectorCutsArePlayedWhole(t *testing.T) {
	t.Parallel()
	var cut []string
	eachTest(t, func(_, folder string, text []byte) {
		if bytes.HasPrefix(text, []byte("//go:build race\n")) && bytes.Contains(text, []byte("rapid.checks")) {
			cut = append(cut, folder)
		}
	})
	mustList(t, "RANDOM", cut, "\t$(SOAK) $(TEST_FLAGS) $(RANDOM) -rapid.checks=100 -rapid.seed=0")
}

// TestWhatTestsDrawIsTheSame each time, so that a failure is the change's; "make soak" draws anew.
func TestWhatTestsDrawIsTheSame(t *testing.T) {
	t.Parallel()
	draws := regexp.MustCompile(`[^.\w]rand\.(N|Int\w*|Uint\w*|Float\w*|Perm|Shuffle)\(`)
	name := regexp.MustCompile(`^Test\w+`)
	whole := []string{"./internal/delivery", "./internal/planner"}
	var folders, drawn, tests, pinned []string
	eachTest(t, func(file, folder string, text []byte) {
		if bytes.Contains(text, []byte("\"fairlead/test/pinned\"")) {
			pinned = append(pinned, folder)
		}
		for f := range bytes.SplitSeq(text, []byte("\nfunc ")) {
			test := string(name.Find(f))
			if test == "" || !bytes.Contains(f, []byte("rapid"+".Check(")) {
				continue
			}
			if folders = append(folders, folder); !slices.Contains(whole, folder) && test != "TestTheWhole" { // which soak plays by themselves
				drawn, tests = append(drawn, folder), append(tests, test)
			}
		}
		if by := draws.Find(text); by != nil && !strings.HasSuffix(file, "swarm_test.go") { // its clients come back at no certain time, as Envoys do
			t.Errorf("%s draws by %s another value each time: draw by rand.New with a seed, of pinned.Seed if soak is to draw others", file, by)
		}
	})
	for _, folder := range folders {
		if !slices.Contains(pinned, folder) {
			t.Errorf("%s uses rapid, and plays other histories each time: import fairlead/test/pinned", folder)
		}
	}
	mustList(t, "DRAWN", drawn)
	mustList(t, "DRAWS", tests, "-run '$(subst $(space),|,$(DRAWS))' $(TEST_FLAGS) $(DRAWN) -rapid.checks=2000 -rapid.seed=0")
}
