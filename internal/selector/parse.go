package selector

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

const (
	maxLength       = 1 << 10 // of the text, and of its canonical form, in bytes
	maxRequirements = 32
)

// Parse reads a selector. An error is fleet.ErrInvalid and says at which byte, the first
// being 1, what is wrong and what to write instead.
func Parse(text string) (Selector, error) {
	p := &parser{text: text}
	if err := p.check(); err != nil {
		return Selector{}, err
	}
	var rs []requirement
	for {
		p.space()
		if len(rs) == maxRequirements {
			return Selector{}, p.fail(p.pos, "a selector has at most %d requirements: join values of one key by in (...), or set one label in the metadata for all of them", maxRequirements)
		}
		r, err := p.requirement()
		if err != nil {
			return Selector{}, err
		}
		rs = append(rs, r)
		if more, err := p.separator(); err != nil {
			return Selector{}, err
		} else if !more {
			break
		}
	}
	s := newSelector(rs)
	if len(s.text) > maxLength {
		return Selector{}, p.fail(len(text), "with quotes, escapes and spaces as they are stored the selector takes %d bytes, %d is the limit: make it shorter", len(s.text), maxLength)
	}
	return s, nil
}

type parser struct {
	text string
	pos  int
}

// fail makes an error about the byte at the position.
func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("selector, byte %d: %s: %w", at+1, fmt.Sprintf(format, args...), fleet.ErrInvalid)
}

// check looks at the text as a whole.
func (p *parser) check() error {
	if len(p.text) > maxLength {
		return p.fail(maxLength, "a selector takes at most %d bytes, this one %d: make it shorter", maxLength, len(p.text))
	}
	for i, r := range p.text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(p.text[i:]); size == 1 {
				return p.fail(i, "the text is not UTF-8: write it in UTF-8")
			}
		}
	}
	if p.space(); p.done() {
		return p.fail(p.pos, "a selector has at least one requirement: write one, such as node.cluster=edge, or node.id for every node; leave the selector out for the default variant")
	}
	return nil
}

func (p *parser) requirement() (requirement, error) {
	absent := p.take("!")
	p.space()
	k, err := p.key()
	if err != nil {
		return requirement{}, err
	}
	end := p.pos
	p.space()
	at := p.pos
	op, list, err := p.operator(end)
	switch {
	case err != nil:
		return requirement{}, err
	case absent && op != opPresent:
		return requirement{}, p.fail(at, "!%s asks that there be no such label and takes no value: write %s!= and the value, or %s notin (x,y)", k.text, k.text, k.text)
	case absent:
		return requirement{key: k, op: opAbsent}, nil
	case op == opPresent:
		return requirement{key: k, op: op}, nil
	}
	r := requirement{key: k, op: op}
	if list {
		r.values, err = p.list(&r)
	} else {
		r.values = make([]string, 1)
		r.values[0], err = p.valueFor(&r)
	}
	return r, err
}

// operator reads what stands after a key that ended at the position, and whether a list
// of values follows.
func (p *parser) operator(keyEnd int) (op operator, list bool, err error) {
	switch {
	case p.done() || p.at(","):
		return opPresent, false, nil
	case p.take("==") || p.take("="):
		return opIn, false, nil
	case p.take("!="):
		return opNotIn, false, nil
	case p.take("^="):
		return opPrefix, false, nil
	}
	start := p.pos
	switch p.word() {
	case "in":
		return opIn, true, nil
	case "notin":
		return opNotIn, true, nil
	}
	word := p.text[start:p.pos]
	p.pos = start
	return 0, false, p.noOperator(keyEnd, word)
}

