package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fairlead/test/world"
)

// root is the folder of the repository.
var root = filepath.Join("..", "..")

func TestMain(m *testing.M) {
	world.Main(m, world.Suite{Name: "clients", Prepare: prepare})
}

func prepare(ctx context.Context) error {
	if err := buildGo(ctx); err != nil {
		return fmt.Errorf("build a program that uses the Go client: %w", err)
	}
	if err := buildTypeScript(ctx); err != nil {
		return fmt.Errorf("build the TypeScript client: %w", err)
	}
	if err := installPython(ctx); err != nil {
		return fmt.Errorf("install what the Python client needs with pip: %w", err)
	}
	return nil
}

// buildGo builds the example as a program of somebody else: in a module of its own, which has nothing of ours but the client's.
func buildGo(ctx context.Context) error {
	module, err := filepath.Abs(filepath.Join(root, "clients", "go"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fairlead-example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is a temporary folder
	example := filepath.Join(dir, "example")
	files := map[string]string{filepath.Join(module, "example", "main.go"): filepath.Join(example, "main.go"), filepath.Join(module, "go.sum"): filepath.Join(example, "go.sum"), filepath.Join(module, "go.mod"): filepath.Join(example, "go.mod")}
	if err := os.Mkdir(example, 0o700); err != nil {
		return err
	}
	for from, to := range files {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	edit := exec.CommandContext(ctx, "go", "mod", "edit", "-module=example.com/example", "-require=fairlead/clients/go@v0.0.0", "-replace=fairlead/clients/go="+module)
	edit.Dir, edit.Stdout, edit.Stderr = example, os.Stderr, os.Stderr
	if err := edit.Run(); err != nil {
		return err
	}
	return world.Build(ctx, example, ".")
}
