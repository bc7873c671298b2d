// Package floor is the lower bound of an xDS server on grpc-go: what it says is encoded once,
// and the same bytes go to all streams. It is no control plane: it knows what a well-behaved
// client has, whatever names the client asks for, from one version.
package floor
