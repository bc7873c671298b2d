package planner

import (
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// How many clusters that versions lacked are remembered of all candidates of a response, and of a content that was refused: of any stream, and for as
// long as it refuses.
const (
	mostLacked          = 10_000
	mostLackedOfContent = 1_000
)

// lacked are those of some clusters, which its target leaves out, that the client may be without: it still has what was deleted meanwhile and goes last.
func (l *look) lacked(all []snapshot.Lack) (some []snapshot.Lack) {
	for _, x := range all {
		if !l.surelyHas(x.Name) {
			some = append(some, x)
		}
	}
	return some
}

// namedFirst are they in the order in which it is likely to be what a client's words are about: "unknown cluster 'a'".
func namedFirst(all []snapshot.Lack, words string) []snapshot.Lack {
	i := slices.IndexFunc(all, func(l snapshot.Lack) bool { return strings.Contains(words, "'"+l.Name+"'") })
	if i <= 0 {
		return all
	}
	return slices.Concat(all[i:i+1], all[:i], all[i+1:])
}

// candidates are the versions of a response that the client did not have before. They are shared, and must not be written to.
func (r *Response) candidates() []snapshot.Exception {
	r.refused.candidatesOnce.Do(func() { r.refused.candidates = r.findCandidates() })
	return r.refused.candidates
}

func (r *Response) findCandidates() (all []snapshot.Exception) {
	room := mostLacked
	for _, ch := range r.changes {
		good := ch.old.lastGood()
		if ch.new != nil && !ch.new.Empty && (good == nil || !snapshot.Same(ch.new, good)) && ch.old.version() != ch.new.Version {
			x := snapshot.Exception{Type: r.Type, Refused: ch.new, Good: good, Leave: ch.old.leftAlone() || r.blind}
			if lacked := r.target.Lacked(ch.new); len(lacked) <= room {
				x.Lacked, room = lacked, room-len(lacked)
			}
			all = append(all, x)
		}
	}
	return all
}

// candidates are those of a response. What they lacked is this client's own: others that were sent the response may have other clusters by now.
func (c *Client) candidates(r *Response) []snapshot.Exception {
	all, own := r.candidates(), false
	l := c.look(c.overlay.base)
	for i, x := range all {
		lacked := l.lacked(x.Lacked)
		if len(lacked) == len(x.Lacked) {
			continue
		}
		if !own {
			all, own = slices.Clone(all), true
		}
		all[i].Lacked = lacked
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
	var all []snapshot.Exception
	if b := c.rec.of(t).bisection; b != nil && b.offered == nil {
		c.verdict(t, words, nil)
		return
	}
	for _, ch := range r.changes {
		if ch.new != nil {
			all = append(all, snapshot.Exception{Type: t, Refused: ch.new, Good: ch.old.lastGood(), Leave: ch.old.leftAlone()})
		}
	}
	c.verdict(t, words, all)
}

// blame keeps those back that are to blame, until the node's target does.
func (c *Client) blame(t fleet.Type, words string, culprits []snapshot.Exception) {
	p := c.peculiar(t)
	if p.bisection == nil {
		p.bisection = &bisection{words: words}
	}
	p.bisection.blame(culprits, c.overlay.base.Revision)
	c.verdict(t, words, culprits)
}

// verdict tells of a refusal, and of who is to blame for it: nobody, if there are no culprits.
func (c *Client) verdict(t fleet.Type, words string, culprits []snapshot.Exception) {
	v := snapshot.Verdict{Type: t, Detail: words, Presumed: words == nevermind || words == ProbablyRefused, Blame: slices.Clone(culprits)}
	for i := range v.Blame {
		x := &v.Blame[i]
		x.Refused = c.overlay.base.View[t].Own(x.Refused) // a later revision may have brought it anew meanwhile
		x.Lacked = namedFirst(x.Lacked, words)
	}
	c.found.Verdicts = append(c.found.Verdicts, v)
}
