// Package podman runs docker-compose.yml with podman, TLS everywhere, as its first lines say: to the first routed
// request. `make compose-test` runs it; it is no part of `make test`, as it needs root and a container engine.
package podman
