package resource

import (
	"bytes"

	"fairlead/internal/fleet"
)

// Apply is many changes that become one revision.
type Apply struct {
	Resources []Document
	Delete    []Deletion
	Message   string // why, for the history
	// ExpectedRevision is the revision that the fleet must be at; nil: any.
	ExpectedRevision *int64
	Plan             string // the token of a plan; "": none
	Confirm          string // likewise, of one whose reasons somebody has seen
}

// Deletion names a resource that is to go.
type Deletion struct {
	Type          fleet.Type
	Name, Variant string
}

const maxMessage = 1024 // bytes

// ParseApply reads {resources: [...], delete: [{type, name, variant}], message,
// expected_revision, plan, confirm}. An
// element of resources is a document or Envoy's message itself with "@type", whose name
// then is the one inside. No resource may be named twice. The error is Errors.
func ParseApply(in []byte) (Apply, error) {
	root, err := scan(in)
	if err != nil {
		return Apply{}, err
	}
	r := reader{in: in}
	a := r.apply(root)
	if err := r.err(); err != nil {
		return Apply{}, err
	}
	return a, nil
}

func (r *reader) apply(root *node) (a Apply) {
	if root.kind != kindObject {
		r.add(nil, codeWrongType, "this must be an object with resources or delete, not %s", root.kind)
		return a
	}
	if root.get("resources") == nil && root.get("delete") == nil {
		r.add(nil, codeRequired, "there is neither resources nor delete: a single document belongs into the list resources")
		return a
	}
	var top *path
	seen := map[Deletion]bool{} // by address
	for i := range root.members {
		m := &root.members[i]
		at := top.member(m.key)
		switch m.key {
		case "resources":
			a.Resources = r.resources(m.value, at, seen)
		case "delete":
			a.Delete = r.deletions(m.value, at)
		case "message":
			a.Message, _ = r.text(m.value, at)
			r.plain(a.Message, at, maxMessage)
		case "expected_revision":
			v := r.revision(m.value, at)
			a.ExpectedRevision = &v
		case "plan":
			a.Plan = r.token(m.value, at)
		case "confirm":
			a.Confirm = r.token(m.value, at)
		default:
			if fd := discoveryField(m.key); fd != nil {
				r.passOver(fd, m.value, at)
			} else {
				r.add(at, codeUnknownField, "there is no such field: there are resources, delete, message, expected_revision, plan, confirm")
			}
		}
	}
	for i, d := range a.Delete {
		if seen[d] {
			r.add(top.member("delete").item(i), codeDuplicate, "%s %q is named twice", d.Type, d.Name)
		}
		seen[d] = true
	}
	return a
}

func (r *reader) resources(list *node, at *path, seen map[Deletion]bool) (out []Document) {
	items, places := elements(list, at)
	if list.kind != kindArray && items == nil {
		r.add(at, codeWrongType, "resources must be a list, not %s", list.kind)
		return nil
	}
	for i := range items {
		if r.full() {
			return nil
		}
		n, here, before := items[i], places[i], len(r.errs)
		var d Document
		if n.get("@type") != nil {
			d = r.enveloped(n, here)
		} else {
			d = r.document(n, here)
		}
		if len(r.errs) > before {
			continue
		}
		address := Deletion{d.Type, d.Name, d.Variant}
		if seen[address] {
			r.add(here, codeDuplicate, "%s %q is named twice", d.Type, d.Name)
		}
		seen[address] = true
		out = append(out, d)
	}
	return out
}

func (r *reader) deletions(list *node, at *path) (out []Deletion) {
	if list.kind != kindArray {
		r.add(at, codeWrongType, "delete must be a list, not %s", list.kind)
		return nil
	}
	for i := range list.items {
		if r.full() {
			return nil
		}
		n, here := list.items[i], at.item(i)
		if n.kind != kindObject {
			r.add(here, codeWrongType, "this must be an object with type and name, not %s", n.kind)
			continue
		}
		var d Document
		for j := range n.members {
			switch m := &n.members[j]; m.key {
			case "type", "name", "variant":
				r.field(&d, m, here.member(m.key))
			default:
				r.add(here.member(m.key), codeUnknownField, "there is no such field: there are type, name, variant")
			}
		}
		for _, need := range []string{"type", "name"} {
			if n.get(need) == nil {
				r.add(here.member(need), codeRequired, "%s is missing", need)
			}
		}
		if n.get("name") != nil {
			r.name(d.Name, here.member("name"))
		}
		r.variantName(d.Variant, here)
		out = append(out, Deletion{d.Type, d.Name, d.Variant})
	}
	return out
}

// enveloped reads Envoy's message with its name, also where it stands in a discovery.v3.Resource.
func (r *reader) enveloped(n *node, at *path) Document {
	before := len(r.errs)
	inner, here, beside, wrapped := r.unwrap(n, at)
	if len(r.errs) > before {
		return beside
	}
	d := r.bare(inner, here)
	d.TTL = beside.TTL
	if len(r.errs) > before {
		return d
	}
	d.Name = r.innerName(d.Type, inner, here)
	if wrapped && beside.Name != "" && beside.Name != d.Name {
		r.add(at.member("name"), codeNameMismatch, "the name differs from the one inside the message, %q", d.Name)
	}
	return d
}

// bare reads Envoy's message itself. Its name is not read here.
func (r *reader) bare(n *node, at *path) Document {
	d := Document{doc: at.String(), bare: true, Body: bytes.Clone(n.raw(r.in))}
	here := at.member("@type")
	url, ok := r.text(n.get("@type"), here)
	if !ok {
		return d
	}
	t, known := fleet.TypeFromURL(knownURL(url))
	switch {
	case known:
		d.Type = t
	case oldAPI(url):
		r.add(here, codeOldAPI, "this is a message of Envoy's v2 API, which is gone: write it in v3, for example %s", fleet.Cluster.URL())
	default:
		r.add(here, codeUnknownType, "this is not one of the messages that xDS serves by name: %s", typeMessages())
	}
	return d
}

// innerName reads the name out of Envoy's message.
func (r *reader) innerName(t fleet.Type, n *node, at *path) string {
	for _, key := range nameKeys(t) {
		if v := n.get(key); v != nil {
			name, ok := r.text(v, at.member(key))
			if ok {
				r.name(name, at.member(key))
			}
			return name
		}
	}
	key := nameKeys(t)[0]
	r.add(at.member(key), codeRequired, "the message has no %s", key)
	return ""
}
