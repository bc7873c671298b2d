package resource

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func (s *scanner) number(at *path) (string, error) {
	start := s.pos
	if s.in[s.pos] == '-' {
		s.pos++
	}
	whole := s.digits()
	good := whole == 1 || whole > 1 && s.in[s.pos-whole] != '0'
	if s.pos < len(s.in) && s.in[s.pos] == '.' {
		s.pos++
		good = s.digits() > 0 && good
	}
	if s.pos < len(s.in) && (s.in[s.pos] == 'e' || s.in[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.in) && (s.in[s.pos] == '+' || s.in[s.pos] == '-') {
			s.pos++
		}
		good = s.digits() > 0 && good
	}
	if !good {
		return "", s.syntax(at, "this is not a JSON number")
	}
	return string(s.in[start:s.pos]), nil
}

func (s *scanner) digits() (n int) {
	for s.pos < len(s.in) && s.in[s.pos] >= '0' && s.in[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

func (s *scanner) str(at *path) (string, error) {
	s.pos++ // "
	start := s.pos
	for ; s.pos < len(s.in); s.pos++ { // the usual text has no escapes: no copy byte by byte
		if c := s.in[s.pos]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	out := s.in[start:s.pos:s.pos]
	for s.pos < len(s.in) {
		switch c := s.in[s.pos]; {
		case c == '"':
			s.pos++
			if !utf8.Valid(out) {
				return "", s.syntax(at, "the text before this is not valid UTF-8")
			}
			return string(out), nil
		case c == '\\':
			r, ok := s.escape()
			if !ok {
				return "", s.syntax(at, "a wrong escape in a text")
			}
			out = utf8.AppendRune(out, r)
		case c < 0x20:
			return "", s.syntax(at, "a control character in a text: write it as \\u00XX")
		default:
			out = append(out, c)
			s.pos++
		}
	}
	return "", s.syntax(at, "the closing quote is missing")
}

var shortEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads a backslash and what follows. A surrogate without its other half is not
// a character and is refused.
func (s *scanner) escape() (rune, bool) {
	if s.pos+1 >= len(s.in) {
		return 0, false
	}
	if r, ok := shortEscapes[s.in[s.pos+1]]; ok {
		s.pos += 2
		return r, true
	}
	r, ok := s.unicode()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	low, ok := s.unicode()
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError
}

func (s *scanner) unicode() (rune, bool) {
	if s.pos+6 > len(s.in) || s.in[s.pos] != '\\' || s.in[s.pos+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s.in[s.pos+2:s.pos+6]), 16, 16)
	if err != nil {
		return 0, false
	}
	s.pos += 6
	return rune(v), true
}
