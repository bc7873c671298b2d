package resource

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/jsonpointer"
)

// Placeholders are the texts of a body in which values of its fleet stand. The zero value is of a body without any.
type Placeholders struct {
	// Texts are as they were written, such as "${fleet.values.HOST}:80", by their place in what Render writes (RFC 6901).
	Texts map[string]string `json:"texts"`
	// Values are what was put into them, by the names of the values.
	Values map[string]string `json:"values"`
}

// MaxValue bounds a value of a fleet, in bytes.
const MaxValue = 1024

var (
	valueName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
	placeholder = regexp.MustCompile(`\$\{fleet\.values\.([^{}$]*)\}`)
)

// maxPlaceholders bounds the texts of a body that have placeholders with their places, which are stored beside it, in bytes: a place can
// be as long as the rest of the document.
const maxPlaceholders = 256 << 10

// placeholderStart is what no other text of a body may hold.
const placeholderStart = "${fleet."

// ValidValueName reports whether a value of a fleet may have the name.
func ValidValueName(name string) bool { return valueName.MatchString(name) }

// filler puts a fleet's values into the texts of a body.
type filler struct {
	report
	values map[string]string
	texts  map[string]string // as they were written, by their place in what was sent
	used   map[string]string
	spots  []spot
	size   int // of texts with their places
	hints  int // names that were looked for among those that there are; it costs
}

// spot is a part of a JSON text that is written anew.
type spot struct {
	start, end int
	raw        string
	pointer    string // its place
}

// fill returns d's body with the values of d.Fill in the place of their placeholders. Without a placeholder it is the body
// itself, and f.texts is empty.
func (d *Document) fill(root *node) (f filler, body []byte, err error) {
	f = filler{values: d.Fill, texts: map[string]string{}, used: map[string]string{}}
	f.walk(root, d.body())
	if len(f.spots) > 0 && d.Type == fleet.Secret {
		f.errs = nil
		f.add(d.body(), codePlaceholder, "a secret takes no values of the fleet: whoever reads the fleet can read them")
	}
	if err := f.err(); err != nil {
		return f, nil, err
	}
	return f, splice(d.Body, f.spots), nil
}

func (f *filler) walk(n *node, at *path) {
	if n.kind == kindString && strings.Contains(n.text, placeholderStart) {
		f.text(n, at)
	}
	for i := range n.members {
		m := &n.members[i]
		if strings.Contains(m.key, placeholderStart) {
			f.add(at, codePlaceholder, "the name of a field stands for itself: a value of the fleet stands in a text alone")
		}
		f.walk(m.value, at.member(m.key))
	}
	for i, item := range n.items {
		f.walk(item, at.item(i))
	}
}

// text fills one text.
func (f *filler) text(n *node, at *path) {
	if f.size > maxPlaceholders || f.full() {
		return // it is said once
	}
	pointer := at.String()
	if f.size += len(pointer) + len(n.text); f.size > maxPlaceholders {
		f.add(at, codeLimit, "the texts with values of the fleet, with their places, are more than %d KiB: write what is the same in every fleet as it is", maxPlaceholders>>10)
		return
	}
	rest := placeholder.ReplaceAllString(n.text, "")
	if strings.Contains(rest, placeholderStart) {
		f.add(at, codePlaceholder, "a value of the fleet is written ${fleet.values.NAME}: there is no other text with %s", placeholderStart)
		return
	}
	good := true
	filled := placeholder.ReplaceAllStringFunc(n.text, func(p string) string {
		name := placeholder.FindStringSubmatch(p)[1]
		value, known := f.values[name]
		if !known {
			good = false
			f.unknown(name, at)
			return p
		}
		f.used[name] = value
		return value
	})
	if good {
		f.texts[pointer] = n.text
		f.spots = append(f.spots, spot{n.start, n.end, jsonText(filled), pointer})
	}
}

func (f *filler) unknown(name string, at *path) {
	if !ValidValueName(name) {
		f.add(at, codePlaceholder, "a value's name is letters, digits and _, at most 64: write ${fleet.values.NAME}")
		return
	}
	hint := "set it there, such as by fairlead fleet --value " + name + "=TEXT"
	if f.hints++; f.hints <= maxHints {
		if best := Closest(name, slices.Sorted(maps.Keys(f.values))); best != "" {
			hint = "is " + best + " meant?"
		}
	}
	f.add(at, codeUnknownValue, "the fleet that this is written to has no value %s: %s", name, hint)
}

// splice writes JSON anew in some places, which are in order.
func splice(in []byte, spots []spot) []byte {
	if len(spots) == 0 {
		return in
	}
	var out bytes.Buffer
	from := 0
	for _, s := range spots {
		out.Write(in[from:s.start])
		out.WriteString(s.raw)
		from = s.end
	}
	out.Write(in[from:])
	return out.Bytes()
}

