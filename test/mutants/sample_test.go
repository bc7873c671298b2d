package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
)

func numbered(n int) []mutant {
	ms := make([]mutant, n)
	for i := range ms {
		ms[i].file = strconv.Itoa(i) + ".patch"
	}
	return ms
}

func names(ms []mutant) (all []string) {
	for _, m := range ms {
		all = append(all, m.name())
	}
	return all
}

func TestASampleIsTheSeeds(t *testing.T) {
	t.Parallel()
	ms := numbered(35)
	chosen := map[string]int{}
	for i := range 200 {
		s := seed{sum: [32]byte{byte(i)}}
		picked := names(sample(ms, 3, s))
		if again := names(sample(ms, 3, s)); !slices.Equal(picked, again) {
			t.Fatalf("one seed chooses %v and %v", picked, again)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(picked)))) != 3 {
			t.Fatalf("chosen are %v", picked)
		}
		for _, name := range picked {
			chosen[name]++
		}
	}
	if len(chosen) != len(ms) {
		t.Errorf("200 samples have %d of %d", len(chosen), len(ms))
	}
	if all := sample(ms, 100, seed{}); !slices.Equal(names(all), names(ms)) {
		t.Errorf("a sample of more than there are is %v", names(all))
	}
}

// TestEachMutantIsTried, whatever comes of the others, and those that survive are told in their order.
func TestEachMutantIsTried(t *testing.T) {
	t.Parallel()
	var tried atomic.Int64
	unseen := each(io.Discard, numbered(7), func(m mutant) error {
		tried.Add(1)
		if m.name() == "2.patch" || m.name() == "5.patch" {
			return errors.New("SURVIVES")
		}
		return nil
	})
	if tried.Load() != 7 || !slices.Equal(unseen, []string{"2.patch", "5.patch"}) {
		t.Errorf("%d are tried, %v survive", tried.Load(), unseen)
	}
}

// TestTheSeed is the commit's in a clone, and elsewhere the content's.
func TestTheSeed(t *testing.T) {
	t.Parallel()
	write := func(root, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "engine.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@a.example"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	patch := filepath.Join(t.TempDir(), "a.patch")
	if err := os.WriteFile(patch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ms := []mutant{{file: patch, touched: []string{"engine.go"}}}
	at := func(root string) seed {
		t.Helper()
		s, err := seedOf(t.Context(), root, ms)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plain, same, other, clone := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	write(plain, "one")
	write(same, "one")
	write(other, "two")
	if at(plain) != at(same) || at(plain) == at(other) {
		t.Errorf("without git: %s, of the same %s, of something else %s", at(plain), at(same), at(other))
	}
	git(clone, "init", "-q")
	inside := filepath.Join(clone, "unpacked")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	write(clone, "one")
	write(inside, "one")
	git(clone, "add", "engine.go")
	git(clone, "commit", "-q", "-m", "one")
	one := at(clone)
	write(clone, "two")
	if at(clone) != one {
		t.Errorf("of one commit: %s and %s", one, at(clone))
	}
	git(clone, "commit", "-q", "-a", "-m", "two")
	if at(clone) == one {
		t.Errorf("of two commits: %s", one)
	}
	if at(inside) != at(plain) {
		t.Errorf("of a tree inside of another one: %s, want %s", at(inside), at(plain))
	}
}
