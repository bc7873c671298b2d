package store

import (
	"slices"
	"unicode/utf8"
)

// behind is the first text behind all that begin with prefix, in the order of bytes, so that an
// index finds where they end. Behind all names where there is none.
func behind(prefix string) string {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := len(runes) - 1
		switch r := runes[last] + 1; {
		case r > utf8.MaxRune:
			runes = runes[:last]
			continue
		case r == 0xD800: // half surrogates are no characters
			runes[last] = 0xE000
		default:
			runes[last] = r
		}
		return string(runes)
	}
	return string(slices.Repeat([]rune{utf8.MaxRune}, MaxName/utf8.UTFMax+1))
}
