// Package delivery keeps what nodes have confirmed and refused, and tells it by
// exception: a few rows per revision, whatever the number of nodes (SEMANTICS 6). The
// Recorder never blocks a stream; what it holds is state and not a queue of events, so
// that a database that is away costs memory for the nodes that there are and no more.
package delivery
