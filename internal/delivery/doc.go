// Package delivery keeps what nodes have confirmed and refused, and tells it by
// exception: a few rows per revision, whatever the number of nodes (SEMANTICS 6). The
// Recorder never blocks a stream; what it holds is state and not a queue of events, so
// that a database that is away costs memory for the nodes that there are and no more.
//
// What is recorded of one fleet is a fleetStatus, and has four rooms: progress (where the
// fleet is and what the server has settled), roster (its nodes), outbox (refusals and
// their ends on their way) and rhythm (when it is reported). One rule for all of them: a
// room has no lock and knows none of the others; fleetStatus alone calls it, with its
// mutex held. What is flushed is in a report that was given to the sink; it is acked when
// the sink has answered that it holds it.
//
// A report looks at the nodes to which something happened (checks) and at those that the
// server's settled revision has passed, which it finds by what they have settled (levels).
// A revision that all nodes confirm is a move between two levels and no look at any.
package delivery
