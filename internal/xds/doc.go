// Package xds is the stream engine: it speaks the xDS transport protocol to clients,
// in state of the world and delta. It owns streams, subscriptions and the wire, and
// declares the few interfaces by which it learns who a client is and what the client
// should hold; what to send next is decided by package snapshot.
package xds
