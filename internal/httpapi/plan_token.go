package httpapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// planToken is what a plan was of and what it was made on. It is not kept here: a client that
// makes one up deceives itself alone, as it could by saying that it expects a revision.
type planToken struct {
	seen    store.Seen
	content [16]byte      // of contentOf, or deletionOf
	reasons store.Reasons // to have it confirmed, which the client was told
}

const (
	planPrefix = "plan-"
	planForm   = 1 // the first byte
	planBytes  = 1 + 8 + 16 + 16 + 2
)

func (p planToken) String() string {
	b := make([]byte, 0, planBytes)
	b = append(b, planForm)
	b = binary.BigEndian.AppendUint64(b, uint64(p.seen.Revision)) //nolint:gosec // not below 0
	b = append(b, p.seen.Token[:]...)
	b = append(b, p.content[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(p.reasons))
	return planPrefix + base64.RawURLEncoding.EncodeToString(b)
}

const notAPlan = "this is not the token of a plan, or of an answer that asked for a confirmation"

// parsePlanToken reads what String wrote.
func parsePlanToken(text string) (p planToken, ok bool) {
	text, ok = strings.CutPrefix(text, planPrefix)
	b, bad := base64.RawURLEncoding.DecodeString(text)
	if !ok || bad != nil || len(b) != planBytes || b[0] != planForm || b[1]&0x80 != 0 {
		return p, false
	}
	p.seen.Revision = fleet.Revision(binary.BigEndian.Uint64(b[1:])) //nolint:gosec // its first bit is 0
	copy(p.seen.Token[:], b[9:])
	copy(p.content[:], b[25:])
	p.reasons = store.Reasons(binary.BigEndian.Uint16(b[41:]))
	return p, true
}

// contentOf is a hash of what a write puts and deletes in a fleet, in whatever order.
func contentOf(f fleet.ID, changes []store.ResourceChange) (out [16]byte) {
	sorted := slices.SortedFunc(slices.Values(changes), func(a, b store.ResourceChange) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Variant, b.Variant))
	})
	h := sha256.New()
	h.Write(f[:])
	for _, c := range sorted {
		for _, s := range []string{c.Type.Slug(), c.Name, c.Variant} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
			h.Write([]byte(s))
		}
		if c.Delete {
			h.Write([]byte{0})
			continue
		}
		h.Write([]byte{1})
		h.Write(c.DocHash[:])
	}
	copy(out[:], h.Sum(nil))
	return out
}

// deletionOf stands for the deletion of a fleet, or of a tenant.
func deletionOf[T ~[16]byte](id T) (out [16]byte) {
	h := sha256.Sum256(fmt.Appendf(nil, "delete %T %x", id, id[:]))
	copy(out[:], h[:])
	return out
}

// errNotPlanned refuses an apply of something else than what its plan was of; pointer is where the token stands.
func errNotPlanned(pointer string) error {
	return refuse(http.StatusPreconditionFailed, "precondition_failed", "the content is not what this plan was of: plan what is to be applied, and apply that",
		oapi.FieldError{Pointer: &pointer, Code: "other_content", Detail: "the plan was of other content, or of another fleet"})
}

// errRollsBackOther refuses a rollback that changes something else than what was seen.
func errRollsBackOther(pointer string) error {
	return refuse(http.StatusPreconditionFailed, "precondition_failed", "the rollback would change something else than what was seen: plan it again, and roll back what that shows",
		oapi.FieldError{Pointer: &pointer, Code: "other_content", Detail: "others have written since, or the token is of something else"})
}
