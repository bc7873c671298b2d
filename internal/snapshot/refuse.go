package snapshot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
)

// Blame is a resource of a refused response that is held responsible.
type Blame struct {
	Refused *Resource
	Good    *Resource // the last one that this stream confirmed, nil if none
	Leave   bool      // there is one, and its bytes are not known here
	// Had is the version that the client reported, if Leave, and that is known.
	Had string
}

// Verdict is what was found out of a refusal: its culprits, and the client's words.
type Verdict struct {
	Type     fleet.Type
	Text     string
	Culprits []Blame
	// Presumed: the client said nothing, and was taken for stuck.
	Presumed bool
}

// Verdicts returns what was found out since it was last asked. Until the target leaves
// the culprits out, Next sends nothing of their type that would give them back.
func (c *Client) Verdicts() []Verdict {
	vs := c.verdicts
	c.verdicts = nil
	return vs
}

func (c *Client) verdict(t fleet.Type, text string, culprits []suspect) {
	v := Verdict{Type: t, Text: text, Presumed: text == nevermind}
	for _, s := range culprits {
		if now := c.base.view[t].Get(s.refused.Name); now != nil && Same(now, s.refused) {
			s.refused = now // a later revision has brought it anew meanwhile
		}
		v.Culprits = append(v.Culprits, Blame{Refused: s.refused, Good: s.good, Leave: s.leave, Had: s.had})
	}
	c.verdicts = append(c.verdicts, v)
}

// Refuse takes in the NACK of the response that is in flight, or of one that it has
// overtaken, and holds those responsible that Verdicts tells (SEMANTICS 3.5): the changed
// names that stand whole in the text, or at the index that it tells; else the only changed
// one; else those that a trial finds, which begins with what other nodes of the same client
// build refused alone. It reports false for any other nonce: such an answer is late, or a heartbeat's,
// and nobody is to blame.
//
// From here on the client may hold any of the response's resources, old or new: Envoy
// applies half of what it refuses (PROTOCOL rule 16). They are in doubt until a later
// response about them is ACKed, and so they are sent again, the culprits at their last
// good version.
func (c *Client) Refuse(t fleet.Type, nonce, text string) bool {
	tr := &c.types[t]
	if beat := tr.beats.answered(nonce); beat != nil {
		tr.heartbeatRefused(beat)
		return false
	}
	f := tr.overtaken(nonce)
	if f == nil {
		if f = tr.inFlight; f == nil || f.Nonce != nonce {
			return false
		}
		tr.inFlight = nil
	}
	tr.inStep = false
	tr.unknown = f.blind // what it held is no better known than before
	c.refusals++
	c.warm = nil
	c.remember(t, f, text)
	if tr.last.content == f.content {
		tr.last.refused, tr.last.text = true, text
	}
	c.accuse(t, f, text)
	for _, ch := range f.changes {
		tr.held = tr.held.With(doubtful(ch)) // of an overtaken one they are already
	}
	return true
}

// accuse finds the culprits of a refused response, or begins the trial that does.
func (c *Client) accuse(t fleet.Type, f *Response, text string) {
	tr := &c.types[t]
	c.trialMoves++
	suspects := f.suspects()
	named := slices.DeleteFunc(slices.Clone(suspects), func(s suspect) bool { return !standsWhole(text, s.refused.Name) })
	if len(named) == 0 {
		named = f.indexed(text, suspects)
	}
	switch {
	case len(named) > 0:
		c.condemn(t, text, named)
	case len(suspects) == 1:
		c.condemn(t, text, suspects)
	case len(suspects) == 0:
		c.accuseRepair(t, f, text)
	case f.blind && t.FullSet():
		c.verdict(t, text, nil) // a set without some of them would take away what the client has of them
	case tr.trial == nil:
		tr.trial = newTrial(suspects, text, c.witnessed(t, suspects))
	default:
		tr.trial.accuse(suspects)
	}
}

// gRPC names what it cannot even read by its place in the response.
var resourceIndex = regexp.MustCompile(`\bresource index ([0-9]{1,6})\b`)

// indexed returns the suspects whose places in the response stand in the text.
func (r *Response) indexed(text string, suspects []suspect) (named []suspect) {
	for _, m := range resourceIndex.FindAllStringSubmatch(text, maxRefused) {
		i, _ := strconv.Atoi(m[1]) // digits
		if i >= len(r.Resources) {
			continue
		}
		if at := slices.IndexFunc(suspects, func(s suspect) bool { return s.refused == r.Resources[i] }); at >= 0 && !slices.Contains(named, suspects[at]) {
			named = append(named, suspects[at])
		}
	}
	return named
}

// witnessed returns the suspects that another node refused alone.
func (c *Client) witnessed(t fleet.Type, suspects []suspect) (bad []suspect) {
	if c.Witness == nil {
		return nil
	}
	for _, s := range suspects {
		if c.Witness(t, s.refused.Name, s.refused.Version) {
			bad = append(bad, s)
		}
	}
	return bad
}

// accuseRepair: what was refused is what put others back, or takes something away. Nothing
// is left that this client could be asked to take.
func (c *Client) accuseRepair(t fleet.Type, f *Response, text string) {
	tr := &c.types[t]
	if tr.trial != nil && tr.trial.offered == nil {
		c.condemn(t, tr.trial.text, tr.trial.all())
		return
	}
	var all []suspect
	for _, ch := range f.changes {
		if ch.new != nil {
			all = append(all, suspect{refused: ch.new, good: ch.old.lastGood(), leave: ch.old.leftAlone(), had: ch.old.versionHad()})
		}
	}
	c.verdict(t, text, all)
}

