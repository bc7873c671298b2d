package fleet

import (
	"errors"
	"strings"
)

// The kinds of errors. Every error that crosses a package is one of them or wraps
// one of them; the HTTP layer and the stream engine alone turn a kind into a status.
var (
	ErrInvalid         = errors.New("invalid")
	ErrNotFound        = errors.New("not found")
	ErrConflict        = errors.New("conflict")
	ErrPrecondition    = errors.New("precondition failed") // a stale If-Match, an unexpected revision
	ErrUnauthenticated = errors.New("unauthenticated")
	ErrForbidden       = errors.New("forbidden")
	ErrLimit           = errors.New("limit exceeded")
	ErrUnavailable     = errors.New("unavailable") // the database cannot be reached, a fleet is not loaded yet
)

// Sentence is an error's text for people: without the kind at its end, which is for
// programs.
func Sentence(err error) string {
	text := err.Error()
	for _, kind := range []error{ErrInvalid, ErrNotFound, ErrConflict, ErrPrecondition, ErrUnauthenticated, ErrForbidden, ErrLimit, ErrUnavailable} {
		if cut, ok := strings.CutSuffix(text, ": "+kind.Error()); ok && cut != "" {
			return cut
		}
	}
	return text
}
