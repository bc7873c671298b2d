package snapshot

import (
	"slices"

	"fairlead/internal/fleet"
)

// A trial finds which of several resources a client refuses when its words name none of
// them (SEMANTICS 3.5): all are kept back at their last good version, then given back
// half by half, until each was taken or stands alone as the culprit. Each content goes
// out once, and one poison among n costs at most 2 + 2 log2(n) responses.

// suspect is a version that may be what the client refuses.
type suspect struct {
	refused, good *Resource
	leave         bool           // the client has another version, whose bytes are not known here
	had           string         // that version, if it is known
	condemned     fleet.Revision // the target's when it was found guilty, 0 while it was not
}

// group are suspects that are offered together.
type group struct {
	suspects []suspect
	bad      bool // one of them is the culprit, at least
	// other is the half that was not offered yet: if this one is taken, that one is bad.
	other *group
	// parked: it could not be offered, since what it names is not there.
	parked place
}

// place is what decides whether a group can go out: the target, and the clusters that the
// client has.
type place struct {
	target   *Target
	clusters *Set
}

// trial is that of one type.
type trial struct {
	text    string   // the words that began it
	waiting []*group // kept back, next first
	offered *group   // given back now; nil: none
	// condemned are found out. They are kept back until the node's target says so.
	condemned []suspect
}

// newTrial splits the suspects by what other nodes say, if that is of some of them: a node
// that lies costs the others a response and nothing else.
func newTrial(suspects []suspect, text string, witnessed []suspect) *trial {
	if len(witnessed) == 0 || len(witnessed) == len(suspects) {
		return &trial{text: text, waiting: []*group{{suspects: suspects, bad: true}}}
	}
	second := &group{suspects: witnessed}
	rest := slices.DeleteFunc(slices.Clone(suspects), func(s suspect) bool { return slices.Contains(witnessed, s) })
	return &trial{text: text, waiting: []*group{{suspects: rest, other: second}, second}}
}

// withheld yields the suspects that are kept back.
func (tr *trial) withheld(yield func(suspect) bool) {
	for _, s := range tr.condemned {
		if !yield(s) {
			return
		}
	}
	for _, g := range tr.waiting {
		for _, s := range g.suspects {
			if !yield(s) {
				return
			}
		}
	}
}

// halve splits a bad group of several: the first half is offered first.
func halve(g *group) (first, second *group) {
	at := len(g.suspects) / 2 // the smaller half first: that it is refused costs more
	second = &group{suspects: slices.Clone(g.suspects[at:])}
	return &group{suspects: slices.Clone(g.suspects[:at]), other: second}, second
}

// offer gives the next group back that is not parked at this place; culprits are those
// that stand alone by now.
func (tr *trial) offer(at place) (culprits []suspect) {
	defer func() { tr.sentence(culprits, at.target.Revision) }()
	for tr.offered == nil {
		i := slices.IndexFunc(tr.waiting, func(g *group) bool { return g.parked != at })
		if i < 0 {
			return culprits
		}
		g := tr.waiting[i]
		tr.waiting = slices.Delete(tr.waiting, i, i+1)
		switch {
		case len(g.suspects) == 0:
		case !g.bad:
			tr.offered = g
		case len(g.suspects) == 1:
			culprits = append(culprits, g.suspects[0])
		default:
			first, second := halve(g)
			tr.waiting = slices.Insert(tr.waiting, 0, second)
			tr.offered = first
		}
	}
	return culprits
}

// park puts the offered group behind the others: it cannot go out.
func (tr *trial) park(at place) {
	tr.offered.parked = at
	tr.waiting = append(tr.waiting, tr.offered)
	tr.offered = nil
}

// taken: the client ACKed the group that was offered.
func (tr *trial) taken() {
	if g := tr.offered; g != nil && g.other != nil {
		g.other.bad = true
	}
	tr.offered = nil
}

