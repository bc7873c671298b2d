package resource

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// Document is one resource as a person writes it. Its fields but Body are checked when
// it is parsed; Body is checked by Compiler.Compile.
type Document struct {
	Type        fleet.Type
	Name        string
	Variant     string // "" for the default variant
	Selector    string // "" for the default variant
	Priority    int32
	TTL         time.Duration // 0: none; whole milliseconds
	ByName      bool          // delivery: by-name, of a cluster
	Labels      map[string]string
	Description string
	Body        []byte // Envoy's message as proto3 JSON, as it was sent
	Revision    *int64 // that it was read at; nil: it does not say
	ETag        string // likewise, of what was read; with its quotes
	// Keep: it is the stored resource, whatever that holds; there is no Body.
	Keep bool
	// Fill are the values of the fleet that it is written to, for the placeholders in Body. Who compiles the document sets it.
	Fill map[string]string
	// Private are the private_clusters of that fleet. Who compiles the document sets it.
	Private []string

	// Step, if it is set, is called at the steps of Compile; its error ends that.
	Step func() error

	doc  string // where the document stood in what was sent: "" or "/resources/3"
	bare bool   // it was Envoy's message itself, not a document with a body
}

// Format writes the type and the name, whatever the verb, and never the body: that may
// be a private key.
func (d Document) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s/%q", d.Type, d.Name)
	if d.Variant != "" {
		_, _ = fmt.Fprintf(f, " (variant %q)", d.Variant)
	}
}

// String returns the type and the name.
func (d Document) String() string { return fmt.Sprintf("%v", d) }

// LogValue returns the type and the name.
func (d Document) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalJSON returns the type and the name as a JSON string, so that a logged Document
// does not hold its body. It is not the document's form in the API.
func (d Document) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// field returns the place of a field of the document, in what was sent.
func (d *Document) field(name string) *path {
	return d.root().member(name)
}

// Pointer is the place of a field of the document, in what was sent (RFC 6901).
func (d *Document) Pointer(field string) string { return d.field(field).String() }

func (d *Document) root() *path {
	if d.doc == "" {
		return nil
	}
	var p *path
	for _, step := range strings.Split(d.doc[1:], "/") {
		if i, err := strconv.Atoi(step); err == nil {
			p = p.item(i)
		} else {
			p = p.member(step)
		}
	}
	return p
}

// body returns the place of Envoy's message.
func (d *Document) body() *path {
	if d.bare {
		return d.root()
	}
	return d.field("body")
}

// Limits of what a document holds beside its body.
const (
	MaxName        = 512 // bytes, as of the names that a client may subscribe to
	maxVariant     = 128 // bytes
	maxLabels      = 64
	maxLabelKey    = 128
	maxLabelValue  = 256
	maxDescription = 1024
	minTTL         = time.Second
	maxTTL         = 366 * 24 * time.Hour
)

// answerFields stand beside the revision in what the API answers. They may come back, so that an answer can
// be edited and sent, and mean nothing there.
var answerFields = map[string]bool{"version": true, "created_at": true, "updated_at": true, "updated_by": true, "values": true}

// bootstrapFields are the fields by which an Envoy's bootstrap, or its /config_dump, is known.
var bootstrapFields = map[string]bool{"static_resources": true, "dynamic_resources": true, "admin": true, "node": true, "layered_runtime": true, "configs": true}

// documentFields are the fields of a document, for the sentence about an unknown one.
const documentFields = "type, name, variant, selector, priority, ttl, delivery, labels, description, body or keep, and the revision or the etag that it was read at"

// ParseDocument reads one document as JSON. It must have type, name and body, or
// keep in the body's place; unknown fields are refused. The error is Errors.
func ParseDocument(in []byte) (Document, error) {
	root, err := scan(in)
	if err != nil {
		return Document{}, err
	}
	r := reader{in: in}
	d := r.document(root, nil)
	if err := r.err(); err != nil {
		return Document{}, err
	}
	return d, nil
}

// ParsePut reads what is put at the address (t, name, variant): a document, or Envoy's
// message itself with "@type". A document need not repeat the address; what it repeats
// must be equal. The error is Errors.
func ParsePut(in []byte, t fleet.Type, name, variant string) (Document, error) {
	root, err := scan(in)
	if err != nil {
		return Document{}, err
	}
	r := reader{in: in}
	d := Document{Type: t, Name: name, Variant: variant}
	one, at := r.only(root)
	if err := r.err(); err != nil {
		return Document{}, err
	}
	if one.get("@type") != nil {
		bare := r.bare(one, at)
		if len(r.errs) == 0 && bare.Type != t {
			r.add(at.member("@type"), codeTypeMismatch, "the message is one of %s, the address is of %s", bare.Type, t)
		}
		d.Body, d.doc, d.bare = bare.Body, bare.doc, true
		r.name(name, nil)
		r.variants(&d, at)
	} else {
		d = r.documentAt(one, at, &d)
	}
	if err := r.err(); err != nil {
		return Document{}, err
	}
	return d, nil
}

