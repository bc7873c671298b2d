// Package envoytypes registers every v3 message of Envoy's API, so that an Any of
// any extension can be read from and written as proto3 JSON.
//
// It is imported for its effect by the commands and by the few packages and tests
// that decode resource bodies. It stands alone because it costs: linking it takes
// about a second and 0.6 GB a binary.
package envoytypes

//go:generate go run gen.go
