package resource

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/redact"
)

// typedStructs remembers what the TypedStructs of one resource hold, since to read one costs more
// than all that is then looked for in it. nil remembers nothing.
type typedStructs map[proto.Message]typedStruct

type typedStruct struct {
	held protoreflect.Message
	fits bool
}

// of is redact.Typed, also of content in the forms that Envoy's own parser takes. That does not fit, but what it holds is looked at.
func (t typedStructs) of(m protoreflect.Message) (held protoreflect.Message, fits bool) {
	if !warnUnchecked[m.Descriptor().FullName()] {
		return nil, false
	}
	key := m.Interface()
	if s, known := t[key]; known {
		return s.held, s.fits
	}
	if held, fits = redact.Typed(m); !fits {
		if formed := inPlainForms(m); formed != nil {
			held = formed
		}
	}
	if t != nil {
		t[key] = typedStruct{held, fits}
	}
	return held, fits
}

// inPlainForms is what a TypedStruct holds, where it is in forms that Envoy's own parser takes alone; nil else. What is wrong beside is
// passed over.
func inPlainForms(m protoreflect.Message) protoreflect.Message {
	fields := m.Descriptor().Fields()
	mt, err := protoregistry.GlobalTypes.FindMessageByURL(m.Get(fields.ByName("type_url")).String())
	if err != nil {
		return nil
	}
	text, err := protojson.Marshal(m.Get(fields.ByName("value")).Message().Interface())
	if err != nil {
		return nil
	}
	root, err := scanStored(text)
	if err != nil {
		return nil
	}
	s := shape{hide: true}
	if s.message(mt.Descriptor(), root, nil); !s.changed {
		return nil
	}
	held := mt.New()
	o := protojson.UnmarshalOptions{RecursionLimit: recursionLimit, DiscardUnknown: true}
	if o.Unmarshal(written(root, text), held.Interface()) != nil {
		return nil
	}
	return held
}
