package selector

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// plainMarks are the marks that may stand in a value without quotes.
const plainMarks = "-_./:@~+%#[]"

// nameRune may stand in a key's name without quotes.
func nameRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// valueRune may stand in a value without quotes.
func valueRune(r rune) bool {
	return nameRune(r) || r < 0x80 && strings.ContainsRune(plainMarks, r) || r >= 0x80 && unicode.IsSymbol(r)
}

func plainName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !nameRune(r) }) < 0
}

func plainValue(s string) bool {
	return s != "" && s[0] != '~' && strings.IndexFunc(s, func(r rune) bool { return !valueRune(r) }) < 0
}

// written is the text as it stands in a selector: quoted unless it is plain.
func written(s string, plain func(string) bool) string {
	if plain(s) {
		return s
	}
	return quote(s)
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escaped(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escaped is a character that cannot be seen, as it is written in a quoted text.
func escaped(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
