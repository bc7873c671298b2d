package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Where the token goes: a file that is new, or, in a container that has none, what is printed.
func TestWhereTheFirstTokenGoes(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	path := filepath.Join(t.TempDir(), "operator.token")
	out, end, err := (&bootstrapTokenCommand{Out: path}).open()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := (&bootstrapTokenCommand{Out: path}).open(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that is there: %v", err)
	}
	if info, err := out.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := end(failed); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what failed left its file: %v", err)
	}
	out, end, err = (&bootstrapTokenCommand{Out: "-"}).open()
	if err != nil || out != os.Stdout || end(nil) != nil || !errors.Is(end(failed), failed) {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := os.Stdout.Stat(); err != nil {
		t.Errorf("what is printed to was closed: %v", err)
	}
}
