// Package migrations holds the database's schema as golang-migrate files, and the
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

// FS holds the migrations, NNNN_name.up.sql and NNNN_name.down.sql.
//
//go:embed *.sql
var FS embed.FS

// Roles creates the three roles and what bounds their sessions. It is no migration:
// roles belong to the cluster and not to a database, and creating them takes rights
// that the owner of the schema need not have. It can run again at any time.
//
//go:embed roles/roles.sql
var Roles string

// Latest is the version that a database has after all migrations. A server needs a
// database of at least this version.
func Latest() uint {
	var latest uint64
	for _, name := range files() {
		n, err := strconv.ParseUint(name[:strings.IndexByte(name, '_')], 10, 32)
		if err == nil && n > latest {
			latest = n
		}
	}
	return uint(latest)
}

// Hash names the content of all files: databases made from equal hashes are equal.
func Hash() string {
	h := sha256.New()
	h.Write([]byte(Roles))
	for _, name := range files() {
		text, err := FS.ReadFile(name)
		if err != nil {
			panic(err) // the files are part of the program
		}
		h.Write([]byte(name))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// files returns the names of all migrations, sorted.
func files() []string {
	names, err := fs.Glob(FS, "*_*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return names
}
