package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
)

// cursor is the last item of a page. It says nothing that the page did not show, so it
// is encoded and not encrypted; clients are told that it is opaque.
type cursor struct {
	List     string     `json:"l"` // the list that it is good for
	Type     string     `json:"t,omitempty"`
	Name     string     `json:"n,omitempty"`
	Variant  string     `json:"v,omitempty"`
	Revision int64      `json:"r,omitempty"`
	Key      *[9]string `json:"k,omitempty"` // of a finding
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // plain fields: cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a cursor of the given list; nil is its beginning.
func parseCursor(list string, s *string) (cursor, error) {
	if s == nil || *s == "" {
		return cursor{}, nil
	}
	wrong := badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	b, err := base64.RawURLEncoding.Strict().DecodeString(*s)
	if err != nil {
		return cursor{}, wrong
	}
	var c cursor
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if d.Decode(&c) != nil || c.List != list || !plainText(c.Name) || !plainText(c.Variant) || c.Revision < 0 {
		return cursor{}, wrong
	}
	return c, nil
}

const defaultLimit = 100

func pageLimit(n *int) int {
	if n == nil {
		return defaultLimit
	}
	return *n
}
