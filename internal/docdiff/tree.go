package docdiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

type kind byte

const (
	scalar kind = iota // a number, true, false or null
	text
	object
	list
)

// node is one value of a document.
type node struct {
	kind    kind
	raw     string // of a scalar, as JSON
	text    string
	members []member // in the order in which they stood
	index   map[string]int
	items   []*node
	id      int // equal for equal values of both documents, and for no others
	key     int // of an object with a name: equal for equal names; else id
}

type member struct {
	key   string
	value *node
}

func (n *node) member(key string) *node {
	if i, there := n.index[key]; there {
		return n.members[i].value
	}
	return nil
}

// named reports whether a list's element is told from its neighbours by a name.
func (n *node) named() bool { return n.key != n.id }

// ids numbers what it is shown: equal texts get equal numbers.
type ids map[string]int

func (s ids) of(text string) int {
	id, ok := s[text]
	if !ok {
		id = len(s) + 1
		s[text] = id
	}
	return id
}

// parse reads one document; nil is none.
func (s ids) parse(doc []byte) (*node, error) {
	if doc == nil {
		return nil, nil
	}
	if !json.Valid(doc) { // which bounds its depth, too
		return nil, fmt.Errorf("a document to compare is not JSON: %w", fleet.ErrInvalid)
	}
	return (&parser{ids: s, in: doc}).value()
}

// parser reads what is known to be JSON: it looks for no fault but a key that stands twice.
type parser struct {
	ids ids
	in  []byte
	at  int
}

// peek passes space and returns what follows it.
func (p *parser) peek() byte {
	for p.in[p.at] == ' ' || p.in[p.at] == '\t' || p.in[p.at] == '\n' || p.in[p.at] == '\r' {
		p.at++
	}
	return p.in[p.at]
}

func (p *parser) value() (*node, error) {
	n := &node{}
	switch p.peek() {
	case '{':
		return n, p.object(n)
	case '[':
		return n, p.list(n)
	case '"':
		n.kind, n.text = text, p.text()
		n.id = p.ids.of(`"` + n.text)
	default:
		from := p.at
		for p.at < len(p.in) && bytes.IndexByte([]byte(",]} \t\n\r"), p.in[p.at]) < 0 {
			p.at++
		}
		n.raw = string(p.in[from:p.at])
		n.id = p.ids.of(n.raw)
	}
	n.key = n.id
	return n, nil
}

// text reads a text, or a key.
func (p *parser) text() (out string) {
	from, plain := p.at, true
	for p.at++; p.in[p.at] != '"'; p.at++ {
		if p.in[p.at] == '\\' {
			plain = false
			p.at++
		}
	}
	p.at++
	raw := p.in[from:p.at]
	if plain && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	_ = json.Unmarshal(raw, &out) // it is valid
	return out
}

// more passes a comma, or the end of what is read.
func (p *parser) more() bool {
	p.peek()
	p.at++
	return p.in[p.at-1] == ','
}

// begin passes the beginning of an object or a list, and tells whether there is something in it.
func (p *parser) begin(end byte) bool {
	p.at++
	if p.peek() != end {
		return true
	}
	p.at++
	return false
}

func (p *parser) object(n *node) error {
	n.kind, n.index = object, map[string]int{}
	for more := p.begin('}'); more; more = p.more() {
		p.peek()
		key := p.text()
		p.peek() // the colon
		p.at++
		value, err := p.value()
		if err != nil {
			return err
		}
		if _, twice := n.index[key]; twice {
			return fmt.Errorf("a document to compare has a key twice: %w", fleet.ErrInvalid)
		}
		n.index[key] = len(n.members)
		n.members = append(n.members, member{key, value})
	}
	order := make([]int, len(n.members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(n.members[i].key, n.members[j].key) })
	all := []byte{'{'}
	for _, i := range order {
		m := n.members[i]
		all = append(strconv.AppendInt(all, int64(len(m.key)), 10), ':')
		all = append(append(all, m.key...), '=')
		all = append(strconv.AppendInt(all, int64(m.value.id), 10), ',')
	}
	n.id = p.ids.of(string(all))
	n.key = n.id
	if name := n.member("name"); name != nil && name.kind == text {
		n.key = p.ids.of("name " + name.text)
	}
	return nil
}

func (p *parser) list(n *node) error {
	n.kind = list
	all := []byte{'['}
	for more := p.begin(']'); more; more = p.more() {
		item, err := p.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		all = append(strconv.AppendInt(all, int64(item.id), 10), ',')
	}
	n.id = p.ids.of(string(all))
	n.key = n.id
	return nil
}

// json writes the value back.
func (n *node) json() json.RawMessage {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer) {
	switch n.kind {
	case scalar:
		b.WriteString(n.raw)
	case text:
		b.Write(quote(n.text))
	case object:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(m.key))
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	}
}

// quote writes a text as JSON, with <, > and & as they are.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
