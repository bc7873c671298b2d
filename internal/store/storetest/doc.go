// Package storetest gives every test a database of its own, of the real Postgres: one
// private cluster per test process, one clone of a migrated template per test.
package storetest
