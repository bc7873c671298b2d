//go:build !race

package world

// raced says that the tests are built with the race detector.
const raced = false
