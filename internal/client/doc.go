// Package client is the Go client of the API, generated from openapi.yaml.
package client

//go:generate ../../.bin/oapi-codegen -config config.yaml ../../openapi.yaml
