package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// pemBegin is the first line of a private key of any kind, pemLine that or the last one.
var (
	pemBegin = regexp.MustCompile(`-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY`)
	pemLine  = regexp.MustCompile(`-{4,5} ?(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{0,5}`)
)

// PrivateKey reports whether a text holds a private key as PEM, of whatever kind.
func PrivateKey[T string | []byte](in T) bool {
	const rare = "PRIVATE KEY" // a search for a fixed text is much faster
	if s, ok := any(in).(string); ok {
		return strings.Contains(s, rare) && pemBegin.MatchString(s)
	}
	b := any(in).([]byte) //nolint:errcheck,forcetypeassert // it is the other one
	return bytes.Contains(b, []byte(rare)) && pemBegin.Match(b)
}

// privateParts are the members of a JWK that are secret (RFC 7518, 6.2.2, 6.3.2, 6.4.1).
var privateParts = map[string]bool{"d": true, "k": true, "p": true, "q": true, "dp": true, "dq": true, "qi": true, "oth": true}

// PrivateKeySet reports whether a JWKS holds more than public keys. What is not plain JSON
// may be read by Envoy all the same, so it counts as one that does. Envoy takes line breaks and other control characters within a
// text, as folded YAML has them: they are passed over.
func PrivateKeySet(in []byte) bool {
	d := json.NewDecoder(bytes.NewReader(withoutControls(in)))
	var objects []bool // of each open object or list, whether it is an object
	key := false       // a key is due
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			return true
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				objects = append(objects, v == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
			key = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			if key {
				if privateParts[v] {
					return true
				}
				key = false
				continue
			}
		}
		key = len(objects) > 0 && objects[len(objects)-1]
	}
}

// withoutControls leaves out what JSON does not allow within a text, and what separates tokens outside of one. It makes two tokens
// one at most, and hides no name of a private part.
func withoutControls(in []byte) []byte {
	control := func(r rune) bool { return r < ' ' }
	if bytes.IndexFunc(in, control) < 0 {
		return in
	}
	return bytes.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, in)
}
