package fetch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/internal/fetch"
)

func TestInstallOnceForAll(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, count := filepath.Join(base, "cache", "thing-1"), filepath.Join(base, "count")
	command := []string{"sh", "-c", "echo run >> " + count + "; echo hello > {dir}/file"}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := fetch.Install(t.Context(), dir, command, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if text, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(text) != "hello\n" {
		t.Errorf("file: %q, %v", text, err)
	}
	if text, err := os.ReadFile(count); err != nil || string(text) != "run\n" {
		t.Errorf("the command ran %q (%v), want once", text, err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestInstallLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	refuse := errors.New("not what was asked for")
	for name, c := range map[string]struct {
		command []string
		finish  func(string) error
		want    error
		text    string
	}{
		"fails":   {command: []string{"sh", "-c", "echo one; echo the reason; exit 3"}, text: "the reason"},
		"missing": {command: []string{"no-such-program-at-all"}, want: exec.ErrNotFound, text: "is not installed"},
		"refused": {command: []string{"true"}, finish: func(string) error { return refuse }, want: refuse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := t.TempDir()
			err := fetch.Install(t.Context(), filepath.Join(cache, "thing"), c.command, c.finish)
			if err == nil || !strings.Contains(err.Error(), c.text) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("err = %v", err)
			}
			left, err := os.ReadDir(cache)
			if err != nil || len(left) != 1 || left[0].Name() != ".fetch.lock" {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv(fetch.CacheVariable, "")
	if dir, err := fetch.CacheDir(); err != nil || !filepath.IsAbs(dir) || filepath.Base(dir) != "fairlead" {
		t.Errorf("default: %q, %v", dir, err)
	}
	t.Setenv(fetch.CacheVariable, "here")
	if dir, err := fetch.CacheDir(); err != nil || !filepath.IsAbs(dir) || filepath.Base(dir) != "here" {
		t.Errorf("named: %q, %v", dir, err)
	}
}
