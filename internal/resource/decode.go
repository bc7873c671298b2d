package resource

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
)

// recursionLimit is protobuf's own; the pre-scan is tighter.
const recursionLimit = 100

// newMessage returns an empty message of the type. All nine are linked in.
func newMessage(t fleet.Type) protoreflect.Message {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(t.Message()))
	if err != nil {
		panic(fmt.Sprintf("message %s is not linked in", t.Message())) // internal/envoytypes imports it
	}
	return mt.New()
}

// decode reads a body that scan has read into root. Every error has its place below at.
func decode(t fleet.Type, body []byte, root *node, at *path) (protoreflect.Message, error) {
	s := shape{hide: t == fleet.Secret}
	m := newMessage(t)
	if url := root.get("@type"); url != nil && (url.kind != kindString || knownURL(url.text) != t.URL()) {
		s.add(at.member("@type"), codeTypeMismatch, "the resource is one of %s: \"@type\" must be %s", t, t.URL())
	}
	s.message(m.Descriptor(), root, at)
	if err := s.err(); err != nil {
		return nil, err
	}
	if s.changed {
		body = written(root, body)
	} else {
		body = withoutType(body, root)
	}
	o := protojson.UnmarshalOptions{RecursionLimit: recursionLimit}
	if err := o.Unmarshal(body, m.Interface()); err != nil {
		if s.changed {
			if root, _ = scanStored(body); root == nil { // the decoder says where it is, in its own words
				root = new(node)
			}
		}
		return nil, decodeError(err, body, root, at, s.hide || s.near)
	}
	return m, nil
}

// withoutType writes spaces over the "@type" of the outermost object, which is not a
// field of the message; all offsets stay.
func withoutType(body []byte, root *node) []byte {
	for i := range root.members {
		if root.members[i].key != "@type" {
			continue
		}
		from, to := root.members[i].keyAt, root.members[i].value.end
		switch {
		case i+1 < len(root.members):
			to = root.members[i+1].keyAt
		case i > 0:
			from = root.members[i-1].value.end
		}
		body = bytes.Clone(body)
		copy(body[from:to], bytes.Repeat([]byte(" "), to-from))
		break
	}
	return body
}

// decoderPlace is how protobuf's decoder begins a message, with a space that it varies.
var decoderPlace = regexp.MustCompile(`^proto:[\s\x{a0}]*(?:syntax error )?\(line (\d+):(\d+)\): `)

// decodeError gives an error of protobuf's decoder its place. Its words are dropped where
// there may be a key, since they hold values.
func decodeError(err error, body []byte, root *node, at *path, hide bool) error {
	text, place := err.Error(), at
	if m := decoderPlace.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1]) // digits by the pattern
		col, _ := strconv.Atoi(m[2])
		place = root.at(offsetOf(body, line, col), at)
		text = text[len(m[0]):]
	} else if _, rest, ok := strings.Cut(text, "proto:"); ok {
		text = strings.TrimLeft(rest, " \u00a0")
	}
	if hide {
		text = "the value does not fit the field"
	}
	return fail(place, codeValue, "%s", text)
}

// visit is called for every message of a tree, the outermost first, fields in their
// order; of a Struct, a Value or a ListValue for the whole alone. root is set for the
// outermost and for what an Any holds. n is the JSON from which m came, nil if there is
// none.
type visit func(m protoreflect.Message, n *node, at *path, root bool)

// walk visits m and everything below it, into every Any. It fails on an Any that cannot
// be read.
func walk(m protoreflect.Message, n *node, at *path, root bool, f visit) error {
	switch m.Descriptor().FullName() {
	case "google.protobuf.Any":
		inner, err := unpack(m)
		if err != nil {
			return fail(at, codeUnknownType, "%v", err)
		}
		if _, special := wellKnown[inner.Descriptor().FullName()]; special {
			n, at = n.get("value"), at.member("value")
		}
		return walk(inner, n, at, true, f)
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		f(m, n, at, root)
		return nil // free form: it has no fields of its own
	}
	f(m, n, at, root)
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if inner := fd.Message(); inner == nil || !m.Has(fd) || fd.IsMap() && fd.MapValue().Message() == nil {
			continue
		}
		value, here := child(fd, n, at)
		if err := walkField(m, fd, value, here, f); err != nil {
			return err
		}
	}
	return nil
}

func walkField(m protoreflect.Message, fd protoreflect.FieldDescriptor, n *node, at *path, f visit) (err error) {
	switch {
	case fd.IsList():
		list := m.Get(fd).List()
		for i := range list.Len() {
			item, here := n.itemAt(i, at)
			if err := walk(list.Get(i).Message(), item, here, false, f); err != nil {
				return err
			}
		}
	case fd.IsMap():
		entries := m.Get(fd).Map()
		for _, k := range sortedKeys(entries) {
			key := k.String()
			if takesEmpty[fd.MapValue().FullName()] && proto.Size(entries.Get(k).Message().Interface()) == 0 {
				continue
			}
			if err := walk(entries.Get(k).Message(), n.get(key), at.member(key), false, f); err != nil {
				return err
			}
		}
	case takesEmpty[fd.FullName()] && proto.Size(m.Get(fd).Message().Interface()) == 0:
		return nil
	default:
		return walk(m.Get(fd).Message(), n, at, false, f)
	}
	return nil
}

// child returns the JSON of a field and its place, in the spelling of the JSON; without
// any, in snake_case.
func child(fd protoreflect.FieldDescriptor, n *node, at *path) (*node, *path) {
	for _, key := range []string{fd.TextName(), fd.JSONName()} {
		if v := n.get(key); v != nil {
			return v, at.member(key)
		}
	}
	return nil, at.member(fd.TextName())
}

// unpack decodes what an Any holds. An empty Any is an error: Envoy takes none but in takesEmpty.
func unpack(m protoreflect.Message) (protoreflect.Message, error) {
	fields := m.Descriptor().Fields()
	url := m.Get(fields.ByNumber(1)).String()
	mt, err := protoregistry.GlobalTypes.FindMessageByURL(url)
	if err != nil {
		return nil, fmt.Errorf("the message %q is not known", url)
	}
	inner := mt.New()
	if err := proto.Unmarshal(m.Get(fields.ByNumber(2)).Bytes(), inner.Interface()); err != nil {
		return nil, fmt.Errorf("the bytes are not a %s", mt.Descriptor().Name())
	}
	return inner, nil
}
