// Package migrations holds the database's schema: the tables as golang-migrate files, the
// functions and triggers as files that are laid anew whenever one of them changes, and the
// roles that they expect. It does no I/O but reading its own embedded files.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"strconv"
	"strings"
)

// FS holds the numbered migrations, NNNN_name.up.sql: types, tables, indexes, row security
// and rights to tables. There is no way down: schemas only expand, so that the program of
// before goes on with them.
//
//go:embed *.up.sql
var FS embed.FS

//go:embed functions/*.sql
var functions embed.FS

// Triggers are all triggers, each created or replaced. To lay them locks their tables.
//
//go:embed triggers.sql
var Triggers string

// Rights says who may call which function. It takes away all other rights to functions.
//
//go:embed rights.sql
var Rights string

// Roles creates the three roles and what bounds their sessions. It is no migration:
// roles belong to the cluster and not to a database, and creating them takes rights
// that the owner of the schema need not have. It can run again at any time.
//
//go:embed roles/roles.sql
var Roles string

// File is one file of SQL.
type File struct{ Name, SQL string }

// Functions are all functions, each created or replaced. They name each other across files.
// To lay them locks nothing.
func Functions() []File { return read(functions, "functions/*.sql") }

// Latest is the version that a database has after all numbered migrations. A server needs
// a database of at least this version.
func Latest() uint {
	var latest uint
	for _, f := range read(FS, "*.up.sql") {
		latest = max(latest, f.number())
	}
	return latest
}

// TablesHash names the content of the numbered migrations up to one.
func TablesHash(upTo uint) string {
	var ran []File
	for _, f := range read(FS, "*.up.sql") {
		if f.number() <= upTo {
			ran = append(ran, f)
		}
	}
	return hash(ran...)
}

// FunctionsHash names the content of all that is laid after the tables: Functions, Triggers
// and Rights.
func FunctionsHash() string {
	return hash(append(Functions(), File{SQL: Triggers}, File{SQL: Rights})...)
}

// TriggersHash names the content of Triggers alone.
func TriggersHash() string { return hash(File{SQL: Triggers}) }

// Hash names the content of all files: databases made from equal hashes are equal.
func Hash() string {
	return hash(File{SQL: Roles}, File{SQL: TablesHash(Latest())}, File{SQL: FunctionsHash()})
}

func hash(files ...File) string {
	h := sha256.New()
	for _, f := range files {
		h.Write([]byte(f.Name))
		h.Write([]byte(f.SQL))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// number is of a numbered migration.
func (f File) number() uint {
	n, err := strconv.ParseUint(f.Name[:strings.IndexByte(f.Name, '_')], 10, 32)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return uint(n)
}

// read returns the files that match, sorted by name.
func read(files embed.FS, pattern string) []File {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	out := make([]File, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // the files are part of the program
		}
		out[i] = File{name, string(text)}
	}
	return out
}
