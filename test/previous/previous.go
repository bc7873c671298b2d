// Package previous says which release an upgrade begins with, for tests: the last one, or a commit while there is none.
package previous

// Commit is where its programs are built from.
const Commit = "55cef504f3243435ad7a58455fdb1fdbbe7d9e22"

// Number is that of its last migration. Tables and Functions are what it has under that number, as package migrations hashes it.
const (
	Number    = 24
	Tables    = "09dafc5dd68e6526"
	Functions = "6c8a1cb1c5dfcd18"
)