func (c *Client) condemn(t fleet.Type, text string, culprits []suspect) {
	tr := &c.types[t]
	if tr.trial == nil {
		tr.trial = &trial{text: text}
	}
	tr.trial.condemn(culprits, c.base.Revision)
	c.verdict(t, text, culprits)
}

// accuse takes in that a response with these suspects was refused, and none was named.
func (tr *trial) accuse(suspects []suspect) {
	fresh := slices.DeleteFunc(slices.Clone(suspects), func(s suspect) bool { return tr.knows(s.refused) })
	if tr.offered == nil {
		if len(fresh) > 0 {
			tr.waiting = slices.Insert(tr.waiting, 0, &group{suspects: fresh, bad: len(fresh) == len(suspects)})
		}
		return
	}
	tr.offered.suspects = append(tr.offered.suspects, fresh...)
	tr.refused()
}

// suspects are the versions of a response that the client did not have before.
func (r *Response) suspects() []suspect {
	var all []suspect
	for _, ch := range r.changes {
		good := ch.old.lastGood()
		if ch.new != nil && !ch.new.empty && (good == nil || !Same(ch.new, good)) && ch.old.versionHad() != ch.new.Version {
			all = append(all, suspect{refused: ch.new, good: good, leave: ch.old.leftAlone() || r.blind, had: ch.old.versionHad()})
		}
	}
	return all
}

// refusal is a content that this stream would not take: what it changed or, if it was
// only an answer, the set that it was given out of.
type refusal struct {
	changes []change
	set     *Set
	then    []*Resource // what the node's target had under the changes' names
	text    string
	at      fleet.Revision // the target's
	// again is where it was put on trial once more.
	again place
}

// maxRefused is how many refused contents of a type are remembered.
const maxRefused = 1_000

func (c *Client) remember(t fleet.Type, f *Response, text string) {
	tr := &c.types[t]
	if tr.refused == nil {
		tr.refused = make(map[Sum]refusal)
	}
	for content := range tr.refused {
		if len(tr.refused) < maxRefused {
			break
		}
		delete(tr.refused, content)
	}
	x := refusal{text: text, at: c.base.Revision, changes: f.changes, set: f.target.Types[f.Type]}
	for _, ch := range f.changes {
		x.then = append(x.then, c.meant(t, ch.name(), c.base))
	}
	tr.refused[f.content] = x
}

// accuseAgain puts a content on trial that was refused, and would go out again: the trial of
// that time ended early, because the client gave the names up.
func (c *Client) accuseAgain(t fleet.Type, r *Response) {
	tr := &c.types[t]
	x := tr.refused[r.content]
	at := place{c.base, c.types[fleet.Cluster].held}
	suspects := r.suspects()
	if try := tr.trial; try != nil && try.offered != nil && r.brought(try.offered) {
		try.refused() // it was, before it was offered by itself
		c.trialMoves++
		return
	}
	if tr.trial != nil || x.again == at || len(suspects) == 0 || r.blind && t.FullSet() {
		return
	}
	x.again = at
	tr.refused[r.content] = x
	tr.trial = newTrial(suspects, x.text, c.witnessed(t, suspects))
	c.trialMoves++
}

// offerAgain forgets the refused contents that the target has left, or that were never
// its own and stood in for something that it has left: a later revision
// that brings a refused version back asks again, once (SEMANTICS 3.6).
func (c *Client) offerAgain(t fleet.Type, target *Target) {
	tr := &c.types[t]
	for content, refused := range tr.refused {
		if len(refused.changes) == 0 && refused.set != target.Types[t] {
			delete(tr.refused, content)
		}
		for i, ch := range refused.changes {
			if now := c.meant(t, ch.name(), target); !Same(ch.new, now) && !Same(refused.then[i], now) || ch.new != nil && Same(ch.new, now) && now.Revision > refused.at { // or a later revision brought it back
				delete(tr.refused, content)
				break
			}
		}
	}
}

// meant is what the target has under a name, whatever the client holds.
func (c *Client) meant(t fleet.Type, name string, target *Target) *Resource {
	if r := target.find(t, name); r != nil || t != fleet.Endpoint || c.Delta {
		return r
	}
	return EmptyEndpoint(name)
}

// doubtful is the entry of a name of which nothing is known but that it was in a
// refused response.
func doubtful(ch change) *Resource {
	d := &Resource{doubt: true}
	switch {
	case ch.new != nil:
		d.Name = ch.new.Name
		d.Refs = append(d.Refs, ch.new.Refs...)
	default:
		d.Name = ch.old.Name
	}
	if ch.old != nil {
		for _, ref := range ch.old.Refs {
			if !d.Names(ref) {
				d.Refs = append(d.Refs, ref)
			}
		}
		d.had = ch.new != nil && (!ch.old.doubt || ch.old.had) // a removal may have been applied
		d.last = ch.old.lastGood()
		if d.last == nil {
			d.Version = ch.old.Version // as reported
		}
	}
	d.key = keyOf(d.Name, inDoubt)
	return d
}

// standsWhole reports whether name stands in text as a word of its own, so that the
// cluster "a" is not blamed for every text with an a in it.
func standsWhole(text, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !partOfName(text[start-1])) && (end == len(text) || !partOfName(text[end]) || endsSentence(text, end)) {
			return true
		}
		from = start + 1
	}
}

func partOfName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		b == '_' || b == '-' || b == '.' || b == '/' || b >= 0x80
}

// endsSentence: a full stop that is followed by nothing of a name.
func endsSentence(text string, at int) bool {
	return text[at] == '.' && (at+1 == len(text) || !partOfName(text[at+1]))
}
