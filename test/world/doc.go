// Package world is the installation that the tests of the whole product share: a real
// Postgres, our servers as processes, a real Envoy, and a tap on the wire between them.
package world
