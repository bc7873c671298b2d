package redact

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Blank puts Mark in the place of every value of m that must not be shown, into every Any
// too, and reports whether there was one. Its cost is linear in the message.
func Blank(m protoreflect.Message) bool {
	w := walker{hit: func([]byte) bool { return true }}
	return w.message(m, false)
}

// Inside returns what is secret in v, the value of a field that Holds.
func Inside(fd protoreflect.FieldDescriptor, v protoreflect.Value) (secret []byte) {
	w := walker{hit: func(b []byte) bool {
		if secret == nil {
			secret = b
		}
		return false
	}}
	w.single(fd, v, true)
	return secret
}

// Typed is the message that a TypedStruct is read as by Envoy, nil if m is none, if the
// message is not known or if the content is of another form. fits is false where it has
// fields that the message does not have: they are passed over, as an Envoy may be told to.
func Typed(m protoreflect.Message) (typed protoreflect.Message, fits bool) {
	if name := m.Descriptor().FullName(); name != "xds.type.v3.TypedStruct" && name != "udpa.type.v1.TypedStruct" {
		return nil, false
	}
	fields := m.Descriptor().Fields()
	mt, err := protoregistry.GlobalTypes.FindMessageByURL(m.Get(fields.ByName("type_url")).String())
	if err != nil {
		return nil, false
	}
	text, err := protojson.Marshal(m.Get(fields.ByName("value")).Message().Interface())
	if err != nil {
		return nil, false
	}
	o := protojson.UnmarshalOptions{RecursionLimit: recursionLimit}
	if typed = mt.New(); o.Unmarshal(text, typed.Interface()) == nil {
		return typed, true
	}
	o.DiscardUnknown = true
	if typed = mt.New(); o.Unmarshal(text, typed.Interface()) != nil {
		return nil, false
	}
	return typed, false
}

// recursionLimit is protobuf's own.
const recursionLimit = 100

// walker goes through a message and gives every secret value to hit, which says whether
// it is to be blanked.
type walker struct {
	hit func(value []byte) (blank bool)
}

// message goes through m. all: everything in it is secret. It reports whether it blanked
// something, in which case m was written to.
func (w *walker) message(m protoreflect.Message, all bool) (changed bool) {
	if m.Descriptor().FullName() == "google.protobuf.Any" {
		return w.any(m, all)
	}
	if typed, _ := Typed(m); typed != nil && w.message(typed, all) {
		changed = untype(m, typed)
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !m.Has(fd) || places[fd.FullName()] {
			continue
		}
		if w.field(m, fd, all || Holds(m, fd)) {
			changed = true
		}
	}
	return changed
}

// untype writes a message back into the TypedStruct that it was read from.
func untype(m, typed protoreflect.Message) bool {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(typed.Interface())
	value := new(structpb.Struct)
	if err != nil || protojson.Unmarshal(text, value) != nil {
		value = &structpb.Struct{Fields: map[string]*structpb.Value{Mark: structpb.NewNullValue()}}
	}
	m.Set(m.Descriptor().Fields().ByName("value"), protoreflect.ValueOfMessage(value.ProtoReflect()))
	return true
}

func (w *walker) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, all bool) (changed bool) {
	switch {
	case fd.IsList():
		list := m.Get(fd).List()
		for i := range list.Len() {
			if v, blanked := w.single(fd, list.Get(i), all); blanked {
				list.Set(i, v)
				changed = true
			}
		}
	case fd.IsMap():
		return w.entries(m.Get(fd).Map(), fd, all)
	default:
		v, blanked := w.single(fd, m.Get(fd), all)
		if !blanked {
			return false
		}
		changed = true
		if text := fd.ContainingOneof(); fd.FullName() == dataSource+".inline_bytes" { // readable, not base64
			m.Set(text.Fields().ByName("inline_string"), protoreflect.ValueOfString(Mark))
		} else {
			m.Set(fd, v)
		}
	}
	return changed
}

// entries goes through a map. A key of it is secret only if it is a private key.
func (w *walker) entries(entries protoreflect.Map, fd protoreflect.FieldDescriptor, all bool) (changed bool) {
	var keys []protoreflect.MapKey
	entries.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	for _, k := range keys {
		v, blanked := w.single(fd.MapValue(), entries.Get(k), all)
		if fd.MapKey().Kind() == protoreflect.StringKind && PrivateKey(k.String()) && w.hit([]byte(k.String())) {
			entries.Clear(k)
			k, blanked = protoreflect.ValueOfString(Mark).MapKey(), true
		}
		if blanked {
			entries.Set(k, v)
			changed = true
		}
	}
	return changed
}

// single goes through one value, and returns what is to stand there if that is another one.
func (w *walker) single(fd protoreflect.FieldDescriptor, v protoreflect.Value, all bool) (protoreflect.Value, bool) {
	switch {
	case fd.Message() != nil:
		return v, w.message(v.Message(), all)
	case fd.Kind() == protoreflect.StringKind:
		if s := v.String(); s != "" && s != Mark && (all || PrivateKey(s)) && w.hit([]byte(s)) {
			return protoreflect.ValueOfString(Mark), true
		}
	case fd.Kind() == protoreflect.BytesKind:
		if b := v.Bytes(); len(b) > 0 && string(b) != Mark && (all || PrivateKey(b)) && w.hit(b) {
			return protoreflect.ValueOfBytes([]byte(Mark)), true
		}
	}
	return v, false
}

// any goes through what an Any holds. Of bytes that cannot be read all are secret, if one
// of them may be.
func (w *walker) any(m protoreflect.Message, all bool) bool {
	url, value := m.Descriptor().Fields().ByName("type_url"), m.Descriptor().Fields().ByName("value")
	content := m.Get(value).Bytes()
	set := func(inner proto.Message) bool {
		out := new(anypb.Any)
		if anypb.MarshalFrom(out, inner, proto.MarshalOptions{Deterministic: true}) != nil {
			out = new(anypb.Any) // it was decoded before: better nothing than what it held
		}
		m.Set(url, protoreflect.ValueOfString(out.GetTypeUrl()))
		m.Set(value, protoreflect.ValueOfBytes(out.GetValue()))
		return true
	}
	mt, err := protoregistry.GlobalTypes.FindMessageByURL(m.Get(url).String())
	if err == nil {
		inner := mt.New()
		if proto.Unmarshal(content, inner.Interface()) == nil {
			return w.message(inner, all) && set(inner.Interface())
		}
	}
	return len(content) > 0 && (all || PrivateKey(content)) && w.hit(content) && set(wrapperspb.String(Mark))
}
