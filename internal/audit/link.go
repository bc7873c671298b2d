package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"fairlead/internal/fleet"
)

// Hash is a SHA-256. The zero one is what comes before the first link.
type Hash [sha256.Size]byte

// String is in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return fmt.Errorf("a hash has %d hexadecimal digits, not %d: %w", 2*len(h), len(text), fleet.ErrInvalid)
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return fmt.Errorf("read a hash: %w: %w", err, fleet.ErrInvalid)
	}
	return nil
}

// Event is an event of the audit with all that its hash is of, as it is stored.
type Event struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"` // to the microsecond
	Credential *string   `json:"credential,omitempty"`
	Actor      string    `json:"actor"`
	Address    string    `json:"address"`
	RequestID  string    `json:"request_id"`
	Kind       string    `json:"kind"`
	Object     string    `json:"object"`
	Fleet      *string   `json:"fleet_id,omitempty"`
	Old        *int64    `json:"old_revision,omitempty"`
	New        *int64    `json:"new_revision,omitempty"`
	Detail     *string   `json:"detail,omitempty"` // JSON in the database's own spelling
}

// Link is one of a chain.
type Link struct {
	Seq   int64  `json:"seq"`
	Hash  Hash   `json:"hash"`
	Event *Event `json:"event,omitempty"` // nil: it is gone
}

// version is the first text of what is hashed. What is hashed never changes without another one.
const version = "fairlead audit event 1"

// canonical is what is hashed of an event: a fixed number of texts (parts). The function audit_canonical makes the same.
func (e *Event) canonical(tenant string, seq int64) []byte {
	return parts(text(version), text(tenant), number(&seq), text(e.ID), number(ptr(e.At.UnixMicro())), e.Credential, text(e.Actor), text(e.Address),
		text(e.RequestID), text(e.Kind), text(e.Object), e.Fleet, number(e.Old), number(e.New), e.Detail)
}

// next is the hash of the link with the event e, after the one with the hash h.
func (h Hash) next(tenant string, seq int64, e *Event) Hash {
	return sha256.Sum256(append(h[:], e.canonical(tenant, seq)...))
}

// parts writes each text as its length in bytes, ':', itself and ','; one that is not there as '-,'. What is read from the front is read in one way alone, so two
// lists of texts are never written alike.
func parts(texts ...*string) (out []byte) {
	for _, s := range texts {
		if s == nil {
			out = append(out, "-,"...)
			continue
		}
		out = strconv.AppendInt(out, int64(len(*s)), 10)
		out = append(append(append(out, ':'), *s...), ',')
	}
	return out
}

func ptr[T any](v T) *T { return &v }

func text(s string) *string { return &s }

func number(n *int64) *string {
	if n == nil {
		return nil
	}
	return ptr(strconv.FormatInt(*n, 10))
}
