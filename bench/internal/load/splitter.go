package load

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	prefixLen = 5        // of a gRPC message
	maxField  = 64 << 10 // a larger field is cut...
	keepField = 4 << 10  // ...to this length
)

// splitter cuts a gRPC byte stream into the top level fields of its messages.
// It holds no more than a part of one field, and of a large field it keeps
// only the beginning, where names are.
type splitter struct {
	prefix  [prefixLen]byte
	nprefix int
	left    int    // bytes of the message to come
	skip    int    // bytes of a cut field to come
	buf     []byte // beginning of a field
}

// fields takes what a splitter finds. Slices are valid during the call only.
type fields interface {
	field(num protowire.Number, val []byte)
	end()
}

func (s *splitter) write(p []byte, f fields) error {
	for len(p) > 0 {
		if s.nprefix < prefixLen {
			n := copy(s.prefix[s.nprefix:], p)
			s.nprefix, p = s.nprefix+n, p[n:]
			if s.nprefix < prefixLen {
				return nil
			}
			if s.prefix[0] != 0 {
				return errors.New("compressed message")
			}
			s.left = int(binary.BigEndian.Uint32(s.prefix[1:]))
		}
		n := min(s.left, len(p))
		if err := s.message(p[:n], f); err != nil {
			return err
		}
		s.left, p = s.left-n, p[n:]
		if s.left == 0 {
			if len(s.buf) > 0 || s.skip > 0 {
				return errors.New("message ends within a field")
			}
			s.nprefix = 0
			f.end()
		}
	}
	return nil
}

func (s *splitter) message(p []byte, f fields) error {
	for len(p) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(p))
			s.skip, p = s.skip-n, p[n:]
			continue
		}
		head, total, err := measure(s.buf, p)
		switch {
		case err != nil:
			return err
		case total == 0: // not even the length is there
			s.buf = append(s.buf, p...)
			return nil
		case len(s.buf) == 0 && total <= len(p): // the common case: no copy
			emit(p[:total], head, f)
			p = p[total:]
			continue
		}
		want := total
		if total > maxField {
			want = keepField
		}
		n := min(want-len(s.buf), len(p))
		s.buf, p = append(s.buf, p[:n]...), p[n:]
		if len(s.buf) < want {
			return nil
		}
		emit(s.buf, head, f)
		s.buf, s.skip = nil, total-want
	}
	return nil
}

// measure finds the length of the field that starts in a and goes on in b: of
// its tag and length, and in total. The total is 0 if there are too few bytes.
func measure(a, b []byte) (head, total int, err error) {
	var both [2 * binary.MaxVarintLen64]byte
	n := copy(both[:], a)
	p := both[:n+copy(both[n:], b)]
	if len(a) == 0 {
		p = b
	}
	num, typ, n := protowire.ConsumeTag(p)
	if n < 0 {
		return 0, 0, tooShort(n, len(p))
	}
	if typ != protowire.BytesType {
		m := protowire.ConsumeFieldValue(num, typ, p[n:])
		if m < 0 {
			return 0, 0, tooShort(m, len(p))
		}
		return n, n + m, nil
	}
	length, m := protowire.ConsumeVarint(p[n:])
	if m < 0 {
		return 0, 0, tooShort(m, len(p))
	}
	return n + m, n + m + int(length), nil
}

func tooShort(code, have int) error {
	if have < 2*binary.MaxVarintLen64 {
		return nil
	}
	return protowire.ParseError(code)
}

func emit(field []byte, head int, f fields) {
	num, typ, _ := protowire.ConsumeTag(field)
	if typ == protowire.BytesType {
		f.field(num, field[head:])
	}
}
