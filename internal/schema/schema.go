package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "fairlead/internal/envoytypes" // registers the messages
)

// urlPrefix stands before a message's name in an "@type".
const urlPrefix = "type.googleapis.com/"

// Documents says where schemas are found.
type Documents struct {
	Types   string // what stands before a message's name in the address of its schema
	Version string // of Envoy, whose documentation is linked to
}

type object = map[string]any

// Of returns the schema of a message by its full name, with that address. It has what the message
// holds, but for what an Any holds: that is behind a $ref, a document each. A value that the schema
// refuses is refused by a server too, but for null; the other way round it says less than
// one does. False: there is no such message.
func (d Documents) Of(message, id string) ([]byte, bool) {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(message))
	if err != nil || wellKnown[mt.Descriptor().FullName()] != nil {
		return nil, false
	}
	md := mt.Descriptor()
	w := writer{Documents: d, defs: object{}}
	root := maps.Clone(w.message(md, true))
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", id
	properties, _ := root["properties"].(object)
	properties["@type"] = object{"const": urlPrefix + message}
	if len(w.defs) > 0 {
		root["$defs"] = w.defs
	}
	out, err := json.Marshal(root)
	if err != nil { // plain values: cannot be
		panic(fmt.Sprintf("encode the schema of %s: %v", message, err))
	}
	return out, true
}

// writer writes one document.
type writer struct {
	Documents
	defs object
}

// ref is the schema of a message or an enum that stands in $defs, once.
func (w *writer) ref(name string, write func() object) object {
	if _, there := w.defs[name]; !there {
		w.defs[name] = nil // it may hold itself
		w.defs[name] = write()
	}
	return object{"$ref": "#/$defs/" + name}
}

// message is one that is no well-known type. Fields are listed by their names in the proto; the other spelling, which
// is taken too, is allowed and not looked into. Of the outermost the name may stand in its address.
func (w *writer) message(md protoreflect.MessageDescriptor, outermost bool) object {
	properties, other, all := object{}, []string{}, []any{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		properties[string(fd.Name())] = w.field(fd, outermost)
		if fd.JSONName() != string(fd.Name()) {
			other = append(other, fd.JSONName())
		}
		if !ignored(md) && required(fd) && !(outermost && (fd.Name() == "name" || fd.Name() == "cluster_name")) {
			all = append(all, has(fd))
		}
	}
	for i := range md.Oneofs().Len() {
		if o := md.Oneofs().Get(i); !o.IsSynthetic() && o.Fields().Len() > 1 {
			all = append(all, oneof(o, !ignored(md)))
		}
	}
	out := object{"type": "object", "title": string(md.Name()), "properties": properties, "additionalProperties": false}
	if len(other) > 0 {
		out["patternProperties"] = object{"^(" + strings.Join(other, "|") + ")$": true}
	}
	if len(all) > 0 {
		out["allOf"] = all
	}
	if link := w.link(md); link != "" {
		out["description"] = link
	}
	return out
}

// has holds where the field is set, in either spelling.
func has(fd protoreflect.FieldDescriptor) object {
	name := object{"required": []string{string(fd.Name())}}
	if fd.JSONName() == string(fd.Name()) {
		return name
	}
	return object{"anyOf": []object{name, {"required": []string{fd.JSONName()}}}}
}

// oneof holds where one of the fields is set at most, or exactly one.
func oneof(o protoreflect.OneofDescriptor, ruled bool) object {
	var each []object
	for i := range o.Fields().Len() {
		each = append(each, has(o.Fields().Get(i)))
	}
	if ruled && oneofRequired(o) {
		return object{"oneOf": each}
	}
	return object{"oneOf": append(slices.Clone(each), object{"not": object{"anyOf": each}})}
}

func (w *writer) field(fd protoreflect.FieldDescriptor, outermost bool) (out object) {
	r, at := rulesOf(fd), point(fd, outermost)
	switch {
	case fd.IsMap():
		out = object{"type": "object", "additionalProperties": w.value(fd.MapValue(), r.sub("values"), at)}
		r.count(out, "min_pairs", "minProperties")
		r.count(out, "max_pairs", "maxProperties")
	case fd.IsList():
		out = object{"type": "array", "items": w.value(fd, r.sub("items"), at)}
		r.count(out, "min_items", "minItems")
		r.count(out, "max_items", "maxItems")
	default:
		out = w.value(fd, r, at)
	}
	if o, ok := fd.Options().(*descriptorpb.FieldOptions); ok && o.GetDeprecated() {
		out["deprecated"] = true
	}
	return out
}

// takesEmpty are the fields in which Envoy takes an Any that holds nothing.
var takesEmpty = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.FilterConfig.config":           true,
	"envoy.extensions.wasm.v3.PluginConfig.configuration": true,
	"envoy.extensions.wasm.v3.VmConfig.configuration":     true,
}

// value is one value: of the field, or of each that it holds.
func (w *writer) value(fd protoreflect.FieldDescriptor, r rules, at string) object {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		return w.enum(fd.Enum())
	case protoreflect.MessageKind, protoreflect.GroupKind:
		md := fd.Message()
		if at != "" && md.FullName() == "google.protobuf.Any" {
			return w.ref("any:"+at, func() object { return w.extensions(at) })
		}
		if write := wellKnown[md.FullName()]; write != nil {
			if takesEmpty[fd.FullName()] {
				return object{"anyOf": []object{{"type": "object", "maxProperties": 0}, write(r)}}
			}
			return write(r)
		}
		return w.ref(string(md.FullName()), func() object { return w.message(md, false) })
	}
	return scalar(fd.Kind(), r)
}

// placeholder is a text that a fleet's value is put into.
const placeholder = `\$\{`

func (w *writer) enum(ed protoreflect.EnumDescriptor) object {
	if ed.FullName() == "google.protobuf.NullValue" {
		return object{"type": "null"}
	}
	return w.ref(string(ed.FullName()), func() object {
		var names []string
		for i := range ed.Values().Len() {
			names = append(names, string(ed.Values().Get(i).Name()))
		}
		return object{"title": string(ed.Name()), "anyOf": []object{{"enum": names}, {"type": "integer"}, {"type": "string", "pattern": placeholder}}}
	})
}

// link is where Envoy's documentation speaks of the message; its fields have addresses that follow from it.
func (w *writer) link(md protoreflect.MessageDescriptor) string {
	name, ok := strings.CutPrefix(string(md.FullName()), "envoy.")
	path, _ := strings.CutPrefix(md.ParentFile().Path(), "envoy/")
	if !ok || w.Version == "" {
		return ""
	}
	return fmt.Sprintf("https://www.envoyproxy.io/docs/envoy/v%s/api-v3/%s#envoy-v3-api-msg-%s", w.Version, path, strings.ToLower(strings.NewReplacer(".", "-", "_", "-").Replace(name)))
}
