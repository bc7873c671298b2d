package xds

import (
	"errors"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// request is a DiscoveryRequest or a DeltaDiscoveryRequest, decoded as far as the
// engine looks: the node, 61 kB of Envoy's and on every request by default, stays bytes.
type request struct {
	delta bool // set before decoding

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

// decode copies what it keeps: b goes back to a pool.
func (r *request) decode(b []byte) error {
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
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var err error
		if r.delta {
			err = r.deltaField(num, v)
		} else {
			err = r.sotwField(num, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	if r.versions == nil {
		r.versions = make(map[string]string)
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
