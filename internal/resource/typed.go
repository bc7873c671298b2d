package resource

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/redact"
)

// typedStructs remembers what the TypedStructs of one resource hold, since to read one costs more
// than all that is then looked for in it. nil remembers nothing.
type typedStructs map[proto.Message]typedStruct

type typedStruct struct {
	held protoreflect.Message
	fits bool
}

// of is redact.Typed.
func (t typedStructs) of(m protoreflect.Message) (held protoreflect.Message, fits bool) {
	if !warnUnchecked[m.Descriptor().FullName()] {
		return nil, false
	}
	key := m.Interface()
	if s, known := t[key]; known {
		return s.held, s.fits
	}
	held, fits = redact.Typed(m)
	if t != nil {
		t[key] = typedStruct{held, fits}
	}
	return held, fits
}
