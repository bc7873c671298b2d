// Package doctor looks for usual faults between a proxy, the servers and the database, and says what to do about each.
package doctor
