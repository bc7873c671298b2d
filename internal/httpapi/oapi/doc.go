// Package oapi is generated from openapi.yaml: the types of the API, the router and
// the interface that package httpapi implements.
package oapi

//go:generate ../../../.bin/oapi-codegen -config config.yaml ../../../openapi.yaml
