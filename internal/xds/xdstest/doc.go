// Package xdstest puts an xds.Server behind an in-memory connection and scripts its
// clients, with grpc's own stubs and codec: what it sees is what any client sees.
package xdstest
