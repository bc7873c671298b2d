package alerts

import (
	"context"
	"testing"

	"fairlead/test/world"
)

func TestMain(m *testing.M) {
	world.Main(m, world.Suite{Name: "alerts", Prepare: func(ctx context.Context) error {
		return world.Build(ctx, "../../tools/promrules", ".")
	}})
}
