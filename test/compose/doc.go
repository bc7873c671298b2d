// Package compose holds the tests of docker-compose.yml, which run without a container engine. It is a module of its
// own: what reads the file is for these tests alone.
package compose
