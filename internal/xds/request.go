package xds

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
)

// request is a DiscoveryRequest or a DeltaDiscoveryRequest, decoded as far as the
// engine looks: the node, 61 kB of Envoy's and on every request by default, stays bytes.
type request struct {
	delta   bool // set before decoding
	bounds  bounds
	refused error // why it was not decoded, or not to its end

	node     []byte // the encoded Node, nil if there is none
	typeURL  string
	version  string            // version_info (state of the world)
	names    []string          // resource_names, or resource_names_subscribe
	dropped  []string          // resource_names_unsubscribe (delta)
	versions map[string]string // initial_resource_versions (delta)
	nonce    string
	nack     bool
	detail   string // error_detail.message
	locators bool   // xdstp locators, which are not served
}

// Field numbers of DiscoveryRequest (state of the world) and DeltaDiscoveryRequest.
const (
	sotwVersion, sotwNode, sotwNames, sotwType, sotwNonce, sotwError, sotwLocators = 1, 2, 3, 4, 5, 6, 7

	deltaNode, deltaType, deltaSubscribe, deltaUnsubscribe, deltaVersions = 1, 2, 3, 4, 5
	deltaNonce, deltaError, deltaLocators, deltaLocatorsDropped           = 6, 7, 8, 9
)

// maxWords is the most that is read of a NACK's text, in bytes. Envoy cuts its own at 4 KiB.
const maxWords = 8 << 10

var errUTF8 = errors.New("a string is not valid UTF-8")

// bounds are of what is decoded of a request.
type bounds struct {
	// names is how many names a list may hold. The owner of the stream changes it, so it is
	// read when the request has come.
	names *atomic.Int64
	bytes int // of one name, or one version
}

// unmarshal decodes the request, or keeps why it does not.
func (r *request) unmarshal(b []byte) {
	err := r.decode(b)
	switch {
	case err == nil:
	case errors.Is(err, fleet.ErrLimit):
		r.refused = err
	default:
		r.refused = fmt.Errorf("decode the discovery request: %w: %w", err, fleet.ErrInvalid)
	}
}

// decode copies what it keeps: b goes back to a pool. Names are counted before the first is
// kept: an empty one takes two bytes of a request, and sixteen and more in memory.
func (r *request) decode(b []byte) error {
	n, err := r.count(b)
	if err != nil {
		return err
	}
	if n.names > 0 {
		r.names = make([]string, 0, n.names)
	}
	if n.dropped > 0 {
		r.dropped = make([]string, 0, n.dropped)
	}
	if n.versions > 0 {
		r.versions = make(map[string]string, n.versions)
	}
	if r.delta {
		return eachBytes(b, r.deltaField)
	}
	return eachBytes(b, r.sotwField)
}

// counts are how long the lists of a request are.
type counts struct{ names, dropped, versions int }

// count looks at every field and keeps nothing.
func (r *request) count(b []byte) (n counts, err error) {
	longest := 0
	err = eachBytes(b, func(num protowire.Number, v []byte) error {
		switch {
		case !r.delta && num == sotwNames, r.delta && num == deltaSubscribe:
			n.names++
			longest = max(longest, len(v))
		case r.delta && num == deltaUnsubscribe:
			n.dropped++
			longest = max(longest, len(v))
		case r.delta && num == deltaVersions:
			n.versions++
			return eachBytes(v, func(_ protowire.Number, v []byte) error {
				longest = max(longest, len(v))
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	if most := int(r.bounds.names.Load()); max(n.names, n.dropped, n.versions) > most {
		return n, fmt.Errorf("the request names %d resources, drops %d and reports the versions of %d, %d is the limit: %w", n.names, n.dropped, n.versions, most, fleet.ErrLimit)
	}
	if longest > r.bounds.bytes {
		return n, fmt.Errorf("a resource name has %d bytes, %d is the limit: %w", longest, r.bounds.bytes, fleet.ErrLimit)
	}
	return n, nil
}

func (r *request) sotwField(num protowire.Number, v []byte) (err error) {
	switch num {
	case sotwVersion:
		r.version, err = text(v)
	case sotwNode:
		r.node = append([]byte{}, v...)
	case sotwNames:
		r.names, err = appendText(r.names, v)
	case sotwType:
		r.typeURL, err = text(v)
	case sotwNonce:
		r.nonce, err = text(v)
	case sotwError:
		err = r.status(v)
	case sotwLocators:
		r.locators = true
	}
	return err
}

func (r *request) deltaField(num protowire.Number, v []byte) (err error) {
	switch num {
	case deltaNode:
		r.node = append([]byte{}, v...)
	case deltaType:
		r.typeURL, err = text(v)
	case deltaSubscribe:
		r.names, err = appendText(r.names, v)
	case deltaUnsubscribe:
		r.dropped, err = appendText(r.dropped, v)
	case deltaVersions:
		err = r.initialVersion(v)
	case deltaNonce:
		r.nonce, err = text(v)
	case deltaError:
		err = r.status(v)
	case deltaLocators, deltaLocatorsDropped:
		r.locators = true
	}
	return err
}

// initialVersion decodes one entry of a map<string, string>.
func (r *request) initialVersion(b []byte) error {
	var key, value string
	err := eachBytes(b, func(num protowire.Number, v []byte) (err error) {
		switch num {
		case 1:
			key, err = text(v)
		case 2:
			value, err = text(v)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.versions[key] = value
	return nil
}

// status decodes a google.rpc.Status. Its text is the client's and may be anything: it
// is made valid, not refused, since it is what a person has to read.
func (r *request) status(b []byte) error {
	r.nack = true
	return eachBytes(b, func(num protowire.Number, v []byte) error {
		if num == 2 {
			r.detail = strings.ToValidUTF8(string(v[:min(len(v), maxWords)]), "\uFFFD")
		}
		return nil
	})
}

// eachBytes calls f for every length-delimited field.
func eachBytes(b []byte, f func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		n = protowire.ConsumeFieldValue(num, typ, b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			if err := f(num, v); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}

func text(v []byte) (string, error) {
	if !utf8.Valid(v) {
		return "", errUTF8
	}
	return string(v), nil
}

func appendText(to []string, v []byte) ([]string, error) {
	s, err := text(v)
	return append(to, s), err
}
