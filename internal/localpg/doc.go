// Package localpg finds or fetches a Postgres and runs a private one: for `fairlead
// dev`, which keeps its data, and for tests, which throw it away. Nobody but the user
// who runs it can connect without a secret: its Unix socket lies in a directory of mode
// 0700, and TCP, if asked for, is loopback with a password.
package localpg
