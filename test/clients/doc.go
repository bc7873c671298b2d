// Package clients runs the example of every client in clients/ against a real installation with a real Envoy,
// and the jobs of docs/ci.md.
package clients
