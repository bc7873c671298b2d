// Package bootstrap writes the file that an xDS client starts with, an Envoy, a relay
// before gRPC clients or a gRPC client itself: how it reaches Fairlead, as whom, and
// nothing else. What it writes ran with the real client, and is tried with it in the
// tests.
package bootstrap
