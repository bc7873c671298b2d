// Package schema writes the JSON Schema (draft 2020-12) of Envoy's messages, made of their descriptors
// and of the rules of protoc-gen-validate in them. It does no I/O.
package schema
