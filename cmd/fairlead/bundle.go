package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/jsonpointer"
	"fairlead/internal/resource"
)

// bundle is what all files of one call come to: one apply. It remembers where everything
// came from, so that what the API says of the whole is told of the file.
type bundle struct {
	resources, deletions section
	messages             []string
	message              *origin
	others               map[string]*origin // members that only the API can judge
}

// section is one list of the apply.
type section struct {
	there   bool // a list without an element is one too
	items   []json.RawMessage
	origins []*origin
}

// origin is a place in a document. value is set where it is not an element of a list.
type origin struct {
	doc    *document
	prefix string // of the pointer, within the document
	value  json.RawMessage
}

// newBundle joins documents.
func newBundle(docs []*document) (*bundle, faults) {
	b := &bundle{others: map[string]*origin{}}
	var wrong faults
	for _, d := range docs {
		wrong = append(wrong, b.add(d)...)
	}
	return b, wrong
}

func (b *bundle) add(d *document) faults {
	var members map[string]json.RawMessage
	if json.Unmarshal(d.json, &members) != nil || members == nil {
		return faults{d.String() + ": a document must be an object: a resource with type, name and body, Envoy's own message with \"@type\", or {resources: [...]}"}
	}
	_, envoys := members["@type"]
	_, lists := members["resources"]
	_, deletes := members["delete"]
	if envoys || !lists && !deletes {
		b.resources.there = true
		b.resources.add(&origin{doc: d}, d.json)
		return nil
	}
	return b.addApply(d, members)
}

// addApply takes an apply document apart, or a file that an Envoy reads itself.
func (b *bundle) addApply(d *document, members map[string]json.RawMessage) (wrong faults) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value, at := members[key], "/"+jsonpointer.Escape(key)
		ok := true
		switch key {
		case "resources":
			if envoysOwn(value) { // it takes one without a list around it
				b.resources.there = true
				b.resources.add(&origin{doc: d, prefix: at}, value)
				continue
			}
			ok = b.resources.addAll(d, at, value)
		case "delete":
			ok = b.deletions.addAll(d, at, value)
		case "message":
			ok = b.addMessage(d, value)
		default:
			if resource.DiscoveryField(key) {
				continue // for an Envoy that reads the file; the API passes over it
			}
			if b.others[key] != nil {
				wrong = append(wrong, d.at(at)+": it stands in "+b.others[key].doc.lineAt(at)+" too, and one apply has it once")
				continue
			}
			b.others[key] = &origin{d, at, value}
		}
		if !ok {
			kind := "a list"
			if key == "message" {
				kind = "a text"
			}
			wrong = append(wrong, d.at(at)+": this must be "+kind)
		}
	}
	return wrong
}

// envoysOwn reports whether a value is one of Envoy's own messages.
func envoysOwn(value json.RawMessage) bool {
	var one map[string]json.RawMessage
	return json.Unmarshal(value, &one) == nil && one["@type"] != nil
}

// addMessage joins the messages of several documents.
func (b *bundle) addMessage(d *document, value json.RawMessage) bool {
	var text *string
	if json.Unmarshal(value, &text) != nil || text == nil {
		return false
	}
	if !slices.Contains(b.messages, *text) {
		b.messages = append(b.messages, *text)
	}
	b.message = &origin{doc: d, prefix: "/message"}
	return true
}

func (s *section) add(o *origin, value json.RawMessage) {
	s.items, s.origins = append(s.items, value), append(s.origins, o)
}

func (s *section) addAll(d *document, at string, list json.RawMessage) bool {
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil || items == nil {
		return false
	}
	s.there = true
	for i, item := range items {
		s.add(&origin{doc: d, prefix: at + "/" + strconv.Itoa(i)}, item)
	}
	return true
}

// body is the apply's body. What m says replaces what the files say.
func (b *bundle) body(m members) ([]byte, error) {
	out := map[string]any{}
	for key, o := range b.others {
		out[key] = o.value
	}
	if b.resources.there {
		items := append([]json.RawMessage{}, b.resources.items...) // never null
		if m.force {
			forget(items)
		}
		out["resources"] = items
	}
	if b.deletions.there {
		out["delete"] = append([]json.RawMessage{}, b.deletions.items...)
	}
	if len(b.messages) > 0 {
		out["message"] = strings.Join(b.messages, "; ")
	}
	m.into(out)
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(out) // keys in order: the same files are the same bytes, as a repeat needs
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// forget takes out of documents what says when they were read.
func forget(items []json.RawMessage) {
	for i, item := range items {
		var doc map[string]json.RawMessage
		if json.Unmarshal(item, &doc) != nil || doc["revision"] == nil && doc["etag"] == nil {
			continue
		}
		delete(doc, "revision")
		delete(doc, "etag")
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(doc) == nil {
			items[i] = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		}
	}
}

// members stand in an apply beside its lists; what is zero does not, or as the files say.
type members struct {
	message  string
	expected *int64
	plan     string
	force    bool // not what the files say of when they were read
}

func (m members) into(body map[string]any) {
	if m.message != "" {
		body["message"] = m.message
	}
	if m.expected != nil {
		body["expected_revision"] = *m.expected
	}
	if m.plan != "" {
		body["plan"] = m.plan
	}
}

// place finds what the API calls by a pointer into the body: file, document, and the
// pointer within that.
func (b *bundle) place(pointer string) (string, bool) {
	if !strings.HasPrefix(pointer, "/") {
		return "", false
	}
	key, rest, _ := strings.Cut(pointer[1:], "/")
	if rest != "" {
		rest = "/" + rest
	}
	switch key {
	case "resources":
		return b.resources.place(rest)
	case "delete":
		return b.deletions.place(rest)
	case "message":
		return b.message.place(rest)
	}
	return b.others[jsonpointer.Unescape(key)].place(rest)
}

func (s *section) place(pointer string) (string, bool) {
	index, rest, more := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	if more {
		rest = "/" + rest
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(s.origins) {
		return "", false
	}
	return s.origins[i].place(rest)
}

func (o *origin) place(rest string) (string, bool) {
	if o == nil {
		return "", false
	}
	return o.doc.at(o.prefix + rest), true
}
