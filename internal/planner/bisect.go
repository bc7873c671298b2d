package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// A bisection finds which of several resources a client refuses when its words name none of
// them (SEMANTICS 3.5): all are kept back at their last known good version, then given back
// half by half, until each was taken or stands alone as the culprit. Each content goes
// out once, and one poison among n costs at most 2 + 2 log2(n) responses.

// bisection is that of one type.
type bisection struct {
	words   string   // that began it
	waiting []*group // kept back, next first
	offered *group   // given back now; nil: none
	// blamed are found out. They are kept back until the node's target says so.
	blamed []snapshot.Exception
}

// group are candidates that are offered together.
type group struct {
	candidates []snapshot.Exception
	bad        bool // one of them is the culprit, at least
	// other is the half that was not offered yet: if this one is taken, that one is bad.
	other *group
	// parked: it could not be offered, since what it names is not there.
	parked place
}

// place is what decides whether a group can go out: the target, and the clusters that the
// client has.
type place struct {
	target   *snapshot.Target
	clusters *snapshot.Set
	doubts   int
}

func (c *Client) place() place {
	return place{c.overlay.base, c.pos.Types[fleet.Cluster].Held, c.pos.Types[fleet.Cluster].Doubts.Len()}
}

func newBisection(all []snapshot.Exception, words string) *bisection {
	return &bisection{words: words, waiting: []*group{{candidates: slices.Clone(all), bad: true}}}
}

// withheld are the candidates that are kept back.
func (b *bisection) withheld() []snapshot.Exception {
	all := slices.Clone(b.blamed)
	for _, g := range b.waiting {
		all = append(all, g.candidates...)
	}
	return all
}

// halve splits a bad group of several: the first half is offered first.
func halve(g *group) (first, second *group) {
	at := len(g.candidates) / 2 // the smaller half first: that it is refused costs more
	second = &group{candidates: slices.Clone(g.candidates[at:])}
	return &group{candidates: slices.Clone(g.candidates[:at]), other: second}, second
}

// offer gives the next group back that is not parked at this place; culprits are those
// that stand alone by now.
func (b *bisection) offer(at place) (culprits []snapshot.Exception) {
	defer func() { b.sentence(culprits, at.target.Revision) }()
	for b.offered == nil {
		i := slices.IndexFunc(b.waiting, func(g *group) bool { return g.parked != at })
		if i < 0 {
			return culprits
		}
		g := b.waiting[i]
		b.waiting = slices.Delete(b.waiting, i, i+1)
		switch {
		case len(g.candidates) == 0:
		case !g.bad:
			b.offered = g
		case len(g.candidates) == 1:
			culprits = append(culprits, g.candidates[0])
		default:
			first, second := halve(g)
			b.waiting = slices.Insert(b.waiting, 0, second)
			b.offered = first
		}
	}
	return culprits
}

// park puts the offered group behind the others: it cannot go out.
func (b *bisection) park(at place) {
	b.offered.parked = at
	b.waiting = append(b.waiting, b.offered)
	b.offered = nil
}

// taken: the client ACKed the group that was offered.
func (b *bisection) taken() {
	if g := b.offered; g != nil && g.other != nil {
		g.other.bad = true
	}
	b.offered = nil
}

// refused: the client would not take the group that was offered. Its other half goes out
// together with what puts this one back.
func (b *bisection) refused() {
	g := b.offered
	b.offered = nil
	g.bad = true
	if other := g.other; other != nil && !other.bad {
		b.waiting = slices.DeleteFunc(b.waiting, func(x *group) bool { return x == other })
		b.offered = other
		g.other = nil
	}
	b.waiting = slices.Insert(b.waiting, 0, g)
}

