package clients

import (
	"context"
	"path/filepath"
	"testing"

	"fairlead/test/world"
)

func TestMain(m *testing.M) {
	world.Main(m, world.Suite{Name: "clients", Prepare: prepare})
}

func prepare(ctx context.Context) error {
	return world.Build(ctx, filepath.Join("..", ".."), "./clients/go/example")
}
