package docdiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	return s.next(d)
}

func (s ids) next(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	n := &node{}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			err = s.object(n, d)
		} else {
			err = s.list(n, d)
		}
		if err != nil {
			return nil, err
		}
		_, err = d.Token() // its end
		return n, err
	case string:
		n.kind, n.text = text, v
		n.id = s.of(`"` + v)
	case json.Number:
		n.raw = v.String()
		n.id = s.of(n.raw)
	case bool:
		n.raw = strconv.FormatBool(v)
		n.id = s.of(n.raw)
	case nil:
		n.raw = "null"
		n.id = s.of(n.raw)
	}
	n.key = n.id
	return n, nil
}

func (s ids) object(n *node, d *json.Decoder) error {
	n.kind = object
	byKey := map[string]int{}
	n.index = map[string]int{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		value, err := s.next(d)
		if err != nil {
			return err
		}
		if _, twice := byKey[key]; twice {
			return fmt.Errorf("a document to compare has a key twice: %w", fleet.ErrInvalid)
		}
		byKey[key], n.index[key] = value.id, len(n.members)
		n.members = append(n.members, member{key, value})
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, key := range sortedKeys(byKey) {
		fmt.Fprintf(&b, "%d:%s=%d,", len(key), key, byKey[key])
	}
	n.id = s.of(b.String())
	n.key = n.id
	if name := n.member("name"); name != nil && name.kind == text {
		n.key = s.of("name " + name.text)
	}
	return nil
}

func (s ids) list(n *node, d *json.Decoder) error {
	n.kind = list
	var b strings.Builder
	b.WriteByte('[')
	for d.More() {
		item, err := s.next(d)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		fmt.Fprintf(&b, "%d,", item.id)
	}
	n.id = s.of(b.String())
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
