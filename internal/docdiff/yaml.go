package docdiff

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// bare is a text that is a text to every reader of YAML without quotes.
var bare = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

// words are those that some readers of YAML take for a boolean, a null or a number.
var words = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true, "nan": true, "inf": true}

// yamlText writes a text on one line: nothing in it is invisible or moves a cursor.
func yamlText(s string) string {
	if bare.MatchString(s) && !words[strings.ToLower(s)] {
		return s
	}
	var b strings.Builder
	for _, r := range string(quote(s)) {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func keyText(key string) string { return yamlText(key) + ":" }

// inline writes a value that stands on one line.
func (n *node) inline() (string, bool) {
	switch {
	case n.kind == scalar:
		return n.raw, true
	case n.kind == text && !isBlock(n.text):
		return yamlText(n.text), true
	case n.kind == object && len(n.members) == 0:
		return "{}", true
	case n.kind == list && len(n.items) == 0:
		return "[]", true
	}
	return "", false
}

// rows are the lines of a text that stands as a block.
func (n *node) rows() []string { return strings.Split(strings.TrimSuffix(n.text, "\n"), "\n") }

// isBlock reports whether a text of several lines, such as a script, can stand as a block: no
// spaces that a block would take for its own, nothing that needs an escape.
func isBlock(s string) bool {
	if !strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.TrimLeft(s, " \t\n") != s {
		return false
	}
	for row := range strings.Lines(s) {
		row = strings.TrimSuffix(row, "\n")
		if strings.TrimRight(row, " \t") != row || strings.HasPrefix(row, "\t") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}
