package redact

import (
	"strings"
	"unicode/utf8"
)

// Words takes the values and every private key out of a text in which somebody else may
// have quoted them: as they are, with the escapes of C, JSON or text format, escaped
// twice, or as base64; whole or in part. Its cost grows with the text and with the sum
// of the values.
func (v *Values) Words(text string) string {
	text = Keys(text)
	if len(v.values) == 0 || text == "" {
		return text
	}
	found := make([]bool, len(text)) // of each byte, whether it is part of a value
	all := layers(text)
	for value := range v.values {
		for _, form := range forms([]byte(value)) {
			for i := range all {
				all[i].find(form, found)
			}
		}
	}
	return replace(text, found)
}

// replace puts Mark in the place of each run of what was found.
func replace(text string, found []bool) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && found[i] == found[from] {
			i++
		}
		if found[from] {
			out.WriteString(Mark)
		} else {
			out.WriteString(text[from:i])
		}
	}
	return out.String()
}

// Keys takes private keys as PEM out of a text, from their first line to their last or, if
// that is not there, to the end of the text; and all base64 of PEM.
func Keys(text string) string {
	var out strings.Builder
	from, inside := 0, false
	for _, at := range pemLine.FindAllStringSubmatchIndex(text, -1) {
		begins := text[at[2]:at[3]] == "BEGIN"
		switch {
		case begins && !inside:
			out.WriteString(text[from:at[0]] + Mark)
		case !begins && !inside: // the first line was cut off
			out.Reset()
			out.WriteString(Mark)
		}
		from, inside = at[1], begins
	}
	if !inside {
		out.WriteString(text[from:])
	}
	return encodedKeys(out.String())
}

// encodedPEM is base64 of "-----BEGIN".
const encodedPEM = "LS0tLS1CRUdJTi"

func encodedKeys(text string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, encodedPEM)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:i] + Mark)
		text = strings.TrimLeftFunc(text[i:], func(r rune) bool { return r < utf8.RuneSelf && inToken(byte(r)) || r == '\\' })
	}
}
