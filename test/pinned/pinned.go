// Package pinned has tests draw the same each time, so that one that fails tells of the change, and not of what was drawn. "make soak" draws
// anew: with -rapid.seed=0, or as FAIRLEAD_SOAK is set. Every package whose tests use rapid imports it.
package pinned

import (
	"flag"
	"math/rand/v2"
	"os"

	_ "pgregory.net/rapid" // whose flag it sets
)

func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// Seed is that of a test which draws without rapid, and tells it if it fails.
func Seed() uint64 {
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		return rand.Uint64()
	}
	return 1
}
