package auth

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that must not leave the process by accident: a token, a password, a
// database URL. Every way to print, log or encode it gives "[redacted]"; Reveal is the
// one way to the text, and easy to search for. Two places defeat it, because no method
// is called there: an unexported field printed by fmt, and the key of a map in JSON.
type Secret string

const redacted = "[redacted]"

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]", whatever the verb: without it %x would print the text.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns the JSON string "[redacted]".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns "[redacted]" as a slog string.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
