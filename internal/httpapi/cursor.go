package httpapi

import (
	"encoding/base64"
	"encoding/binary"
)

// cursor is the last item of a page. It says nothing that the page did not show, so it
// is encoded and not encrypted; clients are told that it is opaque.
type cursor struct {
	List     string // the list that it is good for
	Type     string
	Name     string
	Variant  string
	Revision int64
	Key      *[9]string // of a finding
}

// String is at most 3 KiB long, whatever the names hold: each text with its length before it.
func (c cursor) String() string {
	texts := []string{c.List, c.Type, c.Name, c.Variant}
	if c.Key != nil {
		texts = append(texts, c.Key[:]...)
	}
	b := binary.AppendVarint(nil, c.Revision)
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a cursor of the given list; nil is its beginning.
func parseCursor(list string, s *string) (cursor, error) {
	if s == nil || *s == "" {
		return cursor{}, nil
	}
	c, ok := decodeCursor(*s)
	if !ok || c.List != list || c.Revision < 0 {
		return cursor{}, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	}
	return c, nil
}

func decodeCursor(s string) (c cursor, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	revision, n := binary.Varint(b)
	if err != nil || n <= 0 {
		return c, false
	}
	var texts []string
	for b = b[n:]; len(b) > 0; {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return c, false
		}
		text := string(b[n : n+int(size)]) //nolint:gosec // at most len(b)
		if !plainText(text) {
			return c, false
		}
		texts, b = append(texts, text), b[n+int(size):] //nolint:gosec // likewise
	}
	switch len(texts) {
	case 4:
	case 4 + 9:
		c.Key = (*[9]string)(texts[4:])
	default:
		return c, false
	}
	c.List, c.Type, c.Name, c.Variant, c.Revision = texts[0], texts[1], texts[2], texts[3], revision
	return c, true
}

const defaultLimit = 100

func pageLimit(n *int) int {
	if n == nil {
		return defaultLimit
	}
	return *n
}
