// Package kubetest is a Kubernetes API for tests: it lists and watches EndpointSlices and pods over TLS as an API server does, and fails as one does.
package kubetest
