package chaos

import (
	"testing"

	"fairlead/test/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Suite{Name: "chaos", Race: true}) }
