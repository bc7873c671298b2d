// Package e2e holds the tests of the whole product: the real servers as processes, a
// real Postgres, a real Envoy. Between Envoy and the servers stands a tap that sees
// every request and response and can hold them back.
package e2e
