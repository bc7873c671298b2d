// Package httpapi serves the REST API of openapi.yaml: it authenticates, decides what a
// role may do, turns documents into compiled resources and store calls, and turns every
// error into one shape of problem. It is the only place where a kind of error becomes a
// status, and nothing internal passes it.
package httpapi
