package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

// MaxName is how long the name of a resource may be, in bytes.
const MaxName = 512

// Write is one call that changes a fleet: one revision, or none if nothing changes.
type Write struct {
	Actor
	Kind    string // for the history, such as "apply"; "" is that
	Message string
	// Expect, if set, is the revision that the fleet must be at.
	Expect *fleet.Revision
	// Seen, if set, is when the resources that are changed must have been last changed at
	// the latest: at that revision of that history.
	Seen *Seen
	// Confirmed, if set, are the reasons to have this confirmed that somebody has seen: for another
	// one it is not made, and is an *UnconfirmedError.
	Confirmed *Reasons
	// Read are resources by which somebody has judged that the write may be made: it is ErrReadMoved if one of them
	// was changed since.
	Read []Read
	// ReferencesTold, of a plan for a fleet whose references are strict: what would be without what it names is no error.
	ReferencesTold bool
	// Only, of a rollback, are the resources that are rolled back, none twice; nil: all.
	Only    []Cursor
	Changes []ResourceChange // no resource twice
	// Idempotency, if set, makes a repeat of the call return the first one's Result.
	Idempotency *Idempotency
}

// Seen is a fleet as somebody saw it.
type Seen struct {
	Revision fleet.Revision
	Token    fleet.Token
}

// Read is that the variants of a resource were read.
type Read struct {
	Type     fleet.Type
	Name     string
	Revision fleet.Revision // the newest of all of them; 0: there was none
}

// Idempotency is a key that the caller chose, within its Actor's Credential, and the
// hash of its whole request. It is kept for 24 hours.
type Idempotency struct {
	Key         string // at most 255 bytes
	RequestHash [32]byte

	wait time.Duration // how long a repeat still waits for the first
}

// ResourceChange puts or deletes one resource. Of a deletion only Type, Name, Variant
// and the preconditions count.
type ResourceChange struct {
	Type          fleet.Type
	Name, Variant string
	Delete        bool
	IfMatch       string // "": none; "*": must exist; else the ETag that it must have
	IfNoneMatch   bool   // must not exist
	// ReadAt, if set, is the revision that last changed the resource that this was made from: if
	// it is another one now, and this would change it, the write is stale. 0: there was none.
	ReadAt *fleet.Revision
	// ReadTag, if set, is the same by the ETag that the resource had.
	ReadTag string

	Selector    string
	Priority    int32
	TTL         time.Duration // whole milliseconds
	Labels      map[string]string
	Description string
	Version     string   // SEMANTICS 1.1; opaque
	DocHash     [32]byte // SEMANTICS 1.2: equal means that nothing changes
	BodyHash    [32]byte
	Body        []byte // the Any's value; of a Secret, sealed
	SealedFor   string // of a Secret: the id of the key that Body is sealed with, which stands in Summary as sealed_for
	Derived     fleet.Derived
	// DeriveVersion is of the code that made Derived.
	DeriveVersion int
	Summary       []byte // JSON; of a Secret, what may be shown
}

// Result is what a write came to.
type Result struct {
	Revision    fleet.Revision // the new one, or, when nothing changed, the present one
	Changed     int            // how many resources
	CommittedAt time.Time      // of Revision, by the database's clock
	// Resources are what the changes left, one each, in their order. Of a deletion: the
	// tombstone, with Revision 0 where there never was anything. nil after a rollback.
	Resources []Resource
	// Replayed: an earlier call with the same idempotency key did it.
	Replayed bool
}

// Created reports whether the write made the resource of the change with that number.
func (r Result) Created(i int) bool {
	row := r.Resources[i]
	return r.Changed > 0 && row.Revision == r.Revision && row.CreatedAt.Equal(row.UpdatedAt)
}

// Deleted reports whether the write deleted it.
func (r Result) Deleted(i int) bool {
	return r.Changed > 0 && r.Resources[i].Revision == r.Revision && r.Resources[i].Deleted
}

// check refuses what the database could not take or would take for something else.
func (w Write) check() error {
	type name struct {
		t             fleet.Type
		name, variant string
	}
	seen := make(map[name]int, len(w.Changes))
	for i, c := range w.Changes {
		if c.Type >= fleet.NumTypes || c.Name == "" || len(c.Name) > MaxName || !utf8.ValidString(c.Name) || !utf8.ValidString(c.Variant) {
			return fmt.Errorf("change %d: the type or the name %.80q is not possible: %w", i, c.Name, fleet.ErrInvalid)
		}
		if c.TTL < 0 {
			return fmt.Errorf("change %d: %s %q: the TTL is below zero: %w", i, c.Type, c.Name, fleet.ErrInvalid)
		}
		k := name{c.Type, c.Name, c.Variant}
		if j, twice := seen[k]; twice {
			return fmt.Errorf("changes %d and %d are of the same resource, %s %q: %w", j, i, c.Type, c.Name, fleet.ErrInvalid)
		}
		seen[k] = i
	}
	if w.Idempotency != nil && w.Credential == (fleet.CredentialID{}) {
		return fmt.Errorf("an idempotency key belongs to a credential: %w", fleet.ErrInvalid)
	}
	return nil
}

