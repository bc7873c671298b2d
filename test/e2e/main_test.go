package e2e

import (
	"fmt"
	"os"
	"testing"

	"fairlead/test/world"
)

func TestMain(m *testing.M) {
	if os.Getenv(swarmEnv) != "" {
		if err := runSwarm(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "swarm:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if order := os.Getenv(floodEnv); order != "" {
		if err := runFlood(order, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "flood:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if order := os.Getenv(listEnv); order != "" {
		if err := runList(order, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "list:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	world.Main(m, world.Suite{Name: "e2e", Race: true})
}
