// Package xds holds the few facts of xDS that the clients and the servers of the bench
// share: resource kinds, gRPC methods, and the marker by which a change is recognised.
package xds
