// Package snapshot turns a fleet's resources at one revision into what its nodes
// should hold, and decides, for one client, what to send next. It does no I/O and
// holds no locks: everything shared is immutable.
//
// A Resource is encoded once and shared by every set, node and stream. A Set is a
// persistent map, so that deriving the next one costs what changed and comparing two
// costs what differs. A Client is what one stream knows of its client, type by type;
// Next compares that with a Target and names the next response.
package snapshot
