//go:build race

package planner_test

import "flag"

// One goroutine plays a random history, in which the race detector finds nothing, and slows it many times over: a tenth of them is
// played with it. "make soak" plays all.
func init() {
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}
