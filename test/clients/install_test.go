package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"fairlead/internal/fetch"
	"fairlead/test/world"
)

// buildTypeScript compiles the client and its example, in a copy beside which its packages lie.
func buildTypeScript(ctx context.Context) error {
	from := filepath.Join(root, "clients", "typescript")
	packages, err := installNode(ctx, from)
	if err != nil {
		return err
	}
	to := world.Bin("typescript")
	for _, part := range []string{"src", "example", "test"} {
		if err := os.CopyFS(filepath.Join(to, part), os.DirFS(filepath.Join(from, part))); err != nil {
			return err
		}
	}
	for _, file := range []string{"package.json", "tsconfig.json"} {
		text, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, file), text, 0o644); err != nil {
			return err
		}
	}
	if err := os.Symlink(packages, filepath.Join(to, "node_modules")); err != nil {
		return err
	}
	tsc := exec.CommandContext(ctx, "node", filepath.Join("node_modules", "typescript", "bin", "tsc"))
	tsc.Dir = to
	if out, err := tsc.CombinedOutput(); err != nil {
		return fmt.Errorf("tsc: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// installNode brings what the lock file names into the cache and returns its node_modules.
func installNode(ctx context.Context, from string) (string, error) {
	dir, err := cached("typescript-client", filepath.Join(from, "package-lock.json"))
	if err != nil {
		return "", err
	}
	from, err = filepath.Abs(from)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "node_modules"), fetch.Install(ctx, dir, []string{
		"sh", "-ec", `cd "$2"; cp "$1/package.json" "$1/package-lock.json" "$1/.npmrc" .; npm ci --no-progress`, "sh", from, "{dir}",
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

// pythonPath has the Python client and what it needs.
var pythonPath string

// installPython brings what the requirements name into the cache.
func installPython(ctx context.Context) error {
	client, err := filepath.Abs(filepath.Join(root, "clients", "python"))
	if err != nil {
		return err
	}
	requirements := filepath.Join(client, "requirements.txt")
	dir, err := cached("python-client", requirements)
	if err != nil {
		return err
	}
	pythonPath = client + string(filepath.ListSeparator) + dir
	return fetch.Install(ctx, dir, []string{
		"python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
		"--target", "{dir}", "-r", requirements,
	}, nil)
}
