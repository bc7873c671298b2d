package store

import (
	"errors"
	"fmt"
	"strings"
)

// unfitError is what is wrong with a database that was reached, in words of ours.
type unfitError struct {
	kind error
	text string
}

func (e *unfitError) Error() string { return e.kind.Error() + ": " + e.text }
func (e *unfitError) Unwrap() error { return e.kind }

func unfit(kind error, text string, args ...any) error {
	return &unfitError{kind, fmt.Sprintf(text, args...)}
}

// errOwner is why a migration cannot act as the owner of the tables.
var errOwner = errors.New("it cannot act as " + ownerRole)

// Trouble says why a database cannot be used, and what to do. setting names what holds its URL. All words are ours, without anything of the URL or of what Postgres writes but
// its code: anybody may read them. It is empty for an error that is not of the way to the database.
func Trouble(err error, setting string) string {
	var bad *unfitError
	if errors.As(err, &bad) {
		return bad.text
	}
	code := Code(err)
	switch {
	case code == "" && !isConnection(err):
		return ""
	case code == "":
		return "Postgres does not answer: see that it runs, and that host, port and TLS in " + setting + " are its own"
	case errors.Is(err, errOwner):
		return fmt.Sprintf("Postgres does not let the user of %s act as %s (%s): give the URL of a superuser, or of a member of %s (GRANT %s TO ...); before the first migration that of the database's owner with CREATEROLE is enough",
			setting, ownerRole, code, ownerRole, ownerRole)
	case code == "28P01":
		return fmt.Sprintf("Postgres refuses the password (%s): correct user and password in %s, or set the role's with ALTER ROLE ... PASSWORD", code, setting)
	case strings.HasPrefix(code, "28"):
		return fmt.Sprintf("Postgres does not let the user in (%s): correct the user in %s, or the line for it in pg_hba.conf", code, setting)
	case code == "3D000":
		return fmt.Sprintf("Postgres has no database of that name (%s): make it (CREATE DATABASE), or correct its name in %s", code, setting)
	case code == "42501":
		return fmt.Sprintf("Postgres refuses the user of %s a right (%s): see docs/servers.md for which role it is to be", setting, code)
	case code == "53300":
		return fmt.Sprintf("Postgres has no connection left (%s): raise max_connections, or end who holds them", code)
	case code == "57P03":
		return fmt.Sprintf("Postgres is starting or stopping (%s)", code)
	}
	return fmt.Sprintf("Postgres answers with the error %s: the log has its words", code)
}
