package selector

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// value reads a value, quoted or not.
func (p *parser) value() (string, error) {
	if p.at(`"`) {
		v, err := p.quoted()
		if err == nil && !p.ends() {
			return "", p.fail(p.pos, `after a quoted value stands a comma, a ) or the end: put the whole value in one pair of double quotes, and write a quote in it as \"`)
		}
		return v, err
	}
	start := p.pos
	v := p.run(valueRune)
	switch {
	case !p.ends() || p.at("("):
		return "", p.mustQuote(start)
	case v == "":
		return "", p.fail(start, `a value is missing: write one, or "" for the empty text`)
	case v[0] == '~':
		return "", p.fail(start, "a value that begins with ~ stands in double quotes: write %s, or ^= for a prefix; there is no operator =~", quote(v))
	}
	return v, nil
}

// ends reports whether a value may end here.
func (p *parser) ends() bool {
	r, _ := p.rune()
	return p.done() || isSpace(r) || r == ',' || r == ')' || r == '('
}

// mustQuote is about a character that cannot stand in the value that began at start.
func (p *parser) mustQuote(start int) error {
	at := p.pos
	r, _ := p.rune()
	p.run(func(r rune) bool { return !isSpace(r) && !strings.ContainsRune(`,()"`, r) })
	whole := p.text[start:p.pos]
	switch {
	case r == '(' && at == start:
		return p.fail(at, "one value stands after an operator: write in (x,y) or notin (x,y) for a list")
	case r == '*':
		return p.fail(at, "* is no wildcard: write ^= for a prefix, or %s for the character", quote(whole))
	case r == '\'' && at == start:
		return p.fail(at, "texts stand in double quotes: write \" instead of '")
	case !unicode.IsPrint(r):
		return p.fail(at, "%U cannot be seen: put the value in double quotes and write %s", r, escaped(r))
	case r == '(' || r == '"':
		return p.fail(at, `%c stands in double quotes: put the whole value into them, and write a quote in it as \"`, r)
	}
	return p.fail(at, "%c stands in double quotes: write %s", r, quote(whole))
}

// noOperator is about what stands after a key instead of an operator.
func (p *parser) noOperator(keyEnd int, word string) error {
	r, _ := p.rune()
	switch {
	case word == "not":
		return p.fail(p.pos, "not is no operator: write notin (x,y), or != for one value")
	case strings.EqualFold(word, "in") || strings.EqualFold(word, "notin"):
		return p.fail(p.pos, "operators are in small letters: write %s", strings.ToLower(word))
	case r == '<' || r == '>':
		return p.fail(p.pos, "labels are texts and have no order: write = and the value, in (x,y), or ^= for a prefix")
	case r == '^' || r == '!' || r == '~':
		return p.fail(p.pos, "%c alone is no operator: write ^= for a prefix, != for every other value", r)
	case word == "" && p.pos == keyEnd && r != '(' && r != ')':
		return p.fail(p.pos, `names in a key hold letters, digits, _ and -: put another one in double quotes, as in metadata."app.example/name"`)
	}
	return p.fail(p.pos, "after a key stands =, !=, ^=, in (x,y), notin (x,y), a comma or the end: write one of them")
}

// quoted reads a JSON string. What cannot be seen has to be escaped in it.
func (p *parser) quoted() (string, error) {
	start := p.pos
	p.pos++
	var b strings.Builder
	for !p.done() {
		at := p.pos
		r, size := p.rune()
		p.pos += size
		switch {
		case r == '"':
			return b.String(), nil
		case r == '\\':
			var err error
			if r, err = p.escape(at); err != nil {
				return "", err
			}
		case !unicode.IsPrint(r):
			return "", p.fail(at, "%U cannot be seen: write %s", r, escaped(r))
		}
		b.WriteRune(r)
	}
	return "", p.fail(start, "the text that begins here has no end: write a double quote after it")
}

// short are the escapes of one letter.
var short = map[rune]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads what stands after a backslash.
func (p *parser) escape(at int) (rune, error) {
	if !p.take("u") {
		r, size := p.rune()
		c, ok := short[r]
		if !ok {
			return 0, p.fail(at, `there is no such escape: write \\ for a backslash, \" for a quote, \n, \r, \t, or \u and four hexadecimal digits`)
		}
		p.pos += size
		return c, nil
	}
	r, ok := p.hex()
	if ok && utf16.IsSurrogate(r) {
		var low rune
		if p.take(`\u`) {
			low, _ = p.hex()
		}
		r = utf16.DecodeRune(r, low)
		ok = r != unicode.ReplacementChar
	}
	if !ok {
		return 0, p.fail(at, `after \u stand four hexadecimal digits, and a second such escape if the first is half a pair: write \u00e9, or the character itself`)
	}
	return r, nil
}

// hex reads four hexadecimal digits.
func (p *parser) hex() (rune, bool) {
	if len(p.text)-p.pos < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.pos:p.pos+4], 16, 16)
	if err != nil {
		return 0, false
	}
	p.pos += 4
	return rune(n), true
}
