// Package conformance says what the rules of the xDS protocol mean, as checks that are
// run against an xDS server through a scripted client: against ours by the tests of
// package xds, against others by this package's own, which keep docs/protocol.md true.
package conformance
