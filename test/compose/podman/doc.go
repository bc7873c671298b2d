// Package podman builds the image and runs docker-compose.yml with podman, TLS everywhere, as its first lines say: to the first routed
// request. `make image-test` and `make compose-test` run it; it is no part of `make test`, as it needs root and a container engine.
package podman
