// Package fetch installs a pinned package of pip or npm into a cache directory, once.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fairlead/internal/filelock"
)

// Install runs command with a fresh directory in the place of every argument "{dir}",
// and renames that directory to dir when finish (which may be nil) is content with it.
// A dir that exists is complete and is left alone, so a process that dies half way
// leaves nothing that a later one could take for good. Processes wait for each other.
func Install(ctx context.Context, dir string, command []string, finish func(dir string) error) error {
	cache := filepath.Dir(dir)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("make the cache directory: %w", err)
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(cache, ".fetch.lock"))
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	fresh, err := os.MkdirTemp(cache, ".fetch-*")
	if err != nil {
		return fmt.Errorf("make a directory to fetch into: %w", err)
	}
	defer os.RemoveAll(fresh)
	if err := os.Chmod(fresh, 0o755); err != nil {
		return fmt.Errorf("open the directory to other users: %w", err)
	}
	if err := run(ctx, fresh, command); err != nil {
		return err
	}
	if finish != nil {
		if err := finish(fresh); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, dir); err != nil {
		return fmt.Errorf("put what was fetched in place: %w", err)
	}
	return nil
}

func run(ctx context.Context, dir string, command []string) error {
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = strings.ReplaceAll(a, "{dir}", dir)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not installed: %w", args[0], err)
	default:
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, lastLine(out.String()))
	}
}

// lastLine keeps an error on one line: of what pip and npm print, the last line counts.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
