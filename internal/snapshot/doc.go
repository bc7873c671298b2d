// Package snapshot holds what a fleet's resources are at one revision and what its nodes
// should hold of them. It does no I/O and decides nothing: everything here is immutable
// and shared.
//
// A Resource is encoded once and shared by every set, node and stream. A Set is a
// persistent map, so that deriving the next one costs what changed and comparing two
// costs what differs. A Target is what one node should hold: a Snapshot with exceptions.
package snapshot
