package grpcclients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fairlead/internal/fetch"
	"fairlead/test/world"
)

// The packages of the clients.
var nodeModules, pythonPath string

func TestMain(m *testing.M) {
	// The programs are built without the race detector: test/e2e has it, and here a test
	// starts so many of them that it would double the time.
	world.Main(m, world.Suite{Name: "grpc", Prepare: prepare})
}

func prepare(ctx context.Context) (err error) {
	if nodeModules, err = installNode(ctx); err != nil {
		return fmt.Errorf("install grpc-js with npm: %w", err)
	}
	if pythonPath, err = installPython(ctx); err != nil {
		return fmt.Errorf("install grpcio with pip: %w", err)
	}
	return world.Build(ctx, "goclient", ".")
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
