// Package contract asks a running API server what openapi.yaml allows and forbids.
package contract
