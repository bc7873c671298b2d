// Package podman builds the image, runs docker-compose.yml as its first lines say, TLS everywhere, and installs the Debian package, each with
// podman; the last two are upgraded. `make image-test`, `make compose-test` and `make debian-test` run it. It is no part of `make test`, as it
// needs root and a container engine.
package podman
