package fleet

import (
	"cmp"
	"slices"
)

// MaxWaits is how many resources of each of its lists a Waits names.
const MaxWaits = 20

// Withheld is a resource that is kept from a node: it stays at its last good version, or
// away, until what it names is there.
type Withheld struct {
	Ref Ref // what is kept back
	By  Ref // what it waits for: it does not exist, or the node refused it
	// Revision is the one that introduced what is kept back in the node's view, 0 if it is
	// not known.
	Revision Revision
}

// Waits is what a node waits for at present. The zero value is: for nothing.
type Waits struct {
	// Warming are resources that the client was sent and has not answered, because
	// something that they need is still open.
	Warming []Ref
	// Withheld are resources that are not sent as the fleet has them.
	Withheld []Withheld
	// More is how many are left out of the two lists, each of which names MaxWaits.
	More int
}

// Empty reports whether the node waits for nothing.
func (w Waits) Empty() bool { return len(w.Warming)+len(w.Withheld)+w.More == 0 }

// Equal reports whether two name the same, in the same order.
func (w Waits) Equal(o Waits) bool {
	return w.More == o.More && slices.Equal(w.Warming, o.Warming) && slices.Equal(w.Withheld, o.Withheld)
}

// Blocked reports whether all that is missing is withheld, so that nothing comes of
// itself: somebody has to write something.
func (w Waits) Blocked() bool { return len(w.Withheld) > 0 && len(w.Warming) == 0 }

// With returns what both name: sorted, nothing twice, each list cut to MaxWaits.
func (w Waits) With(o Waits) Waits {
	out := Waits{More: w.More + o.More}
	out.Warming = bounded(compareRefs, &out.More, w.Warming, o.Warming)
	out.Withheld = bounded(compareWithheld, &out.More, w.Withheld, o.Withheld)
	return out
}

// bounded joins two lists; more counts what is cut off.
func bounded[T comparable](compare func(a, b T) int, more *int, a, b []T) []T {
	all := slices.Concat(a, b)
	slices.SortFunc(all, compare)
	all = slices.Compact(all)
	if over := len(all) - MaxWaits; over > 0 {
		*more += over
		all = all[:MaxWaits]
	}
	if len(all) == 0 {
		return nil
	}
	return slices.Clip(all)
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

func compareWithheld(a, b Withheld) int {
	return cmp.Or(compareRefs(a.Ref, b.Ref), compareRefs(a.By, b.By), cmp.Compare(a.Revision, b.Revision))
}
