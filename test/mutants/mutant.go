package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutant is one patch.
type mutant struct {
	file    string // its path
	breaks  string // in words
	pkg     string
	test    string
	touched []string // files, from the module's root
}

func (m mutant) name() string { return filepath.Base(m.file) }

// load reads the patches of a directory, in order of their names.
func load(dir string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	ms := make([]mutant, len(files))
	for i, f := range files {
		if ms[i], err = read(f); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(f), err)
		}
	}
	return ms, nil
}

func read(file string) (mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return mutant{}, err
	}
	m := mutant{file: file}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "Test: "):
			m.pkg, m.test, _ = strings.Cut(strings.TrimPrefix(line, "Test: "), " ")
		case strings.HasPrefix(line, "--- a/"):
			m.touched = append(m.touched, strings.TrimPrefix(line, "--- a/"))
		case m.breaks == "":
			m.breaks = line
		}
	}
	if m.breaks == "" || m.test == "" || len(m.touched) == 0 {
		return mutant{}, errors.New("needs a line that says what it breaks, a line \"Test: package name\", and a diff")
	}
	return m, nil
}

// apply writes the patched files below dir and returns what replaces what, for go's
// -overlay. root is the module's.
func (m mutant) apply(ctx context.Context, root, dir string) (map[string]string, error) {
	replace := map[string]string{}
	for _, name := range m.touched {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(root, name)] = to
	}
	patch, err := filepath.Abs(m.file)
	if err != nil {
		return nil, err
	}
	git := exec.CommandContext(ctx, "git", "apply", patch)
	git.Dir = dir
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := git.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("does not apply any more, write it anew: %s", bytes.TrimSpace(out))
	}
	return replace, nil
}

// run reports whether the mutant's test notices it: an error if it does not.
func (m mutant) run(ctx context.Context, root string) error {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	patched := filepath.Join(dir, "patched")
	if err := os.Mkdir(patched, 0o750); err != nil {
		return err
	}
	replace, err := m.apply(ctx, root, patched)
	if err != nil {
		return err
	}
	args := []string{"test", "-vet=off", "-count=1", "-timeout=120s", "-run", "^" + m.test + "$"}
	if m.readByTests(root) {
		// What a test reads itself no build replaces: it gets a tree of its own.
		tree := filepath.Join(dir, "tree")
		if err := copyTree(root, tree); err != nil {
			return err
		}
		if err := copyTree(patched, tree); err != nil {
			return err
		}
		root = tree
	} else {
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "overlay.json")
		if err := os.WriteFile(file, overlay, 0o600); err != nil {
			return err
		}
		args = append(args, "-overlay", file)
	}
	folder, pkg := module(root, m.pkg)
	test := exec.CommandContext(ctx, "go", append(args, pkg)...)
	test.Dir = folder
	// A failure that was found need not be made shorter, and the next run is not to begin with it.
	test.Env = append(os.Environ(), "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=0s")
	out, err := test.CombinedOutput()
	switch {
	case err == nil:
		return fmt.Errorf("SURVIVES: %s passes", m.test)
	case bytes.Contains(out, []byte("panic: test timed out")):
		return fmt.Errorf("%s hangs, and tells nothing", m.test)
	case !bytes.Contains(out, []byte("--- FAIL: "+m.test)) && !bytes.Contains(out, []byte("panic: ")):
		return fmt.Errorf("%s was not run: %s", m.test, bytes.TrimSpace(out))
	}
	return nil
}
