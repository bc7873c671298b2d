// Package kubernetes tells which endpoints the Services of a Kubernetes cluster have. It watches their EndpointSlices, and
// writes nothing to that cluster. It is a package of its own because client-go is large: only "fairlead discover" has it.
package kubernetes
