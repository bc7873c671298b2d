// Package grpcclients holds the tests of the whole product with real clients of every
// bootstrap that it writes: the gRPC implementations of Go, Node and C-core, and Envoy by
// each of its ways. The gRPC clients are programs of their own (goclient, node, python)
// that a test drives line by line.
package grpcclients
