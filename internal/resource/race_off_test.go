//go:build !race

package resource_test

// raceFactor is by how much the race detector may slow a measured time.
const raceFactor = 1