// placeholders tells where the texts stand in what Render writes of the message that root was decoded to. One that has no place there
// would be forgotten, and is refused.
func (f *filler) placeholders(md protoreflect.MessageDescriptor, root *node) (Placeholders, error) {
	if len(f.texts) == 0 {
		return Placeholders{}, nil
	}
	r := rendered{written: f.texts, sent: f.filledAt(), texts: map[string]string{}}
	r.message(md, root, nil)
	var lost report
	for _, pointer := range slices.Sorted(maps.Values(r.sent)) {
		lost.errs = append(lost.errs, FieldError{Pointer: pointer, Code: codePlaceholder, Detail: "this is not stored, so no value of the fleet can stand here: write it as it is"})
		if lost.full() {
			break
		}
	}
	if len(lost.errs) > 0 {
		return Placeholders{}, lost.errs
	}
	return Placeholders{Texts: r.texts, Values: f.used}, nil
}

// filledAt are the places of the texts by where they begin in the body that is filled.
func (f *filler) filledAt() map[int]string {
	out, longer := make(map[int]string, len(f.spots)), 0
	for _, s := range f.spots {
		out[s.start+longer] = s.pointer
		longer += len(s.raw) - (s.end - s.start)
	}
	return out
}

// rendered finds the places of texts in what Render writes: there fields have the names of the proto files. What it has found it takes
// out of sent.
type rendered struct {
	written map[string]string // the texts, by their place in what was sent
	sent    map[int]string    // their places, by where they begin
	texts   map[string]string // the texts, by their place in what Render writes
}

// text notes the place of a text, if it is one with a placeholder.
func (r *rendered) text(n *node, as *path) {
	if pointer, there := r.sent[n.start]; there {
		r.texts[as.String()] = r.written[pointer]
		delete(r.sent, n.start)
	}
}

// message walks a message that is as in what Render writes.
func (r *rendered) message(md protoreflect.MessageDescriptor, n *node, as *path) {
	switch name := md.FullName(); {
	case name == "google.protobuf.Any":
		r.any(n, as)
		return
	case wellKnown[name] != nil:
		r.free(n, as)
		return
	}
	for i := range n.members {
		m := &n.members[i]
		if fd := fieldByKey(md, m.key); fd != nil {
			r.field(fd, m.value, as.member(fd.TextName()))
		}
	}
}

func (r *rendered) field(fd protoreflect.FieldDescriptor, n *node, as *path) {
	one := fd
	if fd.IsMap() {
		one = fd.MapValue()
	}
	single := func(n *node, as *path) {
		if md := one.Message(); md != nil {
			r.message(md, n, as)
			return
		}
		r.free(n, as)
	}
	switch {
	case fd.IsList():
		for i := range n.items {
			single(n.items[i], as.item(i))
		}
	case fd.IsMap():
		for i := range n.members {
			m := &n.members[i]
			single(m.value, as.member(m.key))
		}
	default:
		single(n, as)
	}
}

func (r *rendered) any(n *node, as *path) {
	url := n.get("@type")
	if url == nil {
		return
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByURL(url.text)
	if err != nil {
		return
	}
	r.text(url, as.member("@type"))
	if md := mt.Descriptor(); wellKnown[md.FullName()] == nil {
		r.message(md, n, as)
	} else if value := n.get("value"); value != nil {
		r.message(md, value, as.member("value"))
	}
}

// free walks what Render writes as it was sent: a text, or content without a schema.
func (r *rendered) free(n *node, as *path) {
	if n.kind < kindArray {
		r.text(n, as)
	}
	for i := range n.members {
		m := &n.members[i]
		r.free(m.value, as.member(m.key))
	}
	for i, item := range n.items {
		r.free(item, as.item(i))
	}
}

// RenderWritten is Render with the placeholders that were written, in the place of the values.
func RenderWritten(t fleet.Type, value []byte, p Placeholders) ([]byte, error) {
	out, err := Render(t, value)
	if err != nil || len(p.Texts) == 0 {
		return out, err
	}
	root, err := scanStored(out)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", t, err)
	}
	spots := make([]spot, 0, len(p.Texts))
	for _, pointer := range slices.Sorted(maps.Keys(p.Texts)) {
		if s, ok := spotOf(root, pointer, p.Texts[pointer]); ok {
			spots = append(spots, s)
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Compare(a.start, b.start) })
	return splice(out, spots), nil
}

// spotOf is where a text belongs into what Render wrote: in the place of what stands there, or as one more field of an object, for a
// field that has its default value is not written.
func spotOf(root *node, pointer, text string) (s spot, ok bool) {
	n := root
	steps := strings.Split(pointer, "/")[1:]
	for i, step := range steps {
		step = jsonpointer.Unescape(step)
		next := n.get(step)
		if n.kind == kindArray {
			at, err := strconv.Atoi(step)
			if err != nil {
				return spot{}, false
			}
			next = n.item(at)
		}
		if next == nil {
			if n.kind != kindObject || i < len(steps)-1 {
				return spot{}, false // of a message that has been written otherwise since
			}
			raw := jsonText(step) + ":" + jsonText(text)
			if len(n.members) > 0 {
				raw += ","
			}
			return spot{start: n.start + 1, end: n.start + 1, raw: raw}, true
		}
		n = next
	}
	return spot{start: n.start, end: n.end, raw: jsonText(text)}, true
}

// jsonText writes a text as JSON.
func jsonText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(fmt.Sprintf("resource: a text is no JSON: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