// list reads "(" value, value ... ")".
func (p *parser) list(r *requirement) ([]string, error) {
	p.space()
	if !p.take("(") {
		return nil, p.fail(p.pos, "the values after in and notin stand in parentheses: write (x,y), or = and != for one value")
	}
	open := p.pos - 1
	var values []string
	for {
		v, err := p.valueFor(r)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		p.space()
		switch {
		case p.take(","):
		case p.take(")"):
			slices.Sort(values)
			return slices.Compact(values), nil
		case p.done():
			return nil, p.fail(open, "the list that begins here has no end: write ) after the last value")
		default:
			return nil, p.fail(p.pos, "between the values of a list stands a comma: write one, or put a value with spaces in double quotes")
		}
	}
}

// valueFor reads a value, and refuses one that makes the requirement pointless.
func (p *parser) valueFor(r *requirement) (string, error) {
	p.space()
	start := p.pos
	v, err := p.value()
	switch {
	case err != nil:
		return "", err
	case v != "":
		return v, nil
	case r.op == opPrefix:
		return "", p.fail(start, "every text begins with an empty one: write %s alone for nodes that have the label", r.key.text)
	case r.key.field != metadata:
		return "", p.fail(start, "%s is absent or not empty: write !%s for nodes without it, %s alone for nodes with it", r.key.text, r.key.text, r.key.text)
	}
	return "", nil
}

// key reads a key.
func (p *parser) key() (key, error) {
	start := p.pos
	var names []string
	for {
		at := p.pos
		name, err := p.name(len(names) == 0)
		if err != nil {
			return key{}, err
		}
		if names = append(names, name); len(names) > 1+maxDepth {
			return key{}, p.fail(at, "a path into metadata has at most %d names: set a label further up in the metadata", maxDepth)
		}
		if !p.take(".") {
			break
		}
	}
	k, ok := keyOf(names)
	switch {
	case ok:
		return k, nil
	case names[0] == "metadata":
		return key{}, p.fail(start, "metadata is no label: write the path to one, such as metadata.role")
	}
	return key{}, p.fail(start, "there is no key %s: %s", p.text[start:p.pos], keyHelp)
}

// name reads one of the names of a key.
func (p *parser) name(first bool) (string, error) {
	if p.at(`"`) {
		if first {
			return "", p.fail(p.pos, `a key does not begin with a quote: write node.id, or metadata."a.b" for a name with dots; %s`, keyHelp)
		}
		return p.quoted()
	}
	name := p.word()
	switch {
	case name != "":
		return name, nil
	case first && (p.done() || p.at(",")):
		return "", p.fail(p.pos, "a requirement is missing: take the comma or ! away, or write a key after it")
	case first:
		return "", p.fail(p.pos, "a requirement begins with a key, or with one ! and a key: %s", keyHelp)
	}
	return "", p.fail(p.pos, `a name is missing after the dot: write one, in double quotes if it holds more than letters, digits, _ and -`)
}

// separator reads the comma between two requirements, if one more follows.
func (p *parser) separator() (more bool, err error) {
	p.space()
	switch {
	case p.done():
		return false, nil
	case p.take(","):
		return true, nil
	case p.at(")"):
		return false, p.fail(p.pos, "this ) closes nothing: take it away, or put it in double quotes with its value")
	}
	return false, p.fail(p.pos, "between requirements stands a comma: write one, or put a value with spaces in double quotes")
}

func (p *parser) done() bool        { return p.pos == len(p.text) }
func (p *parser) at(s string) bool  { return strings.HasPrefix(p.text[p.pos:], s) }
func (p *parser) rune() (rune, int) { return utf8.DecodeRuneInString(p.text[p.pos:]) }
func (p *parser) space()            { p.run(isSpace) }
func (p *parser) word() string      { return p.run(nameRune) }
func isSpace(r rune) bool           { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }
func (p *parser) take(s string) bool {
	if !p.at(s) {
		return false
	}
	p.pos += len(s)
	return true
}

// run takes characters as long as they are such.
func (p *parser) run(such func(rune) bool) string {
	start := p.pos
	for !p.done() {
		r, size := p.rune()
		if !such(r) {
			break
		}
		p.pos += size
	}
	return p.text[start:p.pos]
}
