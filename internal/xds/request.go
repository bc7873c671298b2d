package xds

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// request is a DiscoveryRequest or a DeltaDiscoveryRequest, decoded as far as the
// engine looks: the node, 61 kB of Envoy's and on every request by default, stays bytes.
type request struct {
	delta   bool // set before decoding
	bounds  bounds
	refused error // why it was not decoded, or not to its end

	node     []byte // the encoded Node, nil if there is none
	typeURL  string
	version  string  // version_info (state of the world)
	names    counted // resource_names, or resource_names_subscribe
	dropped  counted // resource_names_unsubscribe (delta)
	versions counted // initial_resource_versions (delta)
	raw      []byte  // what the lists are read out of; nil if they are empty
	grown    grown   // how names goes on from what the stream said before
	fresh    int     // elements of the lists that were looked at one by one
	nonce    string
	nack     bool
	detail   string // error_detail.message
	locators bool   // xdstp locators, which are not served
	look     bool   // nothing is asked: a poll waits for what comes
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
	names int // that a list may hold
	lists *lists
	own   *ownLists
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

// decode copies what it keeps, but for the lists: they are read again where they say something
// new.
func (r *request) decode(b []byte) error {
	field := r.sotwField
	if r.delta {
		field = r.deltaField
	}
	before, after, err := r.known(b)
	if err == nil {
		err = eachBytes(before, field)
	}
	if err == nil {
		err = eachBytes(after, field)
	}
	if err != nil {
		return err
	}
	if n, d, v := r.names.len(), r.dropped.len(), r.versions.len(); max(n, d, v) > r.bounds.names {
		return fmt.Errorf("the request names %d resources, drops %d and reports the versions of %d, %d is the limit: %w", n, d, v, r.bounds.names, fleet.ErrLimit)
	}
	return nil
}

// receive decodes what came, and keeps it if there are lists in it. grpc's pools have 1 MB for
// what has more than 32 kB, so nothing of theirs is held.
func (r *request) receive(data mem.BufferSlice) {
	if len(data) == 1 {
		b := data[0].ReadOnlyData()
		if r.unmarshal(b); r.lists() {
			r.raw = bytes.Clone(b)
		}
		return
	}
	b := data.Materialize()
	if r.unmarshal(b); r.lists() {
		r.raw = b
	}
}

// lists reports whether there is something to read again.
func (r *request) lists() bool { return r.refused == nil && r.names.N+r.dropped.N+r.versions.N > 0 }

func (r *request) sotwField(num protowire.Number, v []byte) (err error) {
	switch num {
	case sotwVersion:
		r.version, err = word(v)
	case sotwNode:
		r.node = append([]byte{}, v...)
	case sotwNames:
		r.names.add(v)
		r.fresh, r.grown = r.fresh+1, grown{} // the list is not in one piece
	case sotwType:
		r.typeURL, err = word(v)
	case sotwNonce:
		r.nonce, err = word(v)
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
		r.typeURL, err = word(v)
	case deltaSubscribe:
		r.names.add(v)
		r.fresh++
	case deltaUnsubscribe:
		r.dropped.add(v)
		r.fresh++
	case deltaVersions:
		err = r.initialVersion(v)
	case deltaNonce:
		r.nonce, err = word(v)
	case deltaError:
		err = r.status(v)
	case deltaLocators, deltaLocatorsDropped:
		r.locators = true
	}
	return err
}

// initialVersion counts one entry of a map<string, string>.
func (r *request) initialVersion(b []byte) error {
	name, version, err := pair(b)
	if err != nil {
		return err
	}
	r.versions.see(name)
	r.versions.see(version)
	r.versions.Count = r.versions.Plus(snapshot.IDOf(b))
	r.fresh++
	return nil
}

// pair decodes an entry of a map<string, string>: nearly all are a short key and a short value.
func pair(b []byte) (key, value []byte, err error) {
	if key, rest, ok := short(b, 1); ok {
		if value, rest, ok := short(rest, 2); ok && len(rest) == 0 {
			return key, value, nil
		}
	}
	err = eachBytes(b, func(num protowire.Number, v []byte) error {
		switch num {
		case 1:
			key = v
		case 2:
			value = v
		}
		return nil
	})
	return key, value, err
}

// short takes a length-delimited field of that number, below 16, and of less than 128 bytes; ok if b
// begins with one.
func short(b []byte, num byte) (v, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != num<<3|2 || b[1] >= 0x80 || len(b) < 2+int(b[1]) {
		return nil, nil, false
	}
	end := 2 + int(b[1])
	return b[2:end], b[end:], true
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
		if len(b) > 1 && b[0]&0x87 == 2 && b[0] > 7 && b[1] < 0x80 && len(b) >= 2+int(b[1]) { // nearly all fields are so short
			end := 2 + int(b[1])
			if err := f(protowire.Number(b[0]>>3), b[2:end]); err != nil {
				return err
			}
			b = b[end:]
			continue
		}
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

// longestWord is how much is kept of a nonce, a version or a type URL, in bytes: one of ours is shorter, and a stream keeps some of what it is told of each type.
const longestWord = 256

func word(v []byte) (string, error) {
	if !utf8.Valid(v) {
		return "", errUTF8
	}
	if len(v) <= longestWord {
		return string(v), nil
	}
	return strings.ToValidUTF8(string(v[:longestWord]), ""), nil // as much of another one, which is none of ours either
}
