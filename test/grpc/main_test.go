package grpcclients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/fetch"
	"fairlead/internal/localenvoy"
	"fairlead/internal/store/storetest"
)

// The programs under test, and the clients' packages.
var binDir, envoyBin, nodeModules, pythonPath string

// runner prepares what all tests share and takes it away again.
type runner struct{ m *testing.M }

func (r runner) Run() int {
	dir, err := os.MkdirTemp("", "fairlead-grpc-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		binDir = dir
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		err = prepare(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the tests with gRPC clients:", err)
		return 1
	}
	return r.m.Run()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Main(runner{m})) }

func prepare(ctx context.Context) (err error) {
	say := func(s string) { fmt.Fprintln(os.Stderr, s) }
	envoyBin, err = localenvoy.Find(ctx, localenvoy.FindConfig{Fetch: true, Progress: say})
	if err != nil {
		return err
	}
	if nodeModules, err = installNode(ctx); err != nil {
		return fmt.Errorf("install grpc-js with npm: %w", err)
	}
	if pythonPath, err = installPython(ctx); err != nil {
		return fmt.Errorf("install grpcio with pip: %w", err)
	}
	out := binDir + string(filepath.Separator)
	return errors.Join(
		build(ctx, filepath.Join("..", ".."), "-o", out, "./cmd/api", "./cmd/xds", "./cmd/fairlead"),
		build(ctx, "goclient", "-o", out, "."))
}

// build builds without the race detector: test/e2e has it, and here a test starts so many
// programs that it would double the time.
func build(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.Run()
}

// installNode brings what the lock file names into the cache and returns its
// node_modules.
func installNode(ctx context.Context) (string, error) {
	dir, err := cached("grpc-js", filepath.Join("node", "package-lock.json"))
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs("node")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "node_modules"), fetch.Install(ctx, dir, []string{
		"sh", "-ec", `cd "$2"; cp "$1/package.json" "$1/package-lock.json" "$1/.npmrc" .; npm ci --no-progress`, "sh", from, "{dir}",
	}, nil)
}

// installPython brings what the requirements name into the cache and returns the
// directory for PYTHONPATH.
func installPython(ctx context.Context) (string, error) {
	requirements := filepath.Join("python", "requirements.txt")
	dir, err := cached("grpcio", requirements)
	if err != nil {
		return "", err
	}
	return dir, fetch.Install(ctx, dir, []string{
		"python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
		"--target", "{dir}", "-r", requirements,
	}, nil)
}

// cached is a directory of the cache that is another one for another content of file.
func cached(name, file string) (string, error) {
	cache, err := fetch.CacheDir()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:6])), nil
}
