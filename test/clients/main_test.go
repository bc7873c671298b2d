package clients

import (
	"context"
	"fmt"
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
	if err := world.Build(ctx, root, "./clients/go/example"); err != nil {
		return err
	}
	if err := buildTypeScript(ctx); err != nil {
		return fmt.Errorf("build the TypeScript client: %w", err)
	}
	if err := installPython(ctx); err != nil {
		return fmt.Errorf("install what the Python client needs with pip: %w", err)
	}
	return nil
}
