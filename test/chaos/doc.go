// Package chaos has servers, their database and clients fail in ways that a seed chooses, while all of them write down what they did, and
// checks afterwards whether these histories go together.
package chaos
