package planner

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// candidate is a version that may be what the client refuses.
type candidate struct {
	refused, good *snapshot.Resource
	leave         bool               // the client has another version, whose bytes are not known here
	blamed        fleet.Revision     // the target's when it was found out, 0 while it was not
	rival         *snapshot.Resource // beside which the client would not take it; nil: none is known
	lacked        *lacked            // nil: nothing
}

// lacked are the clusters that a version names and that the client was not given.
type lacked struct{ clusters []snapshot.Lack }

// How many of them are remembered of all candidates of a response, and of a content that was refused: of any stream, and for as long as it refuses.
const (
	mostLacked          = 10_000
	mostLackedOfContent = 1_000
)

// lackedOf returns nil where more than room were to be remembered, and the room that is left.
func lackedOf(r *snapshot.Resource, target *snapshot.Target, room int) (x *lacked, left int) {
	if all := target.Lacked(r); len(all) > 0 && len(all) <= room {
		return &lacked{all}, room - len(all)
	}
	return nil, room
}

// lacked are those of some clusters, which its target leaves out, that the client may be without: it still has what was deleted meanwhile and goes last.
func (l *look) lacked(all []snapshot.Lack) []snapshot.Lack {
	return slices.DeleteFunc(slices.Clone(all), func(x snapshot.Lack) bool { return l.surelyHas(x.Name) })
}

// came reports whether the view has one of them by now.
func (x *lacked) came(target *snapshot.Target) bool {
	return x != nil && target.AnyLackCame(x.clusters)
}

// namedFirst are they in the order in which it is likely to be what a client's words are about: "unknown cluster 'a'".
func (x *lacked) namedFirst(words string) []snapshot.Lack {
	if x == nil {
		return nil
	}
	i := slices.IndexFunc(x.clusters, func(l snapshot.Lack) bool { return strings.Contains(words, "'"+l.Name+"'") })
	if i <= 0 {
		return x.clusters
	}
	return slices.Concat(x.clusters[i:i+1], x.clusters[:i], x.clusters[i+1:])
}

// candidates are the versions of a response that the client did not have before. They are shared, and must not be written to.
func (r *Response) candidates() []candidate {
	r.refused.candidatesOnce.Do(func() { r.refused.candidates = r.findCandidates() })
	return r.refused.candidates
}

func (r *Response) findCandidates() (all []candidate) {
	room := mostLacked
	for _, ch := range r.changes {
		good := ch.old.lastGood()
		if ch.new != nil && !ch.new.Empty && (good == nil || !snapshot.Same(ch.new, good)) && ch.old.version() != ch.new.Version {
			x := candidate{refused: ch.new, good: good, leave: ch.old.leftAlone() || r.blind}
			x.lacked, room = lackedOf(ch.new, r.target, room)
			all = append(all, x)
		}
	}
	return all
}

// candidates are those of a response. What they lacked is this client's own: others that were sent the response may have other clusters by now.
func (c *Client) candidates(r *Response) []candidate {
	all, own := r.candidates(), false
	l := c.look(c.overlay.base)
	for i, x := range all {
		if x.lacked == nil {
			continue
		}
		clusters := l.lacked(x.lacked.clusters)
		if len(clusters) == len(x.lacked.clusters) {
			continue
		}
		if !own {
			all, own = slices.Clone(all), true
		}
		if all[i].lacked = nil; len(clusters) > 0 {
			all[i].lacked = &lacked{clusters}
		}
	}
	return all
}

// accuse finds who is to blame for a refusal, or begins the bisection that does.
func (c *Client) accuse(t fleet.Type, r *Response, words string) {
	all := c.candidates(r)
	named := quoted(t, words).named(r, all, c.overlay.base.View[t])
	b := c.rec.of(t).bisection
	switch {
	case len(named) > 0:
		c.blame(t, words, named)
	case len(all) == 1:
		c.blame(t, words, all)
	case len(all) == 0:
		c.accuseRepair(t, r, words)
	case r.blind && t.FullSet():
		c.verdict(t, words, nil) // a set without some of them would take away what the client has of them
	case b == nil:
		c.peculiar(t).bisection = newBisection(all, words)
	default:
		b.accuse(all)
	}
}

// accuseRepair: what was refused is what put others back, or takes something away. Nothing
// is left that this client could be asked to take. Which of several it refuses that does not say.
func (c *Client) accuseRepair(t fleet.Type, r *Response, words string) {
	var all []candidate
	if b := c.rec.of(t).bisection; b != nil && b.offered == nil {
		c.verdict(t, words, nil)
		return
	}
	for _, ch := range r.changes {
		if ch.new != nil {
			all = append(all, candidate{refused: ch.new, good: ch.old.lastGood(), leave: ch.old.leftAlone()})
		}
	}
	c.verdict(t, words, all)
}

// blame keeps those back that are to blame, until the node's target does.
func (c *Client) blame(t fleet.Type, words string, culprits []candidate) {
	p := c.peculiar(t)
	if p.bisection == nil {
		p.bisection = &bisection{words: words}
	}
	p.bisection.blame(culprits, c.overlay.base.Revision)
	c.verdict(t, words, culprits)
}

// verdict tells of a refusal, and of who is to blame for it: nobody, if there are no culprits.
func (c *Client) verdict(t fleet.Type, words string, culprits []candidate) *snapshot.Verdict {
	v := snapshot.Verdict{Type: t, Detail: words, Presumed: words == nevermind || words == ProbablyRefused}
	for _, x := range culprits {
		if now := c.overlay.base.View[t].Get(x.refused.Name); now != nil && snapshot.Same(now, x.refused) {
			x.refused = now // a later revision has brought it anew meanwhile
		}
		v.Blame = append(v.Blame, snapshot.Blame{Refused: x.refused, Good: x.good, Leave: x.leave, Rival: x.rival, Lacked: x.lacked.namedFirst(words)})
	}
	c.found.Verdicts = append(c.found.Verdicts, v)
	return &c.found.Verdicts[len(c.found.Verdicts)-1]
}
