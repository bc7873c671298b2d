// Package planner decides what goes out next on a stream: once for all streams that stand in
// the same place. It does no I/O, calls nobody back and knows no clock but what is passed in.
//
// A Position is what a stream is as a comparable value; a step is a function of a position
// and a target, worked out once and remembered with the target. A Record is what a stream
// has of its own beside it, nil for nearly all. A Client has both, and the doors: Request, Ack, Nack,
// Sent and Opened tell what happened, Step says what to do. docs/planner.md explains it.
package planner
