package internal_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is built without the race detector alone is run by "make test" all the same: in a package that it names, by the name that it
// asks for. "make soak" runs it with the race detector.
func TestWhatTheRaceDetectorLeavesOutIsRun(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^LARGE := (.+)$`).FindSubmatch(makefile)
	if list == nil || !bytes.Contains(makefile, []byte("-run '^TestLarge' $(TEST_FLAGS) $(LARGE)\n")) {
		t.Fatal("the Makefile does not run them")
	}
	if !bytes.Contains(makefile, []byte("-tags soak -run '^TestLarge' $(TEST_FLAGS) $(LARGE)\n")) {
		t.Error("make soak does not run them with the race detector")
	}
	var left []string
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
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
		if err != nil || !bytes.HasPrefix(text, []byte("//go:build !race")) {
			return err
		}
		for _, test := range regexp.MustCompile(`(?m)^func (Test\w*)\(`).FindAllSubmatch(text, -1) {
			left = append(left, "."+filepath.ToSlash(filepath.Dir(file))[2:])
			if !bytes.HasPrefix(test[1], []byte("TestLarge")) {
				t.Errorf("%s: %s is never run: its name has to begin with TestLarge", file, test[1])
			}
			if !bytes.HasPrefix(text, []byte("//go:build !race || soak\n")) {
				t.Errorf("%s: %s is never run with the race detector: build it with !race || soak", file, test[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if got, want := strings.Fields(string(list[1])), slices.Compact(left); !slices.Equal(got, want) {
		t.Errorf("the Makefile's LARGE is %q, want %q", got, want)
	}
}

// Random histories of which the race detector has a tenth are played whole by "make soak".
func TestHistoriesThatTheRaceDetectorCutsArePlayedWhole(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^RANDOM := (.+)$`).FindSubmatch(makefile)
	if list == nil || !bytes.Contains(makefile, []byte("\t$(SOAK) $(TEST_FLAGS) $(RANDOM) -rapid.checks=100\n")) {
		t.Fatal("the Makefile does not play them")
	}
	var cut []string
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
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
		if err == nil && bytes.HasPrefix(text, []byte("//go:build race\n")) && bytes.Contains(text, []byte("rapid.checks")) {
			cut = append(cut, "."+filepath.ToSlash(filepath.Dir(file))[2:])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(cut)
	if got := strings.Fields(string(list[1])); !slices.Equal(got, cut) {
		t.Errorf("the Makefile's RANDOM is %q, want %q", got, cut)
	}
}
