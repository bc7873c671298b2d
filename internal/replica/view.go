package replica

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
)

// view is what the nodes should hold for which every selector decides the same way. It is
// immutable.
type view struct {
	vector selector.Vector // by the index of its content
	// id names the view for the time when this server is gone: two are equal if the same
	// selectors match.
	id     string
	snap   *snapshot.Snapshot
	target *snapshot.Target // of its nodes without exceptions
}

// newView makes a view out of nothing, at the cost of the names with variants.
func newView(c *content, v selector.Vector) *view {
	h := holding{c.plain, c.lost, c.sealed}
	for ref, f := range c.variants.all() {
		h.choose(c, v, ref, f)
	}
	snap := c.snapshot(h)
	snap.Since = snap.Revision
	return &view{vector: v, id: viewID(c.index, v), snap: snap, target: snapshot.NewTarget(snap, nil)}
}

// next makes of a view what its nodes, or those of them whom the selectors match now,
// should hold next. Its cost is that of what changed: a node's labels do not, so that no
// selector decides otherwise than before about it.
func (v *view) next(d *difference, vector selector.Vector) *view {
	h := holding{v.snap.Types, v.snap.Gone, v.snap.Sealed}
	for _, ref := range d.changed {
		h.choose(d.next, vector, ref, d.next.variantsOf(ref))
	}
	id := v.id
	if d.last.index != d.next.index {
		id = viewID(d.next.index, vector)
	}
	snap := d.next.snapshot(h)
	snap.Since = snap.Revision
	if d.last.history == d.next.history {
		snap.Follow(v.snap, snapshot.Change{Resources: len(d.changed), Bytes: d.replaced})
	}
	return &view{vector: vector, id: id, snap: snap, target: snapshot.NewTarget(snap, nil)}
}

// holding are a view's sets, as they are made.
type holding struct {
	types, gone [fleet.NumTypes]*snapshot.Set
	sealed      *snapshot.Set
}

func (h *holding) choose(c *content, v selector.Vector, ref fleet.Ref, f *variants) {
	has, lost := f.choose(c.index, v)
	h.types[ref.Type] = replaced(h.types[ref.Type], ref.Name, has)
	h.gone[ref.Type] = buried(h.gone[ref.Type], ref.Name, lost)
	if ref.Type == fleet.Secret {
		h.sealed = replaced(h.sealed, ref.Name, f.chooseSealed(c.index, v))
	}
}

// snapshot makes one of a view's sets. All views share the sets of types without variants.
func (c *content) snapshot(h holding) *snapshot.Snapshot {
	for t, n := range c.variants.count {
		if n == 0 {
			h.types[t], h.gone[t] = c.plain[t], c.lost[t]
		}
	}
	if c.variants.count[fleet.Secret] == 0 {
		h.sealed = c.sealed
	}
	return &snapshot.Snapshot{Revision: c.revision, History: c.history, Types: h.types, Gone: h.gone, Sealed: h.sealed}
}

// viewID hashes the selectors that match; "" if none does.
func viewID(x *selector.Index, v selector.Vector) string {
	if v == "" {
		return ""
	}
	h := sha256.New()
	for i := range x.Len() {
		if v.Has(i) {
			text := x.At(i).String()
			_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash never fails
			_, _ = h.Write([]byte(text))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