func (w Write) kind() string { return cmp.Or(w.Kind, "apply") }

// json is all but the changes, as the schema's functions take it.
func (w Write) json() ([]byte, error) {
	m := w.Actor.json()
	m["message"] = w.Message
	m["kind"] = w.kind()
	if w.Expect != nil {
		m["expect"] = *w.Expect
	}
	if w.Seen != nil {
		m["seen"] = map[string]any{"revision": w.Seen.Revision, "token": w.Seen.Token.String()}
	}
	if w.Confirmed != nil {
		m["confirmed"] = w.Confirmed.keys()
	}
	if len(w.Read) > 0 {
		m["read"] = readJSON(w.Read)
	}
	if w.ReferencesTold {
		m["references_told"] = true
	}
	if w.Only != nil {
		m["only"] = onlyJSON(w.Only)
	}
	if w.Idempotency != nil {
		m["idempotency_key"] = w.Idempotency.Key
		m["idempotency_hash"] = hex.EncodeToString(w.Idempotency.RequestHash[:])
		m["idempotency_wait"] = max(1, w.Idempotency.wait.Milliseconds())
	}
	return json.Marshal(m)
}

// changeJSON is the schema's type resource_change.
type changeJSON struct {
	Ord           int               `json:"ord"`
	Type          string            `json:"type"`
	Name          string            `json:"name"`
	Variant       string            `json:"variant"`
	Delete        bool              `json:"delete"`
	IfMatch       string            `json:"if_match"`
	IfNoneMatch   bool              `json:"if_none_match"`
	ReadAt        *fleet.Revision   `json:"read_at,omitempty"`
	ReadTag       string            `json:"read_tag,omitempty"`
	Selector      string            `json:"selector,omitempty"`
	Priority      int32             `json:"priority,omitempty"`
	TTL           int64             `json:"ttl_ms,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Description   string            `json:"description,omitempty"`
	Version       string            `json:"version,omitempty"`
	DocHash       string            `json:"doc_hash,omitempty"`
	BodyHash      string            `json:"body_hash,omitempty"`
	Derived       *derivedJSON      `json:"derived,omitempty"`
	DeriveVersion int               `json:"derive_version,omitempty"`
	Summary       json.RawMessage   `json:"summary,omitempty"`
}

// encode returns the changes as JSON and their bodies beside it, nil for a deletion.
func encodeChanges(cs []ResourceChange) ([]byte, [][]byte, error) {
	out, bodies := make([]changeJSON, len(cs)), make([][]byte, len(cs))
	for i, c := range cs {
		j := changeJSON{Ord: i + 1, Type: c.Type.Slug(), Name: c.Name, Variant: c.Variant, Delete: c.Delete, IfMatch: c.IfMatch, IfNoneMatch: c.IfNoneMatch, ReadAt: c.ReadAt, ReadTag: c.ReadTag}
		if !c.Delete {
			j.Selector, j.Priority, j.TTL, j.Labels, j.Description = c.Selector, c.Priority, c.TTL.Milliseconds(), c.Labels, c.Description
			j.Version, j.DocHash, j.BodyHash = c.Version, bytea(c.DocHash), bytea(bodyAddress(c))
			j.Derived, j.DeriveVersion, j.Summary = encodeDerived(c.Derived), c.DeriveVersion, c.Summary
			if bodies[i] = c.Body; bodies[i] == nil {
				bodies[i] = []byte{} // the message without fields
			}
		}
		out[i] = j
	}
	b, err := json.Marshal(out)
	return b, bodies, err
}

// bodyAddress is where a body is kept. The sealed bytes of a Secret open for one version
// alone, and the body's hash leaves out the TTL, which the version covers. Sealed with another key they are others.
func bodyAddress(c ResourceChange) [32]byte {
	if c.Type != fleet.Secret {
		return c.BodyHash
	}
	return sha256.Sum256(append(append(c.BodyHash[:], c.Version...), c.SealedFor...))
}

func bytea(h [32]byte) string { return `\x` + hex.EncodeToString(h[:]) }
