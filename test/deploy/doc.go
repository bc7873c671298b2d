// Package deploy holds the tests of the Dockerfile and of the database's roles, which run without
// a container engine.
package deploy
