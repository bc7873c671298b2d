package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// Kind is what an API token is for. It stands in the token's first four characters,
// so that a scanner of leaked secrets can tell which it found.
type Kind string

// The kinds of API tokens.
const (
	KindAPI      Kind = "fla" // of a person or a program of a tenant
	KindCI       Kind = "flc" // of a pipeline: role ci, one fleet
	KindOperator Kind = "flo" // of the installation's operator; belongs to no tenant
)

// sessionPrefix begins the secret of a session of the web page, which has the form of an API
// token and is none: it is good in a cookie alone.
const sessionPrefix = "fls_"

// ScannerPattern finds every token of Fairlead in a text (RE2 syntax). It is published
// so that scanners of leaked secrets can know it.
const ScannerPattern = `fl[acos]_[0-9A-Za-z]{71}|flf1\.[0-9A-Za-z_-]{1,256}\.[0-9A-Za-z]{49}`

// An API token is "fl?_", then 22 digits of id, 43 of secret (32 random bytes), 6 of
// CRC32 over all before them. A node token is "flf1.", claims, ".", 43 digits of
// secret, 6 of CRC32. The checksum only tells a mistyped token from a wrong one.
const (
	idWidth, secretWidth, sumWidth = 22, 43, 6

	apiTokenLen   = 4 + idWidth + secretWidth + sumWidth
	nodePrefix    = "flf1."
	maxNodeToken  = len(nodePrefix) + 256 + 1 + secretWidth + sumWidth
	maxNodeClaims = 256
)

// claims is the middle part of a node token. gRPC clients refuse to send a token
// without an "exp" that they can read; nothing in it is ever trusted, the row of the
// database alone says when the credential ends.
type claims struct {
	Exp int64  `json:"exp"`
	TID string `json:"tid"`
}

// noExpiry is the last second of the year 9999: gRPC clients need some "exp".
const noExpiry = 253402300799

// NewAPIToken draws an API token. Only the hash may be stored; the token itself is
// shown once.
func NewAPIToken(kind Kind) (id fleet.CredentialID, token string, hash [32]byte) {
	id = fleet.NewCredentialID()
	token = withSum(string(kind) + "_" + encode62(id[:], idWidth) + newSecret())
	return id, token, Hash(token)
}

// NewNodeToken draws the token of a node credential that ends at exp; the zero time
// means that it does not end. Only the hash may be stored; the token is shown once.
func NewNodeToken(exp time.Time) (id fleet.CredentialID, token string, hash [32]byte) {
	id = fleet.NewCredentialID()
	c := claims{Exp: noExpiry, TID: id.String()}
	if !exp.IsZero() {
		c.Exp = exp.Unix()
	}
	middle, _ := json.Marshal(c) // two plain fields: cannot fail
	token = withSum(nodePrefix + base64.RawURLEncoding.EncodeToString(middle) + "." + newSecret())
	return id, token, Hash(token)
}

// ParseAPIToken checks the shape and the checksum of an API token and reads its id.
// It says nothing about whether the token is good. Every error is ErrUnauthenticated
// and holds no part of the input.
func ParseAPIToken(s string) (Kind, fleet.CredentialID, error) {
	if strings.HasPrefix(s, nodePrefix) {
		return "", fleet.CredentialID{}, refuse("this is a node token: it opens xDS streams, not the API")
	}
	if len(s) != apiTokenLen || s[3] != '_' {
		return "", fleet.CredentialID{}, refuse("the API token is malformed")
	}
	if strings.HasPrefix(s, sessionPrefix) {
		return "", fleet.CredentialID{}, refuse("this is the secret of a session, which is good in its cookie alone: the API takes an API token")
	}
	kind := Kind(s[:3])
	switch kind {
	case KindAPI, KindCI, KindOperator:
	default:
		return "", fleet.CredentialID{}, refuse("the API token is of an unknown kind")
	}
	var id fleet.CredentialID
	if !partsHold(s, id[:]) {
		return "", fleet.CredentialID{}, refuse("the API token is damaged: its checksum does not fit")
	}
	return kind, id, nil
}

// partsHold reads the id of a text that has the length of an API token, and checks the rest.
func partsHold(s string, id []byte) bool {
	return sumHolds(s) && secretHolds(s[4+idWidth:]) && decode62(s[4:4+idWidth], id)
}

// ParseNodeToken checks the shape and the checksum of a node token and reads its id.
// It says nothing about whether the token is good; in particular the expiry in it is
// ignored. Every error is ErrUnauthenticated and holds no part of the input.
func ParseNodeToken(s string) (fleet.CredentialID, error) {
	var id fleet.CredentialID
	switch {
	case strings.HasPrefix(s, "%ENVIRONMENT("):
		// Envoy expands formatters for a downstream request alone; a config stream has none.
		return id, refuse("the client sent the text %ENVIRONMENT(...)% itself: Envoy does not expand variables in " +
			"initial_metadata; use the bootstrap that injects the token from the environment (token-env)")
	case len(s) == apiTokenLen && strings.HasPrefix(s, "fl") && s[3] == '_':
		return id, refuse("this is an API token: xDS streams need a node token (flf1...)")
	case len(s) > maxNodeToken || !strings.HasPrefix(s, nodePrefix):
		return id, refuse("the node token is malformed")
	}
	middle, rest, ok := strings.Cut(s[len(nodePrefix):], ".")
	if !ok || len(middle) > maxNodeClaims || len(rest) != secretWidth+sumWidth {
		return id, refuse("the node token is malformed")
	}
	if !sumHolds(s) || !secretHolds(rest) {
		return id, refuse("the node token is damaged: its checksum does not fit")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(middle)
	if err != nil {
		return id, refuse("the node token is malformed")
	}
	var c claims
	if json.Unmarshal(raw, &c) != nil {
		return id, refuse("the node token is malformed")
	}
	if id, err = fleet.ParseCredentialID(c.TID); err != nil {
		return id, refuse("the node token is malformed")
	}
	return id, nil
}

// Hash returns what is stored of a token: its SHA-256. A slow password hash would only
// be a lever for denial of service, since a token holds 256 random bits.
func Hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// Equal compares two hashes in constant time.
func Equal(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return encode62(b[:], secretWidth)
}

// secretHolds reports whether rest begins with 43 digits that newSecret can write.
func secretHolds(rest string) bool {
	var b [32]byte
	return decode62(rest[:secretWidth], b[:])
}

func withSum(s string) string { return s + checksum(s) }

func checksum(s string) string {
	return encode62(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(s))), sumWidth)
}

func sumHolds(s string) bool {
	cut := len(s) - sumWidth
	return s[cut:] == checksum(s[:cut])
}

func refuse(why string) error { return fmt.Errorf("%s: %w", why, fleet.ErrUnauthenticated) }
