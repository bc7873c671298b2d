package fleet

import (
	"cmp"
	"slices"
)

// MaxWaits is how many resources of each of its lists a Waits names. What is withheld may
// be more, up to MaxWithheld, where it comes from more revisions.
const (
	MaxWaits    = 20
	MaxWithheld = 100
)

// Withheld is a resource that is kept from a node: it stays at its last known good version, or
// away, until what it names is there.
type Withheld struct {
	Ref Ref // what is kept back
	By  Ref // what it waits for: it does not exist, or the node refused it, or it is Sealed; or itself, see TooLarge
	// Revision introduced what is kept back, in the node's view; 0: not known.
	Revision Revision
	// Sealed: By is a secret that exists, and the node's server has no key for it. It may be the resource itself.
	Sealed bool
}

// TooLarge reports whether it waits for nothing but room: the client does not take so much at once.
func (h Withheld) TooLarge() bool { return !h.Sealed && h.By == h.Ref }

// Waits is what a node waits for at present. The zero value is: for nothing.
type Waits struct {
	// Warming are resources that the client was sent and has not answered, because
	// something that they need is still open.
	Warming []Ref
	// Withheld are resources that are not sent as the fleet has them. Each revision of
	// which something is withheld is among them, Cut apart.
	Withheld []Withheld
	// More is how many are left out of Warming and Withheld.
	More int
	// Cut, if not 0, is the lowest revision of which something is withheld and Withheld
	// tells nothing: the node has settled what is before it at most.
	Cut Revision
}

// Empty reports whether the node waits for nothing.
func (w Waits) Empty() bool { return len(w.Warming)+len(w.Withheld)+w.More == 0 }

// Equal reports whether two name the same, in the same order.
func (w Waits) Equal(o Waits) bool {
	return w.More == o.More && w.Cut == o.Cut && slices.Equal(w.Warming, o.Warming) && slices.Equal(w.Withheld, o.Withheld)
}

// Blocked reports whether all that is missing is withheld, so that nothing comes of
// itself: somebody has to write something.
func (w Waits) Blocked() bool { return len(w.Withheld) > 0 && len(w.Warming) == 0 }

// Withholds reports whether something of the revision is withheld.
func (w Waits) Withholds(rev Revision) bool {
	return w.Cut > 0 && rev >= w.Cut || slices.ContainsFunc(w.Withheld, func(h Withheld) bool { return h.Revision > 0 && h.Revision == rev })
}

// PassedOver is what is withheld of revisions up to settled: a node that has settled there
// has all but that.
func (w Waits) PassedOver(settled Revision) Waits {
	var out Waits
	for _, h := range w.Withheld {
		if h.Revision > 0 && h.Revision <= settled {
			out.Withheld, out.Cut = append(out.Withheld, h), w.Cut
		}
	}
	if len(w.Warming) == 0 && len(out.Withheld) == len(w.Withheld) {
		out.More = w.More
	}
	return out
}

// Confirmed is what a node has settled without a gap, of one that has settled there but for
// what it waits for.
func (w Waits) Confirmed(settled Revision) Revision {
	confirmed := settled
	if w.Cut > 0 {
		confirmed = min(confirmed, w.Cut-1)
	}
	for _, h := range w.Withheld {
		if h.Revision > 0 {
			confirmed = min(confirmed, h.Revision-1)
		}
	}
	return confirmed
}

// Held is what a node has that has settled there but for what it waits for; the zero value if that is not known.
func (w Waits) Held(settled Revision) (h Held) {
	if settled == 0 || w.Cut > 0 || w.More > 0 {
		return h
	}
	h.At = settled
	var without []Ref
	for _, x := range w.PassedOver(settled).Withheld {
		without = append(without, x.Ref)
	}
	h.Without = joined(compareRefs, without, nil)
	return h
}

// Of is what of it concerns a revision. behind: the node has not settled there, so that
// what is warming does, and what is withheld of a revision that is not known.
func (w Waits) Of(rev Revision, behind bool) Waits {
	var out Waits
	if behind {
		out.Warming, out.More = w.Warming, w.More
	}
	for _, h := range w.Withheld {
		if h.Revision == rev || behind && h.Revision == 0 {
			out.Withheld = append(out.Withheld, h)
		}
	}
	return out
}

// With returns what both name: sorted, nothing twice, each list cut to size.
func (w Waits) With(o Waits) Waits {
	out := Waits{More: w.More + o.More, Cut: w.Cut}
	if out.Cut == 0 || o.Cut > 0 && o.Cut < out.Cut {
		out.Cut = o.Cut
	}
	out.Warming = joined(compareRefs, w.Warming, o.Warming)
	if over := len(out.Warming) - MaxWaits; over > 0 {
		out.More += over
		out.Warming = out.Warming[:MaxWaits:MaxWaits]
	}
	out.Withheld = joined(compareWithheld, w.Withheld, o.Withheld)
	out.bound()
	return out
}

// joined is what is in either list; nil if that is nothing.
func joined[T comparable](compare func(a, b T) int, a, b []T) []T {
	all := slices.Concat(a, b)
	slices.SortFunc(all, compare)
	if all = slices.Compact(all); len(all) == 0 {
		return nil
	}
	return slices.Clip(all)
}

// bound cuts what is withheld, which is sorted. One of each revision stays, of the lowest
// ones if they are too many.
func (w *Waits) bound() {
	if len(w.Withheld) <= MaxWaits {
		return
	}
	first := make(map[Revision]int) // where it is named first
	for i, h := range w.Withheld {
		if _, ok := first[h.Revision]; !ok {
			first[h.Revision] = i
		}
	}
	revs := make([]Revision, 0, len(first))
	for rev := range first {
		revs = append(revs, rev)
	}
	slices.Sort(revs)
	if len(revs) > MaxWithheld {
		if cut := revs[MaxWithheld]; w.Cut == 0 || cut < w.Cut {
			w.Cut = cut
		}
		revs = revs[:MaxWithheld]
	}
	keep := make([]bool, len(w.Withheld))
	for _, rev := range revs {
		keep[first[rev]] = true
	}
	room := MaxWaits - len(revs)
	kept := make([]Withheld, 0, max(MaxWaits, len(revs)))
	for i, h := range w.Withheld {
		if !keep[i] && room > 0 {
			keep[i] = true
			room--
		}
		if keep[i] {
			kept = append(kept, h)
		}
	}
	w.More += len(w.Withheld) - len(kept)
	w.Withheld = kept
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

func compareWithheld(a, b Withheld) int {
	return cmp.Or(compareRefs(a.Ref, b.Ref), compareRefs(a.By, b.By), cmp.Compare(a.Revision, b.Revision), compareBools(a.Sealed, b.Sealed))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