// refused: the client would not take the group that was offered. Its other half goes out
// together with what puts this one back.
func (tr *trial) refused() {
	g := tr.offered
	tr.offered = nil
	g.bad = true
	if other := g.other; other != nil && !other.bad {
		tr.waiting = slices.DeleteFunc(tr.waiting, func(x *group) bool { return x == other })
		tr.offered = other
		g.other = nil
	}
	tr.waiting = slices.Insert(tr.waiting, 0, g)
}

// drop takes names out: they were blamed by name, or have another version by now. What
// the groups that lose some told about each other holds no more.
func (tr *trial) drop(out func(suspect) bool) {
	tr.condemned = slices.DeleteFunc(tr.condemned, out)
	groups := slices.Clone(tr.waiting)
	if tr.offered != nil {
		groups = append(groups, tr.offered)
	}
	lost := map[*group]bool{}
	for _, g := range groups {
		before := len(g.suspects)
		g.suspects = slices.DeleteFunc(g.suspects, out)
		lost[g] = len(g.suspects) < before
	}
	for _, g := range groups {
		g.bad = g.bad && !lost[g]
		if lost[g] || lost[g.other] {
			g.other = nil
		}
	}
	tr.waiting = slices.DeleteFunc(tr.waiting, func(g *group) bool { return len(g.suspects) == 0 })
	if tr.offered != nil && len(tr.offered.suspects) == 0 {
		tr.offered = nil
	}
}

func (tr *trial) over() bool {
	return tr.offered == nil && len(tr.waiting) == 0 && len(tr.condemned) == 0
}

// condemn takes suspects out of their groups: they are the culprits.
func (tr *trial) condemn(culprits []suspect, at fleet.Revision) {
	tr.drop(func(s suspect) bool {
		return slices.ContainsFunc(culprits, func(x suspect) bool { return x.refused == s.refused })
	})
	tr.sentence(culprits, at)
	if tr.offered == nil && len(tr.waiting) > 0 && !tr.waiting[0].bad {
		tr.offered, tr.waiting = tr.waiting[0], tr.waiting[1:] // together with what puts these back
	}
}

// sentence keeps culprits back from the target's revision on.
func (tr *trial) sentence(culprits []suspect, at fleet.Revision) {
	for _, s := range culprits {
		s.condemned = at
		tr.condemned = append(tr.condemned, s)
	}
}

// knows reports whether the version is a suspect.
func (tr *trial) knows(r *Resource) bool {
	return slices.ContainsFunc(tr.all(), func(s suspect) bool { return Same(s.refused, r) })
}

// effective is the target with what trials keep back.
func (c *Client) effective(target *Target) *Target {
	c.base = target
	if !c.trying() {
		return target
	}
	c.endTrials(target)
	if c.overlay.base == target && c.overlay.at == c.trialMoves {
		return c.overlay.target
	}
	t := *target
	var es []Exception
	for typ := range c.types {
		if try := c.types[typ].trial; try != nil {
			try.withheld(func(s suspect) bool {
				es = append(es, Exception{Type: fleet.Type(typ), Name: s.refused.Name, Refused: s.refused.Version, Good: s.good, Leave: s.leave})
				return true
			})
		}
	}
	t.except(es)
	c.overlay = overlay{base: target, at: c.trialMoves, target: &t}
	return &t
}

// overlay is a memo of effective.
type overlay struct {
	base, target *Target
	at           int
}

func (c *Client) trying() bool {
	for i := range c.types {
		if c.types[i].trial != nil {
			return true
		}
	}
	return false
}

// endTrials drops the suspects that the target has left, and moves on where nothing is
// offered and the client has answered.
func (c *Client) endTrials(target *Target) {
	for i := range c.types {
		tr := &c.types[i]
		if tr.trial == nil {
			continue
		}
		gone := func(s suspect) bool { // or back, by a later revision: then it is offered once more
			now := c.lookup(fleet.Type(i), s.refused.Name, target)
			return !tr.sub.Has(s.refused.Name) || !Same(now, s.refused) || s.condemned > 0 && now.Revision > s.condemned
		}
		if slices.ContainsFunc(tr.trial.all(), gone) {
			tr.trial.drop(gone)
			c.trialMoves++
		}
		if tr.trial.over() {
			tr.trial = nil
			tr.inStep = false
		}
	}
}

