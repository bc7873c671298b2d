package world

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"fairlead/internal/fetch"
	"fairlead/internal/filelock"
)

// programs are those that every suite starts.
var programs = []string{"api", "xds", "fairlead"}

// buildPrograms builds them in a folder of the cache and takes copies. "go build" does not link a program again that stands there as it
// would come out, so that suites which run one after the other link each of them once.
func (s Suite) buildPrograms(ctx context.Context) error {
	env, folder, args := "CGO_ENABLED=0", "programs", []string(nil)
	if s.Race && raced {
		env, folder, args = "CGO_ENABLED=1", "programs-race", []string{"-race"}
		if os.Getenv("GORACE") == "" { // a program under the race detector takes a second to exit
			if err := os.Setenv("GORACE", "atexit_sleep_ms=10"); err != nil {
				return err
			}
		}
	}
	cache, err := fetch.CacheDir()
	if err != nil {
		return err
	}
	folder = filepath.Join(cache, folder)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // as the rest of the cache
		return err
	}
	lock, err := filelock.Acquire(ctx, folder+".lock") // another tree, or another suite, builds its own there
	if err != nil {
		return err
	}
	defer lock.Release()
	for _, p := range programs {
		args = append(args, "./cmd/"+p)
	}
	if err := build(ctx, filepath.Join("..", ".."), folder, env, args...); err != nil {
		return err
	}
	for _, p := range programs {
		if err := copyProgram(filepath.Join(folder, p), Bin(p)); err != nil {
			return fmt.Errorf("take a copy of %s: %w", p, err)
		}
	}
	return nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // a program
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

// Build builds packages of the module in dir, without the race detector, to where Bin
// finds them.
func Build(ctx context.Context, dir string, packages ...string) error {
	return build(ctx, dir, binDir, "CGO_ENABLED=0", packages...)
}

// BuildCommit builds the servers of a commit of this repository, without the race detector, and returns their folder. The cache keeps them.
func BuildCommit(ctx context.Context, commit string) (folder string, err error) {
	cache, err := fetch.CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil { //nolint:gosec // as the rest of the cache
		return "", err
	}
	folder = filepath.Join(cache, "programs-"+commit)
	lock, err := filelock.Acquire(ctx, folder+".lock")
	if err != nil {
		return "", err
	}
	defer lock.Release()
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	dir, err := os.MkdirTemp(cache, "commit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	tree, archive, built := filepath.Join(dir, "tree"), filepath.Join(dir, "tree.tar"), filepath.Join(dir, "built")
	if out, err := exec.CommandContext(ctx, "git", "-C", filepath.Join("..", ".."), "archive", "--output", archive, commit).CombinedOutput(); err != nil {
		return "", fmt.Errorf("this checkout has no commit %s, which an upgrade begins with: fetch it (git fetch --unshallow, or git fetch origin %s): %w: %s", commit, commit, err, out)
	}
	if err := os.Mkdir(tree, 0o755); err != nil { //nolint:gosec // as above
		return "", err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xf", archive, "-C", tree).CombinedOutput(); err != nil {
		return "", fmt.Errorf("unpack %s: %w: %s", commit, err, out)
	}
	if err := build(ctx, tree, built, "CGO_ENABLED=0", "-ldflags=-s -X fairlead/cmd/internal/run.release="+commit, "./cmd/api", "./cmd/xds"); err != nil {
		return "", fmt.Errorf("build %s: %w", commit, err)
	}
	return folder, os.Rename(built, folder)
}

// build leaves out what only a debugger reads, as "go test" does: it is two fifths of the linker's work.
func build(ctx context.Context, dir, to, env string, args ...string) error {
	args = append([]string{"build", "-ldflags=-s", "-o", to + string(filepath.Separator)}, args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), env)
	return cmd.Run()
}
