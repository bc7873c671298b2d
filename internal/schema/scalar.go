package schema

import (
	"google.golang.org/protobuf/reflect/protoreflect"
)

// wellKnown are the messages that have a form of their own in JSON.
var wellKnown = map[protoreflect.FullName]func(rules) object{
	"google.protobuf.Any":         func(rules) object { return anyOf() },
	"google.protobuf.Duration":    func(rules) object { return text(`-?[0-9]+(\.[0-9]{1,9})?s`) },
	"google.protobuf.Timestamp":   func(rules) object { return object{"type": "string"} },
	"google.protobuf.FieldMask":   func(rules) object { return object{"type": "string"} },
	"google.protobuf.Struct":      func(rules) object { return object{"type": "object"} },
	"google.protobuf.Value":       func(rules) object { return object{} },
	"google.protobuf.ListValue":   func(rules) object { return object{"type": "array"} },
	"google.protobuf.Empty":       func(rules) object { return object{"type": "object", "additionalProperties": false} },
	"google.protobuf.BoolValue":   func(r rules) object { return scalar(protoreflect.BoolKind, r) },
	"google.protobuf.StringValue": func(r rules) object { return scalar(protoreflect.StringKind, r) },
	"google.protobuf.BytesValue":  func(r rules) object { return scalar(protoreflect.BytesKind, r) },
	"google.protobuf.Int32Value":  func(r rules) object { return scalar(protoreflect.Int32Kind, r) },
	"google.protobuf.Int64Value":  func(r rules) object { return scalar(protoreflect.Int64Kind, r) },
	"google.protobuf.UInt32Value": func(r rules) object { return scalar(protoreflect.Uint32Kind, r) },
	"google.protobuf.UInt64Value": func(r rules) object { return scalar(protoreflect.Uint64Kind, r) },
	"google.protobuf.FloatValue":  func(r rules) object { return scalar(protoreflect.FloatKind, r) },
	"google.protobuf.DoubleValue": func(r rules) object { return scalar(protoreflect.DoubleKind, r) },
}

// scalar is a value that is no message and no enum. Numbers are taken as texts too.
func scalar(k protoreflect.Kind, r rules) object {
	switch k {
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.StringKind:
		out := object{"type": "string"}
		r.text(out)
		return out
	case protoreflect.BytesKind:
		return object{"type": "string", "contentEncoding": "base64"}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		out := object{"type": []string{"number", "string"}}
		r.number(out)
		return out
	}
	out := object{"type": []string{"integer", "string"}}
	switch k {
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		out["minimum"] = 0
	}
	r.number(out)
	return out
}

// text is a text of a form, or with a placeholder.
func text(pattern string) object {
	return object{"type": "string", "pattern": "^(" + pattern + ")$|" + placeholder}
}

// anyOf is an Any of which nothing is known but that.
func anyOf() object {
	return object{"type": "object", "required": []string{"@type"}, "properties": object{"@type": object{"type": "string"}}}
}