// accuse takes in that a response with these candidates was refused, and none was named. One
// that carried a culprit, or all of a group that is known to be bad, says nothing of the others, and one that was
// overtaken says nothing of what is offered since.
func (b *bisection) accuse(all []snapshot.Exception) {
	has, fresh := among(all), b.fresh(all)
	lacks := func(x snapshot.Exception) bool { return !has(x) }
	explained := slices.ContainsFunc(b.blamed, has) || slices.ContainsFunc(b.waiting, func(g *group) bool {
		return g.bad && !slices.ContainsFunc(g.candidates, lacks)
	})
	if b.offered == nil || explained || !slices.ContainsFunc(b.offered.candidates, has) {
		if len(fresh) > 0 {
			b.waiting = slices.Insert(b.waiting, 0, &group{candidates: fresh, bad: len(fresh) == len(all)})
		}
		return
	}
	b.refusedWith(fresh)
}

// refusedWith is refused, where the response carried others too of which nothing is known yet.
func (b *bisection) refusedWith(fresh []snapshot.Exception) {
	b.offered.candidates = append(b.offered.candidates, fresh...)
	b.refused()
}

// fresh are those of all that are no candidates yet.
func (b *bisection) fresh(all []snapshot.Exception) []snapshot.Exception {
	return slices.DeleteFunc(slices.Clone(all), among(b.all()))
}

// drop takes names out: they were blamed by name, or have another version by now. What
// the groups that lose some told about each other holds no more.
func (b *bisection) drop(out func(snapshot.Exception) bool) {
	b.blamed = slices.DeleteFunc(b.blamed, out)
	groups := slices.Clone(b.waiting)
	if b.offered != nil {
		groups = append(groups, b.offered)
	}
	lost := map[*group]bool{}
	for _, g := range groups {
		before := len(g.candidates)
		g.candidates = slices.DeleteFunc(g.candidates, out)
		lost[g] = len(g.candidates) < before
	}
	for _, g := range groups {
		g.bad = g.bad && !lost[g]
		if lost[g] || lost[g.other] {
			g.other = nil
		}
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(g *group) bool { return len(g.candidates) == 0 })
	if b.offered != nil && len(b.offered.candidates) == 0 {
		b.offered = nil
	}
}

func (b *bisection) over() bool {
	return b.offered == nil && len(b.waiting) == 0 && len(b.blamed) == 0
}

// blame takes candidates out of their groups: they are the culprits.
func (b *bisection) blame(culprits []snapshot.Exception, at fleet.Revision) {
	b.drop(among(culprits))
	b.sentence(culprits, at)
	if b.offered == nil && len(b.waiting) > 0 && !b.waiting[0].bad {
		b.offered, b.waiting = b.waiting[0], b.waiting[1:] // together with what puts these back
	}
}

// sentence keeps culprits back from the target's revision on.
func (b *bisection) sentence(culprits []snapshot.Exception, at fleet.Revision) {
	for _, x := range culprits {
		x.At = at
		b.blamed = append(b.blamed, x)
	}
}

// among tells whether a version is that of a candidate, of which there may be thousands.
func among(all []snapshot.Exception) func(snapshot.Exception) bool {
	versions := make(map[snapshot.Sum]bool, len(all))
	for _, x := range all {
		versions[x.Refused.Key()] = true
	}
	return func(x snapshot.Exception) bool { return versions[x.Refused.Key()] }
}

// groups are all candidates, in slices that may be written to.
func (b *bisection) groups() [][]snapshot.Exception {
	all := [][]snapshot.Exception{b.blamed}
	for _, g := range b.waiting {
		all = append(all, g.candidates)
	}
	if b.offered != nil {
		all = append(all, b.offered.candidates)
	}
	return all
}

func (b *bisection) all() []snapshot.Exception { return slices.Concat(b.groups()...) }

// carries reports whether the client has all candidates of a group once it took the response.
func (r *Response) carries(g *group) bool {
	return !slices.ContainsFunc(g.candidates, func(x snapshot.Exception) bool { return !snapshot.Same(r.after.Get(x.Refused.Name), x.Refused) })
}
