package store

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
)

// labelsJSON is fleet.NodeLabels as it is stored.
type labelsJSON struct {
	Region   string          `json:"region,omitempty"`
	Zone     string          `json:"zone,omitempty"`
	SubZone  string          `json:"sub_zone,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Cut      bool            `json:"cut,omitempty"`
	Contrib  fleet.Contrib   `json:"contrib,omitempty"` // no selector asks for it
}

// maxLabels is how many bytes of metadata are kept of a node, as they are stored.
const maxLabels = 16 << 10

// encodeLabels returns nil for labels that are not told. Metadata that no jsonb can hold, or
// that takes more than maxLabels there, is left out: a status report must not fail over it.
func encodeLabels(l *fleet.NodeLabels) *string {
	if l == nil {
		return nil
	}
	j := labelsJSON{Region: clean(l.Region, maxNodeID), Zone: clean(l.Zone, maxNodeID), SubZone: clean(l.SubZone, maxNodeID), Cut: l.Cut, Contrib: l.Contrib}
	if len(l.MetadataJSON) > 0 {
		var ok bool
		j.Metadata, ok = storedMetadata(l.MetadataJSON)
		j.Cut = j.Cut || !ok
	}
	b, _ := json.Marshal(j) // texts, and JSON that has just been made: cannot fail
	text := string(b)
	return &text
}

// storedMetadata is a JSON object as jsonb takes it: without NUL and half surrogates, which
// become U+FFFD as in other texts of clients. false: it is no object, or too large in
// the form in which it is stored.
func storedMetadata(raw []byte) (json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil || m == nil || d.More() {
		return nil, false
	}
	v, size := storedValue(m)
	if size > maxLabels {
		return nil, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil, false
	}
	return bytes.TrimSpace(b.Bytes()), true
}

// tooMuch is the size of what cannot be stored; a few of them can be added.
const tooMuch = 1 << 30

// storedValue returns a value as it is stored, and how many bytes jsonb prints for it at most:
// with all digits of its numbers, and a space behind each colon and comma.
func storedValue(v any) (any, int) {
	size := 2
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			k, keySize := storedText(k)
			x, n := storedValue(x)
			out[k] = x
			size = min(tooMuch, size+keySize+n+4)
		}
		return out, size
	case []any:
		for i, x := range v {
			x, n := storedValue(x)
			v[i] = x
			size = min(tooMuch, size+n+2)
		}
		return v, size
	case string:
		return storedText(v)
	case json.Number:
		return v, storedDigits(string(v))
	}
	return v, len("false")
}

func storedText(s string) (string, int) {
	s = strings.ReplaceAll(s, "\x00", "\uFFFD") // half surrogates are that already
	size := 2 + len(s)
	for _, b := range []byte(s) {
		switch {
		case b == '"' || b == '\\':
			size++
		case b < 0x20:
			size += len(`\u0000`) - 1
		}
	}
	return s, size
}

// storedDigits is how many bytes a number takes at most: 1e308 has 309 digits.
func storedDigits(n string) int {
	at := strings.IndexAny(n, "eE")
	if at < 0 {
		return len(n)
	}
	exp, err := strconv.Atoi(n[at+1:])
	if err != nil || exp > maxLabels || exp < -maxLabels {
		return tooMuch
	}
	return len(n) + max(exp, -exp) + 2
}

func decodeLabels(b []byte, n *fleet.Node) (cut bool, err error) {
	var j labelsJSON
	if len(b) == 0 {
		return true, nil
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return true, err
	}
	n.Region, n.Zone, n.SubZone, n.MetadataJSON, n.Contrib = j.Region, j.Zone, j.SubZone, j.Metadata, j.Contrib
	return j.Cut, nil
}
