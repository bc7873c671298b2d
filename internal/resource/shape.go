package resource

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

// shape compares a JSON tree with the message that it is to become and finds all that
// does not fit, where protobuf's decoder stops at the first. What passes is decoded by
// protobuf's decoder all the same, which has the last word.
//
// Of a Secret, and below any field that may hold a key, it repeats neither values nor the
// names of unknown fields: an indent too much makes a name out of a value.
type shape struct {
	report
	hide  bool
	near  bool // there is a field that may hold a key
	hints int  // suggestions already given; finding one costs
	grown int  // bytes by which values are longer when they are told
	// changed: nodes are not as they were sent, but in the form that every parser takes.
	changed bool
	// tellOld: fields that Envoy takes still, though others have their place, are told in old.
	tellOld bool
	old     Errors
}

// message checks an object against a message. The member "@type" is passed over: it
// belongs to the Any around the message.
func (s *shape) message(md protoreflect.MessageDescriptor, n *node, at *path) {
	if s.full() {
		return
	}
	if check, ok := wellKnown[md.FullName()]; ok {
		check(s, md, n, at)
		return
	}
	if n.kind != kindObject {
		s.add(at, codeWrongType, "this must be an object (%s), not %s", md.Name(), n.kind)
		return
	}
	byField := map[protoreflect.Name]string{}
	byOneof := map[protoreflect.Name]string{}
	for i := range n.members {
		m := &n.members[i]
		if s.full() {
			return
		}
		if m.key == "@type" {
			continue
		}
		fd := fieldByKey(md, m.key)
		if fd == nil {
			s.unknownField(md, m.key, at)
			continue
		}
		here := at.member(m.key)
		if other, twice := byField[fd.Name()]; twice {
			s.add(here, codeDuplicateKey, "this is the same field as %s", other)
			continue
		}
		byField[fd.Name()] = m.key
		if m.value.kind == kindNull && !takesNull(fd) {
			continue
		}
		if od := fd.ContainingOneof(); od != nil && !od.IsSynthetic() {
			if other, set := byOneof[od.Name()]; set {
				s.add(here, codeOneof, "%s and %s exclude each other", other, m.key)
				continue
			}
			byOneof[od.Name()] = m.key
		}
		if say, is := s.deprecated(fd); is {
			s.old = append(s.old, FieldError{Pointer: here.String(), Code: codeDeprecated, Detail: say})
		}
		s.field(fd, m.value, here)
	}
}

// deprecated tells of an old field, where that is asked for.
func (s *shape) deprecated(fd protoreflect.FieldDescriptor) (say string, is bool) {
	if !s.tellOld || len(s.old) >= maxErrors {
		return "", false
	}
	return deprecated(fd)
}

// fieldByKey finds a field by its proto name or by its JSON name.
func fieldByKey(md protoreflect.MessageDescriptor, key string) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByTextName(key); fd != nil {
		return fd
	}
	return md.Fields().ByJSONName(key)
}

// takesNull: null is a value there, and "not set" everywhere else.
func takesNull(fd protoreflect.FieldDescriptor) bool {
	if fd.Message() != nil {
		return fd.Message().FullName() == "google.protobuf.Value"
	}
	return fd.Enum() != nil && fd.Enum().FullName() == "google.protobuf.NullValue"
}

func (s *shape) field(fd protoreflect.FieldDescriptor, n *node, at *path) {
	if redact.Near(fd) {
		s.near = true
		defer func(before bool) { s.hide = before }(s.hide)
		s.hide = true
	}
	switch {
	case fd.IsList():
		if !s.asList(fd, n) {
			s.add(at, codeWrongType, "this must be a list, not %s", n.kind)
			return
		}
		if n.lone {
			s.single(fd, n.items[0], at)
			return
		}
		for i := range n.items {
			if s.full() {
				return
			}
			s.single(fd, s.element(fd, n.items[i]), at.item(i))
		}
	case fd.IsMap():
		if n.kind != kindObject {
			s.add(at, codeWrongType, "this must be an object, not %s", n.kind)
			return
		}
		for i := range n.members {
			if s.full() {
				return
			}
			s.single(fd.MapValue(), s.element(fd.MapValue(), n.members[i].value), at.member(n.members[i].key))
		}
	default:
		s.single(fd, n, at)
	}
}