// only returns the one resource of a PUT, which may stand in a list as an Envoy reads it
// from a file.
func (r *reader) only(root *node) (*node, *path) {
	var top *path
	list := root.get("resources")
	if list == nil {
		return root, top
	}
	at := top.member("resources")
	items, places := elements(list, at)
	if len(items) != 1 {
		r.add(at, codeWrongType, "a PUT is of one resource: this must be a list of one; apply takes more")
		return root, top
	}
	for i := range root.members {
		if key := root.members[i].key; key != "resources" && !DiscoveryField(key) {
			r.add(top.member(key), codeUnknownField, "there is no such field beside resources")
		}
	}
	return items[0], places[0]
}

// reader takes documents out of a JSON tree and collects what is wrong with them.
type reader struct {
	report
	in []byte
}

// document reads a document that must have its own address.
func (r *reader) document(n *node, at *path) Document {
	return r.documentAt(n, at, nil)
}

// documentAt reads a document; address, if it is not nil, is where it is put.
func (r *reader) documentAt(n *node, at *path, address *Document) Document {
	d := Document{doc: at.String()}
	if n.kind != kindObject {
		r.add(at, codeWrongType, "a document must be an object with type, name and body, not %s", n.kind)
		return d
	}
	if address != nil {
		d.Type, d.Name, d.Variant = address.Type, address.Name, address.Variant
	}
	d.Keep = r.keeps(n, at)
	for i := range n.members {
		m := &n.members[i]
		r.field(&d, m, at.member(m.key))
	}
	if address == nil && n.get("type") == nil {
		r.add(at.member("type"), codeRequired, "type is missing: one of %s", typeSlugs())
	}
	if address == nil && n.get("name") == nil {
		r.add(at.member("name"), codeRequired, "name is missing")
	} else if name := n.get("name"); name == nil || name.kind == kindString {
		r.name(d.Name, at.member("name"))
	}
	if d.Keep {
		r.kept(n, &d, address, at)
	} else if b := n.get("body"); b == nil || b.kind == kindNull {
		r.add(at.member("body"), codeRequired, "body is missing: Envoy's message belongs there; or send the message itself, with \"@type\"")
	}
	r.sameAddress(&d, address, at)
	if !d.Keep || d.Selector != "" {
		r.variants(&d, at)
	}
	r.delivery(&d, at)
	return d
}

// field reads one member of a document into d.
func (r *reader) field(d *Document, m *member, at *path) {
	v := m.value
	switch m.key {
	case "type":
		d.Type = r.ofType(v, at)
	case "name":
		d.Name, _ = r.text(v, at)
	case "variant":
		d.Variant, _ = r.text(v, at)
	case "selector":
		d.Selector, _ = r.text(v, at)
	case "priority":
		d.Priority = r.int32(v, at)
	case "ttl":
		d.TTL = r.ttl(v, at)
	case "delivery":
		d.ByName = r.byName(v, at)
	case "labels":
		d.Labels = r.labels(v, at)
	case "description":
		d.Description, _ = r.text(v, at)
		r.plain(d.Description, at, maxDescription)
	case "body":
		if v.kind != kindObject && v.kind != kindNull {
			r.add(at, codeWrongType, "body must be an object, not %s", v.kind)
		}
		d.Body = bytes.Clone(v.raw(r.in))
	case "revision":
		n := r.revision(v, at)
		d.Revision = &n
	case "etag":
		d.ETag = r.etag(v, at)
	case "keep": // it is read before
	case "secret":
		if !d.Keep {
			r.add(at, codeUnknownField, "this tells of a stored secret and is none: write the secret as the body, or keep: true for the stored one")
		}
	default:
		r.unknown(m.key, at)
	}
}

// ofType reads the type of a resource; the zero one if it is none.
func (r *reader) ofType(v *node, at *path) (t fleet.Type) {
	if s, ok := r.text(v, at); ok {
		if t, ok = fleet.TypeFromSlug(s); !ok {
			r.add(at, codeUnknownType, "the type of a resource is one of %s", typeSlugs())
		}
	}
	return t
}

// unknown says of a field that a document does not have what it is, if that is known. What an answer adds to one is passed over.
func (r *reader) unknown(key string, at *path) {
	switch {
	case answerFields[key]:
	case bootstrapFields[SnakeCase(key)]:
		r.add(at, codeUnknownField, `this is a part of an Envoy's own configuration, and no document: "fairlead import" makes documents of it`)
	default:
		r.add(at, codeUnknownField, "a document has no such field: it has %s", documentFields)
	}
}
