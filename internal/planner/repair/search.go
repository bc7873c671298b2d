// Package repair finds out what a client refuses, by its words or by halves, and says what is kept back until the node's target leaves that out
// (SEMANTICS 3.5). It knows versions and words, and nothing of streams: a Search is told what became of what went out.
package repair

import (
	"iter"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// What stands in the place of the words of a client that says nothing.
const (
	// Stuck is of one that is presumed stuck.
	Stuck = "the proxy answered neither ACK nor NACK, though it had all endpoints and secrets that it asked for: it holds back all answers for clusters, as Envoy does when its load balancer refuses one"
	// ProbablyRefused is of one that polls: it cannot refuse, it asks again.
	ProbablyRefused = "probably refused: the proxy polls over REST and asked twice with the version before, after it was answered. REST has no way to say why: see update_rejected and the log of the proxy"
)

// Search looks for what a client refuses of one type, if its words name nothing. All candidates are kept back at their last known good version, then
// given back half by half, until each was taken or stands alone as the culprit. Each content goes out once, and one poison among n costs at most
// 2 + 2 log2(n) responses. nil: none goes on.
type Search struct {
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
	parked Place
}

// Place is what decides whether candidates can go out: the node's target, and the clusters that the client has.
type Place struct {
	Target   *snapshot.Target
	Clusters *snapshot.Set
	Doubts   int
}

// Refusal is what a client refused, and its words.
type Refusal struct {
	Type   fleet.Type
	Words  string
	Target *snapshot.Target // the node's own
	// Candidates are the versions that the client did not have before. They are not written to.
	Candidates []snapshot.Exception
	// Culprits are those that are to blame, if that is known already.
	Culprits []snapshot.Exception
	// PutBack is what the response brought, if there are no candidates.
	PutBack []snapshot.Exception
	// Sent is all that the response brought, changed or not, in the order of the wire: a client that names a place counts these from 0.
	Sent []*snapshot.Resource
	// Whole: what went out was a set for a client of which it is not known what it has. One without some of it would take that away.
	Whole bool
	// Again: it was refused before, and would go out again. Then the client would hold After.
	Again bool
	After *snapshot.Set
}

// Refused finds out who is to blame, or looks for that from now on.
func (s *Search) Refused(x Refusal) (*Search, []snapshot.Verdict) {
	if x.Again {
		if s != nil && s.offered != nil && s.offered.in(x.After) { // it was, before it was offered by itself
			s.refused(s.fresh(x.Candidates))
		}
		return s.begun(&x), nil
	}
	named := x.Culprits
	if len(named) == 0 {
		named = quoted(x.Type, x.Words).named(&x)
	}
	switch {
	case len(named) > 0:
		return s.blame(&x, named)
	case len(x.Candidates) == 1:
		return s.blame(&x, x.Candidates)
	case len(x.Candidates) == 0:
		// What was refused puts others back, or takes something away: it is told of all that it put back, as nothing is left to tell them apart by.
		// While an Envoy may stick on something its words may be about that, and blame nobody.
		if s != nil && s.offered == nil {
			x.PutBack = nil
		}
		return s, verdict(x.Type, x.Words, x.Target, x.PutBack)
	case x.Whole:
		return s, verdict(x.Type, x.Words, x.Target, nil)
	case s != nil:
		s.accuse(x.Candidates)
	}
	return s.begun(&x), nil
}

// begun is the search, or a new one of all candidates.
func (s *Search) begun(x *Refusal) *Search {
	if s != nil {
		return s
	}
	return &Search{words: x.Words, waiting: []*group{{candidates: slices.Clone(x.Candidates), bad: true}}}
}

// Presumed keeps candidates back that were not answered for. Unless one of them is the culprit for sure, each half is given back by itself. What
// would have to be fetched first cannot be tried: it is judged. news is false if all are kept back already.
func (s *Search) Presumed(x Refusal, sure bool) (_ *Search, vs []snapshot.Verdict, news bool) {
	all := slices.Clone(x.Candidates)
	if s != nil {
		all = slices.DeleteFunc(all, among(s.candidates(false)))
	}
	if len(all) == 0 {
		return s, nil, false
	}
	if s == nil {
		s = &Search{words: x.Words}
	}
	s.drop(among(all))
	s.offered = nil
	fetch := slices.DeleteFunc(slices.Clone(all), func(e snapshot.Exception) bool { return !e.Leave })
	groups := []*group{{candidates: all, bad: true}}
	if !sure {
		at := len(all) / 2
		groups = []*group{{candidates: slices.Clone(all[:at])}, {candidates: slices.Clone(all[at:])}}
	}
	s.waiting = slices.Insert(s.waiting, 0, groups...)
	if len(fetch) > 0 {
		s, vs = s.blame(&x, fetch)
	}
	return s, vs, true
}

// Taken takes in what the client has. It reports whether that is all of what is offered.
func (s *Search) Taken(held *snapshot.Set) bool {
	if s == nil || s.offered == nil || !s.offered.in(held) {
		return false
	}
	if other := s.offered.other; other != nil {
		other.bad = true
	}
	s.offered = nil
	return true
}

// in reports whether a set has all candidates of a group.
func (g *group) in(set *snapshot.Set) bool {
	return !slices.ContainsFunc(g.candidates, func(x snapshot.Exception) bool { return !snapshot.Same(set.Get(x.Refused.Name), x.Refused) })
}

// Next offers the next candidates, and tells of those that stand alone by now. What was offered and has not gone out waits behind the others.
// repaired is whether the client has confirmed what stands in for the candidates. moved is false where nothing can be offered.
func (s *Search) Next(at Place, repaired func() bool) (vs []snapshot.Verdict, moved bool) {
	if s == nil || !slices.ContainsFunc(s.waiting, func(g *group) bool { return g.parked != at }) {
		return nil, false
	}
	if s.offered != nil {
		s.offered.parked = at
		s.waiting, s.offered = append(s.waiting, s.offered), nil
	}
	if !repaired() {
		return nil, false
	}
	if culprits := s.offer(at); len(culprits) > 0 {
		vs = verdict(culprits[0].Type, s.words, at.Target, culprits)
	}
	return vs, true
}

// All are the candidates, and whether they are offered: the others are kept back.
func (s *Search) All() iter.Seq2[snapshot.Exception, bool] {
	return func(yield func(snapshot.Exception, bool) bool) {
		if s == nil {
			return
		}
		for _, g := range s.groups() {
			for _, x := range g.candidates {
				if !yield(x, g == s.offered) {
					return
				}
			}
		}
	}
}

// groups are all, with the blamed as one.
func (s *Search) groups() []*group {
	all := slices.Insert(slices.Clone(s.waiting), 0, &group{candidates: s.blamed})
	if s.offered != nil {
		all = append(all, s.offered)
	}
	return all
}

// candidates are all that are kept back, and those that are offered.
func (s *Search) candidates(offered bool) (all []snapshot.Exception) {
	for x, is := range s.All() {
		if offered || !is {
			all = append(all, x)
		}
	}
	return all
}

// Revise asks of each candidate whether it stays one, and lets it be changed. What the groups that lose some told about each other holds no more. It
// reports whether any has gone, and returns nil if none is left.
func (s *Search) Revise(stays func(x *snapshot.Exception, offered bool) bool) (next *Search, gone bool) {
	if s == nil {
		return nil, false
	}
	lost := map[*group]bool{}
	groups := s.groups()
	for _, g := range groups {
		before := len(g.candidates)
		left := g.candidates[:0]
		for i := range g.candidates {
			if stays(&g.candidates[i], g == s.offered) {
				left = append(left, g.candidates[i])
			}
		}
		clear(g.candidates[len(left):])
		if g.candidates = left; len(left) < before {
			lost[g], gone = true, true
		}
	}
	s.blamed = groups[0].candidates
	for _, g := range groups {
		g.bad = g.bad && !lost[g]
		if lost[g] || lost[g.other] {
			g.other = nil
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(g *group) bool { return len(g.candidates) == 0 })
	if s.offered != nil && len(s.offered.candidates) == 0 {
		s.offered = nil
	}
	if s.offered == nil && len(s.waiting)+len(s.blamed) == 0 {
		return nil, gone
	}
	return s, gone
}

func (s *Search) drop(out func(snapshot.Exception) bool) {
	s.Revise(func(x *snapshot.Exception, _ bool) bool { return !out(*x) })
}

// offer gives the next group back that is not parked at this place; culprits are those that stand alone by now.
func (s *Search) offer(at Place) (culprits []snapshot.Exception) {
	defer func() { s.sentence(culprits, at.Target.Revision) }()
	for s.offered == nil {
		i := slices.IndexFunc(s.waiting, func(g *group) bool { return g.parked != at })
		if i < 0 {
			return culprits
		}
		g := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		switch {
		case len(g.candidates) == 0:
		case !g.bad:
			s.offered = g
		case len(g.candidates) == 1:
			culprits = append(culprits, g.candidates[0])
		default: // the smaller half first: that it is refused costs more
			at := len(g.candidates) / 2
			second := &group{candidates: slices.Clone(g.candidates[at:])}
			s.waiting = slices.Insert(s.waiting, 0, second)
			s.offered = &group{candidates: slices.Clone(g.candidates[:at]), other: second}
		}
	}
	return culprits
}

// refused: the client would not take the group that was offered, with others of which nothing is known yet. Its other half goes out together with
// what puts this one back.
func (s *Search) refused(fresh []snapshot.Exception) {
	g := s.offered
	g.candidates = append(g.candidates, fresh...)
	s.offered = nil
	g.bad = true
	if other := g.other; other != nil && !other.bad {
		s.waiting = slices.DeleteFunc(s.waiting, func(x *group) bool { return x == other })
		s.offered = other
		g.other = nil
	}
	s.waiting = slices.Insert(s.waiting, 0, g)
}

// accuse takes in that a response with these candidates was refused, and none was named. One
// that carried a culprit, or all of a group that is known to be bad, says nothing of the others, and one that was
// overtaken says nothing of what is offered since.
func (s *Search) accuse(all []snapshot.Exception) {
	has, fresh := among(all), s.fresh(all)
	lacks := func(x snapshot.Exception) bool { return !has(x) }
	explained := slices.ContainsFunc(s.blamed, has) || slices.ContainsFunc(s.waiting, func(g *group) bool {
		return g.bad && !slices.ContainsFunc(g.candidates, lacks)
	})
	if s.offered == nil || explained || !slices.ContainsFunc(s.offered.candidates, has) {
		if len(fresh) > 0 {
			s.waiting = slices.Insert(s.waiting, 0, &group{candidates: fresh, bad: len(fresh) == len(all)})
		}
		return
	}
	s.refused(fresh)
}

// fresh are those of all that are no candidates yet.
func (s *Search) fresh(all []snapshot.Exception) []snapshot.Exception {
	return slices.DeleteFunc(slices.Clone(all), among(s.candidates(true)))
}

// blame takes candidates out of their groups: they are the culprits. They are kept back until the node's target leaves them out.
func (s *Search) blame(x *Refusal, culprits []snapshot.Exception) (*Search, []snapshot.Verdict) {
	if s == nil {
		s = &Search{words: x.Words}
	}
	s.drop(among(culprits))
	s.sentence(culprits, x.Target.Revision)
	if s.offered == nil && len(s.waiting) > 0 && !s.waiting[0].bad {
		s.offered, s.waiting = s.waiting[0], s.waiting[1:] // together with what puts these back
	}
	return s, verdict(x.Type, x.Words, x.Target, culprits)
}

// sentence keeps culprits back from the target's revision on.
func (s *Search) sentence(culprits []snapshot.Exception, at fleet.Revision) {
	for _, x := range culprits {
		x.At = at
		s.blamed = append(s.blamed, x)
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

// verdict tells of a refusal, and of who is to blame for it: nobody, if there are no culprits.
func verdict(t fleet.Type, words string, target *snapshot.Target, culprits []snapshot.Exception) []snapshot.Verdict {
	v := snapshot.Verdict{Type: t, Detail: words, Presumed: words == Stuck || words == ProbablyRefused, Blame: slices.Clone(culprits)}
	for i := range v.Blame {
		x := &v.Blame[i]
		x.Refused = target.View[t].Own(x.Refused) // a later revision may have brought it anew meanwhile
		x.Lacked = namedFirst(x.Lacked, words)
	}
	return []snapshot.Verdict{v}
}
