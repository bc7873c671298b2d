package planner

import (
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/planner/repair"
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

// accuse finds who is to blame for a refusal, or begins the search for that.
func (c *Client) accuse(t fleet.Type, r *Response, words string) {
	x := repair.Refusal{Type: t, Words: words, Target: c.overlay.base, Candidates: c.candidates(r), Sent: r.Resources, Whole: r.blind && t.FullSet()}
	for _, ch := range r.changes {
		if len(x.Candidates) == 0 && ch.new != nil {
			x.PutBack = append(x.PutBack, snapshot.Exception{Type: t, Refused: ch.new, Good: ch.old.lastGood(), Leave: ch.old.leftAlone()})
		}
	}
	c.refusedBy(x)
}

// refusedBy passes on what is found out of a refusal. Until the node's target leaves out what is to blame the search keeps it back.
func (c *Client) refusedBy(x repair.Refusal) {
	next, vs := c.rec.of(x.Type).search.Refused(x)
	if next != nil {
		c.peculiar(x.Type).search = next
	}
	c.found.Verdicts = append(c.found.Verdicts, vs...)
}
