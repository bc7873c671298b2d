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
	types, gone := c.plain, c.lost
	for ref, f := range c.variants.all() {
		choose(&types, &gone, c, v, ref, f)
	}
	snap := c.snapshot(types, gone)
	return &view{vector: v, id: viewID(c.index, v), snap: snap, target: snapshot.NewTarget(snap, nil)}
}

// next makes of a view what its nodes, or those of them whom the selectors match now,
// should hold next. Its cost is that of what changed: a node's labels do not, so that no
// selector decides otherwise than before about it.
func (v *view) next(d *difference, vector selector.Vector) *view {
	types, gone := v.snap.Types, v.snap.Gone
	for _, ref := range d.changed {
		choose(&types, &gone, d.next, vector, ref, d.next.variantsOf(ref))
	}
	id := v.id
	if d.last.index != d.next.index {
		id = viewID(d.next.index, vector)
	}
	snap := d.next.snapshot(types, gone)
	if d.last.history == d.next.history {
		snap.Follow(v.snap, len(d.changed))
	}
	return &view{vector: vector, id: id, snap: snap, target: snapshot.NewTarget(snap, nil)}
}

func choose(types, gone *[fleet.NumTypes]*snapshot.Set, c *content, v selector.Vector, ref fleet.Ref, f *variants) {
	has, lost := f.choose(c.index, v)
	types[ref.Type] = replaced(types[ref.Type], ref.Name, has)
	gone[ref.Type] = buried(gone[ref.Type], ref.Name, lost)
}

// snapshot makes one of a view's sets. All views share the sets of types without variants.
func (c *content) snapshot(types, gone [fleet.NumTypes]*snapshot.Set) *snapshot.Snapshot {
	for t, n := range c.variants.count {
		if n == 0 {
			types[t], gone[t] = c.plain[t], c.lost[t]
		}
	}
	return &snapshot.Snapshot{Revision: c.revision, History: c.history, Types: types, Gone: gone}
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
