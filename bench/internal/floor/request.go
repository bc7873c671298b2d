package floor

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/bench/internal/xds"
)

// request is what a stream receives, as far as the floor looks at it. What is in bytes is
// valid until the next request.
type request struct {
	delta   bool
	kind    xds.Kind
	names   int    // how many are subscribed to
	resumed bool   // the client says what it has: a version, or versions
	version []byte // SotW: of all that it has
	newest  string // looked for in the versions of a delta request
	current bool   // newest is there
}

// Fields of both request messages, and of one alone.
const (
	sotwVersion     protowire.Number = 1
	deltaType       protowire.Number = 2
	subscribed      protowire.Number = 3
	sotwType        protowire.Number = 4
	deltaVersions   protowire.Number = 5
	versionsVersion protowire.Number = 2 // of an entry of initial_resource_versions
)

func (r *request) parse(b []byte) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return protowire.ParseError(n)
			}
			b = b[n:]
			continue
		}
		val, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := r.field(num, val); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (r *request) field(num protowire.Number, val []byte) error {
	switch {
	case num == sotwType && !r.delta, num == deltaType && r.delta:
		k, ok := xds.KindOf(val)
		if !ok {
			return fmt.Errorf("unknown type %q", val)
		}
		r.kind = k
	case num == subscribed:
		r.names++
	case num == sotwVersion && !r.delta:
		r.version, r.resumed = append(r.version[:0], val...), len(val) > 0
	case num == deltaVersions && r.delta:
		r.resumed = true
		r.current = r.current || !r.current && versionOf(val) == r.newest
	}
	return nil
}

// versionOf reads an entry of initial_resource_versions.
func versionOf(entry []byte) string {
	for len(entry) > 0 {
		num, typ, n := protowire.ConsumeTag(entry)
		if n < 0 || typ != protowire.BytesType {
			return ""
		}
		val, m := protowire.ConsumeBytes(entry[n:])
		if m < 0 {
			return ""
		}
		if num == versionsVersion {
			return string(val)
		}
		entry = entry[n+m:]
	}
	return ""
}