// repaired reports whether the client has confirmed what stands in for the suspects. That
// nothing does cannot be said of every type: removable.
func (tr *track) repaired(removable bool) bool {
	return !slices.ContainsFunc(tr.trial.all(), func(s suspect) bool {
		held := tr.held.Get(s.refused.Name)
		return held != nil && held.doubt && !s.leave && (removable || s.good != nil)
	})
}

// advance offers the next group of a trial whose client has taken what went before, or
// where what was offered has to wait. It reports whether anything moved.
func (c *Client) advance() bool {
	moved := false
	at := place{c.base, c.types[fleet.Cluster].held}
	for i := range c.types {
		tr := &c.types[i]
		if tr.trial == nil || tr.inFlight != nil {
			continue
		}
		if c.release(fleet.Type(i)) || tr.hasOffered() {
			tr.inStep = false
			c.trialMoves++
			moved = true
			continue
		}
		if !slices.ContainsFunc(tr.trial.waiting, func(g *group) bool { return g.parked != at }) {
			continue
		}
		if tr.trial.offered != nil {
			tr.trial.park(at)
			c.trialMoves++
		}
		if !tr.repaired(c.Delta || fleet.Type(i).FullSet()) {
			continue
		}
		if culprits := tr.trial.offer(at); len(culprits) > 0 {
			c.verdict(fleet.Type(i), tr.trial.text, culprits)
		}
		tr.inStep = false
		c.trialMoves++
		moved = true
	}
	return moved
}

// hasOffered takes in that the client has all that is offered, by an earlier response: nothing
// goes out that could be ACKed.
func (tr *track) hasOffered() bool {
	g := tr.trial.offered
	if g == nil || slices.ContainsFunc(g.suspects, func(s suspect) bool { return !Same(tr.held.Get(s.refused.Name), s.refused) }) {
		return false
	}
	tr.trial.taken()
	return true
}

// release drops the suspects that are offered and lack something: they are withheld whether
// or not they are suspects, and offered when that is there.
func (c *Client) release(t fleet.Type) (any bool) {
	tr := &c.types[t]
	if tr.trial.offered == nil {
		return false
	}
	lacks := func(s suspect) bool {
		_, ok := c.waitsFor(t, change{old: tr.held.Get(s.refused.Name), new: s.refused}, c.base)
		return ok
	}
	if any = slices.ContainsFunc(tr.trial.offered.suspects, lacks); any {
		offered := slices.Clone(tr.trial.offered.suspects)
		tr.trial.drop(func(s suspect) bool { return slices.Contains(offered, s) && lacks(s) })
	}
	return any
}

// correct takes in what the client holds of the suspects by its own account: what it was
// thought never to have had is not taken away.
func (tr *trial) correct(held *Set) {
	for _, suspects := range tr.groups() {
		for i := range suspects {
			s := &suspects[i]
			h := held.Get(s.refused.Name)
			if s.good != nil || h == nil || h.doubt && !h.had {
				continue
			}
			if s.good = h.lastGood(); s.good == nil {
				s.leave, s.had = true, h.Version
			}
		}
	}
}

// groups are all suspects, in slices that may be written to.
func (tr *trial) groups() [][]suspect {
	all := [][]suspect{tr.condemned}
	for _, g := range tr.waiting {
		all = append(all, g.suspects)
	}
	if tr.offered != nil {
		all = append(all, tr.offered.suspects)
	}
	return all
}

func (tr *trial) all() []suspect {
	var all []suspect
	tr.withheld(func(s suspect) bool { all = append(all, s); return true })
	if tr.offered != nil {
		all = append(all, tr.offered.suspects...)
	}
	return all
}
