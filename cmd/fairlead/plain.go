package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// plain makes a text safe to print on a line of a terminal. Much of what is printed was
// written by others - a node's error text, a resource's name - and control characters in
// it could move the cursor, set the title or hide what stands there; characters of
// direction could show it in another order. What breaks a line becomes a space.
func plain(s string) string { return strings.TrimSpace(plainLine(s)) }

// plainLine is plain of a line whose spaces at the ends matter.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case invisible(r):
			return -1
		}
		return r
	}, s)
}

// invisible holds for control characters (C0, DEL, C1) and for those of format, among
// them the ones that turn the direction of writing.
func invisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// plainJSON does the same for a valid JSON text, and loses nothing: what a terminal must
// not see stands only in strings there, and is written as an escape.
func plainJSON(in []byte) []byte {
	var b strings.Builder
	b.Grow(len(in))
	for _, r := range string(in) {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteRune(r)
		case !invisible(r) && !unicode.In(r, unicode.Zl, unicode.Zp):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

// plainYAML does the same for YAML of documentYAML, in which what a terminal must not see stands only in double quotes.
func plainYAML(in []byte) []byte {
	hidden := func(r rune) bool { return r != '\n' && (invisible(r) || unicode.In(r, unicode.Zl, unicode.Zp)) }
	if !bytes.ContainsFunc(in, hidden) {
		return in
	}
	var b bytes.Buffer
	b.Grow(len(in))
	for _, r := range string(in) {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.Bytes()
}
