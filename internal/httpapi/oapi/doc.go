// Package oapi is generated from openapi.yaml: the types of the API, the router and
// the interface that package httpapi implements. Its handlers get who calls as an argument:
// strict-http.tmpl is the tool's own template with that.
package oapi

//go:generate ../../../.bin/oapi-codegen -config config.yaml ../../../openapi.yaml
