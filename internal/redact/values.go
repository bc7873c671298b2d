package redact

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// What is looked for in a client's words, at most.
const (
	maxRead   = 4 << 20 // bytes of resources that are decoded
	maxValues = 1_000
	maxBytes  = 512 << 10 // of all values together
)

// Values are secrets out of resources, for which a text can be searched.
type Values struct {
	// Whole: these are all. Else there were more than can be looked for, or a resource
	// could not be read, and a text that may hold others must be treated as one that does.
	Whole bool

	values map[string]struct{}
	read   int // bytes
	size   int // bytes of values
}

// NewValues has none yet, and looked at nothing.
func NewValues() *Values { return &Values{Whole: true, values: map[string]struct{}{}} }

// Take takes the secrets out of a resource, an encoded Any, and reports whether it found out
// that there is none. All in all it decodes 4 MiB, and keeps 1,000 values and half a MiB
// of them, at most.
func (v *Values) Take(resource []byte) (none bool) {
	if v.read += len(resource); v.read > maxRead {
		v.Whole = false
		return false
	}
	body := new(anypb.Any)
	if proto.Unmarshal(resource, body) != nil {
		v.Whole = false
		return false
	}
	none = true
	w := walker{hit: func(value []byte) bool { none = false; v.add(value); return false }}
	w.message(body.ProtoReflect(), false)
	return none
}

func (v *Values) add(value []byte) {
	const shortest = 3 // what is shorter stands in every text
	if _, twice := v.values[string(value)]; twice || len(value) < shortest {
		return
	}
	if v.size+len(value) > maxBytes || len(v.values) == maxValues {
		v.Whole = false
		return
	}
	v.size += len(value)
	v.values[string(value)] = struct{}{}
}

// Encoded returns a resource, an encoded Any, without its secrets: as it is if it has
// none, and nil if it cannot be read.
func Encoded(resource []byte) *anypb.Any {
	body := new(anypb.Any)
	if proto.Unmarshal(resource, body) != nil {
		return nil
	}
	Blank(body.ProtoReflect())
	return body
}
