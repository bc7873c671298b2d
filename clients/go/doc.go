// Package client is the Go client of the API, generated from openapi.yaml: one method for each operation. What is
// written by hand is WithToken, and Check, which makes an error of a problem document.
package client

//go:generate ../../.bin/oapi-codegen -config config.yaml ../../openapi.yaml