func (s *shape) single(fd protoreflect.FieldDescriptor, n *node, at *path) {
	switch {
	case fd.Message() == nil:
		s.scalar(fd, n, at)
	case takesEmpty[fd.FullName()] && n.kind == kindObject && len(n.members) == 0:
	default:
		s.message(fd.Message(), n, at)
	}
}

// takesEmpty are the fields in which Envoy takes an Any that holds nothing. An empty config of a FilterConfig enables a filter that its
// listener has disabled. The others are as if they were not written; a dump of Envoy shows them so.
var takesEmpty = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.Metadata.TypedFilterMetadataEntry.value": true,
	"envoy.config.route.v3.FilterConfig.config":                    true,
	"envoy.extensions.wasm.v3.PluginConfig.configuration":          true,
	"envoy.extensions.wasm.v3.VmConfig.configuration":              true,
}

func (s *shape) unknownField(md protoreflect.MessageDescriptor, key string, at *path) {
	if say, was := removed(md, key); was {
		s.add(at.member(key), codeUnknownField, "%s", say)
		return
	}
	if s.hide {
		s.add(at, codeUnknownField, "there is a field that %s does not have: it has %s", md.Name(), fieldNames(md.Fields()))
		return
	}
	hint := ""
	if s.hints++; s.hints <= maxHints {
		if best := Closest(key, fieldList(md.Fields())); best != "" {
			hint = ": is " + best + " meant?"
		}
	}
	s.add(at.member(key), codeUnknownField, "%s has no such field%s", md.Name(), hint)
}

// any checks an Any: its "@type" must be known, and the rest must fit it.
func (s *shape) any(_ protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind != kindObject {
		s.add(at, codeWrongType, "this must be an object with \"@type\", not %s", n.kind)
		return
	}
	url := n.get("@type")
	if url == nil {
		s.add(at, codeMissingType, "\"@type\" is missing: it names the message, such as %senvoy.extensions.filters.http.router.v3.Router", fleet.URLPrefix)
		return
	}
	md := s.resolve(url, at.member("@type"))
	if md == nil {
		return
	}
	if _, special := wellKnown[md.FullName()]; !special {
		s.message(md, n, at)
		return
	}
	for i := range n.members {
		if m := &n.members[i]; m.key != "@type" && m.key != "value" {
			s.unknownField(md, m.key, at)
		}
	}
	value := n.get("value")
	if value == nil {
		if md.FullName() == "google.protobuf.Empty" { // of which Envoy takes the "@type" alone, and a render has that alone
			return
		}
		s.add(at.member("value"), codeRequired, "%s stands in \"value\" beside \"@type\"", md.Name())
		return
	}
	s.message(md, value, at.member("value"))
}

// resolve finds the message that "@type" names, or says why not.
func (s *shape) resolve(n *node, at *path) protoreflect.MessageDescriptor {
	if n.kind != kindString {
		s.add(at, codeWrongType, "\"@type\" must be a text, not %s", n.kind)
		return nil
	}
	if url := knownURL(n.text); url != n.text && !oldAPI(url) {
		s.becomes(n, kindString, url)
	}
	name, ok := strings.CutPrefix(n.text, fleet.URLPrefix)
	if ok && !oldAPI(n.text) {
		if mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name)); err == nil {
			return mt.Descriptor()
		}
	}
	switch {
	case oldAPI(n.text):
		s.add(at, codeOldAPI, "this is a message of Envoy's v2 API, which is gone: use its v3 message%s", s.typeHint(n.text))
	case !ok:
		s.add(at, codeUnknownType, "\"@type\" must begin with %s%s", fleet.URLPrefix, s.typeHint(n.text))
	default:
		hint := s.typeHint(n.text)
		if hint == "" {
			hint = ": correct its name; a message of your own proxy's build goes into an xds.type.v3.TypedStruct, which an admin may write"
		}
		s.add(at, codeUnknownType, "this server knows no such message%s", hint)
	}
	return nil
}

// oldAPI reports whether a type URL is of Envoy's v2 API or an older one.
func oldAPI(url string) bool {
	name := url[strings.LastIndexByte(url, '/')+1:]
	if !strings.HasPrefix(name, "envoy.") {
		return false
	}
	for _, part := range strings.Split(name, ".") {
		if part == "v1" || part == "v2" || strings.HasPrefix(part, "v2alpha") || strings.HasPrefix(part, "v1alpha") {
			return true
		}
	}
	return false
}
