// Package jsonpointer writes and reads one step of a JSON Pointer (RFC 6901).
package jsonpointer

import "strings"

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1") // section 3
	unescape = strings.NewReplacer("~1", "/", "~0", "~") // section 4
)

// Escape is a key as a pointer has it.
func Escape(key string) string { return escape.Replace(key) }

// Unescape is the key of a step. A ~ that is no escape stays.
func Unescape(step string) string { return unescape.Replace(step) }
