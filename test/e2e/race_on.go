//go:build race

package e2e

// raceFlags build the servers as the tests are built, so that one build cache serves both.
var raceFlags = []string{"-race"}
