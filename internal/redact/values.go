package redact

import (
	"iter"

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

// Collect takes the secrets out of resources, each an encoded Any. It decodes 4 MiB of
// them and keeps 1,000 values and half a MiB of them, at most.
func Collect(resources iter.Seq[[]byte]) *Values {
	v := &Values{Whole: true, values: map[string]struct{}{}}
	for encoded := range resources {
		if v.read += len(encoded); v.read > maxRead {
			v.Whole = false
			return v
		}
		body := new(anypb.Any)
		if proto.Unmarshal(encoded, body) != nil {
			v.Whole = false
			continue
		}
		w := walker{hit: v.add}
		w.message(body.ProtoReflect(), false)
		if !v.Whole {
			return v
		}
	}
	return v
}

func (v *Values) add(value []byte) (blank bool) {
	const shortest = 3 // what is shorter stands in every text
	if len(value) < shortest {
		return false
	}
	if _, twice := v.values[string(value)]; twice {
		return false
	}
	if v.size += len(value); v.size > maxBytes || len(v.values) == maxValues {
		v.Whole = false
		return false
	}
	v.values[string(value)] = struct{}{}
	return false
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
