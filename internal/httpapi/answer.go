package httpapi

import (
	"errors"
	"strconv"
	"time"

	"fairlead/internal/redact"
	"fairlead/internal/store"
)

// The longest texts, in bytes.
const (
	maxTitle   = 256
	maxText    = 4096
	maxName    = store.MaxName
	maxMessage = 1024
)

// databasePatience is how long a health check waits for the database.
const databasePatience = 1500 * time.Millisecond

// each never returns nil: an empty list is answered as [].
func each[T, U any](in []T, f func(T) U) []U {
	out := make([]U, 0, len(in))
	for _, x := range in {
		out = append(out, f(x))
	}
	return out
}

func next(c cursor) *string {
	s := c.String()
	return &s
}

// optional is nil for the zero value, so that the field is left out.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func optionalMap(m map[string]string) *map[string]string {
	if len(m) == 0 {
		return nil
	}
	return &m
}

func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// textField refuses what a field of a small body cannot hold, and a private key in it. The
// contract counts characters, the database bytes.
func textField(pointer, s string, most int) error {
	if !plainText(s) {
		return badField(pointer, "invalid_text", "a text is UTF-8 without NUL")
	}
	if len(s) > most {
		return badField(pointer, "too_long", "at most "+strconv.Itoa(most)+" bytes")
	}
	if redact.PrivateKey(s) {
		return badField(pointer, "inline_key", inlineKey)
	}
	return nil
}

// textParameter does the same for a parameter.
func textParameter(name, s string, most int) error {
	var p *problem
	if err := textField("", s, most); errors.As(err, &p) {
		return badParameter(name, p.faults[0].Code, p.faults[0].Detail)
	}
	return nil
}

// inlineKey is what an apply says of it, too.
const inlineKey = "there is a private key in this text, which is stored and shown in the clear: leave it out"
