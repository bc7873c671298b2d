package load

import "google.golang.org/protobuf/encoding/protowire"

// each calls fn for the fields of b, which may be cut short: of a cut field it
// passes what is there.
func each(b []byte, fn func(num protowire.Number, varint uint64, val []byte)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		b = b[n:]
		switch typ {
		case protowire.BytesType:
			length, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return
			}
			end := min(n+int(length), len(b))
			fn(num, 0, b[n:end])
			b = b[end:]
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return
			}
			fn(num, v, nil)
			b = b[n:]
		default:
			n := protowire.ConsumeFieldValue(num, typ, b)
			if n < 0 {
				return
			}
			b = b[n:]
		}
	}
}

// get returns the first field num of b.
func get(b []byte, num protowire.Number) (val []byte) {
	for len(b) > 0 {
		n, typ, m := protowire.ConsumeTag(b)
		if m < 0 {
			return nil
		}
		b = b[m:]
		if typ != protowire.BytesType {
			if m = protowire.ConsumeFieldValue(n, typ, b); m < 0 {
				return nil
			}
			b = b[m:]
			continue
		}
		length, m := protowire.ConsumeVarint(b)
		if m < 0 {
			return nil
		}
		end := min(m+int(length), len(b))
		if n == num {
			return b[m:end]
		}
		b = b[end:]
	}
	return nil
}

// walk calls fn for every field that path leads to.
func walk(b []byte, path []protowire.Number, fn func(val []byte)) {
	each(b, func(num protowire.Number, _ uint64, val []byte) {
		switch {
		case num != path[0] || val == nil:
		case len(path) == 1:
			fn(val)
		default:
			walk(val, path[1:], fn)
		}
	})
}
