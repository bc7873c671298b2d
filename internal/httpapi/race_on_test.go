//go:build race

package httpapi

// raceFactor is by how much the race detector may slow a measured time.
const raceFactor = 15
