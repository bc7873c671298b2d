// Package deploy holds the tests of Dockerfile and docker-compose.yml, which run without
// a container engine.
package deploy
