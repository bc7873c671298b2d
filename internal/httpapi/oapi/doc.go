// Package oapi is generated from openapi.yaml: the types of the API, the router and
// the interface that package httpapi implements, whose handlers get who calls as an argument.
package oapi

//go:generate ../../../.bin/oapi-codegen -config config.yaml ../../../openapi.yaml
//go:generate go run gen.go
