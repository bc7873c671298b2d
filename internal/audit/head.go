package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"
)

// Head is the newest link of a tenant's chain at one time, as it is signed, stored, logged and sent.
type Head struct {
	Tenant    string    `json:"tenant_id"`
	Seq       int64     `json:"seq"`
	Hash      Hash      `json:"hash"`
	At        time.Time `json:"at"`         // when it was signed, to the microsecond
	Anchor    int64     `json:"anchor_seq"` // up to where retention had removed the chain
	Unchained int64     `json:"unchained"`  // events from before the chain, when it began
	Signature Hash      `json:"signature"`
}

// Anchor is up to where retention has removed a chain. The zero one: nothing is removed.
type Anchor struct {
	Seq     int64
	Hash    Hash
	EventAt time.Time // of the last event that went
	At      time.Time // when it went
}

// Signer signs heads, with a key that the database does not have.
type Signer struct{ key []byte }

// NewSigner derives its key from one that the API servers share, the key of versions, which serves nothing else by it.
func NewSigner(shared []byte) Signer {
	m := hmac.New(sha256.New, shared)
	m.Write([]byte("fairlead audit head 1"))
	return Signer{m.Sum(nil)}
}

// Sign returns h with its signature.
func (s Signer) Sign(h Head) Head {
	h.At = h.At.UTC().Truncate(time.Microsecond)
	h.Signature = s.of(h)
	return h
}

// Signed reports whether h is one that Sign made.
func (s Signer) Signed(h Head) bool {
	want := s.of(h)
	return hmac.Equal(want[:], h.Signature[:])
}

func (s Signer) of(h Head) (out Hash) {
	m := hmac.New(sha256.New, s.key)
	m.Write(parts(text(h.Tenant), number(&h.Seq), text(h.Hash.String()), number(ptr(h.At.UnixMicro())), number(&h.Anchor), number(&h.Unchained)))
	m.Sum(out[:0])
	return out
}
