package write

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// PlanToken is what a plan was of and what it was made on. It is not kept here: a client that
// makes one up deceives itself alone, as it could by saying that it expects a revision.
type PlanToken struct {
	Seen    store.Seen
	Content [16]byte      // of contentOf, or deletionOf
	Reasons store.Reasons // to have it confirmed, which the client was told
}

const (
	planPrefix = "plan-"
	planForm   = 1 // the first byte
	planBytes  = 1 + 8 + 16 + 16 + 2
)

func (p PlanToken) String() string {
	b := make([]byte, 0, planBytes)
	b = append(b, planForm)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Seen.Revision)) //nolint:gosec // not below 0
	b = append(b, p.Seen.Token[:]...)
	b = append(b, p.Content[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(p.Reasons))
	return planPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// NotAPlan says that ParsePlanToken took it for none.
const NotAPlan = "this is not the token of a plan, or of an answer that asked for a confirmation"

// ParsePlanToken reads what String wrote.
func ParsePlanToken(text string) (p PlanToken, ok bool) {
	text, ok = strings.CutPrefix(text, planPrefix)
	b, bad := base64.RawURLEncoding.DecodeString(text)
	if !ok || bad != nil || len(b) != planBytes || b[0] != planForm || b[1]&0x80 != 0 {
		return p, false
	}
	p.Seen.Revision = fleet.Revision(binary.BigEndian.Uint64(b[1:])) //nolint:gosec // its first bit is 0
	copy(p.Seen.Token[:], b[9:])
	copy(p.Content[:], b[25:])
	p.Reasons = store.Reasons(binary.BigEndian.Uint16(b[41:]))
	return p, true
}

// ContentOf is a hash of what a write puts and deletes in a fleet, in whatever order.
func ContentOf(f fleet.ID, changes []store.ResourceChange) (out [16]byte) {
	order := make([]int, len(changes)) // and not copies of them: a change is 400 bytes, and a fleet has many
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &changes[i], &changes[j]
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Variant, b.Variant))
	})
	h := sha256.New()
	h.Write(f[:])
	for _, i := range order {
		c := &changes[i]
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

// DeletionOf stands for the deletion of a fleet, or of a tenant.
func DeletionOf[T ~[16]byte](id T) (out [16]byte) {
	h := sha256.Sum256(fmt.Appendf(nil, "delete %T %x", id, id[:]))
	copy(out[:], h[:])
	return out
}
