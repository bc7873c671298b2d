package planner

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// A client that understands resource_errors is told why it is not sent what it asks for and has nothing of. What it has is another matter: the
// error would count until the resource is sent, and what a client has is not sent again.

// Code is one of google.rpc.Code.
type Code uint8

// The codes that are told.
const (
	NotFound           Code = 5 // there is none of the name for this node
	PermissionDenied   Code = 7 // nobody may have what was asked for
	ResourceExhausted  Code = 8 // the name was not taken up
	FailedPrecondition Code = 9 // it is withheld
)

// Error is why a resource is not sent.
type Error struct {
	Name string
	Code Code
	Why  string // a sentence for people
}

// What the errors of one response come to at most. The others follow its answer.
const (
	mostErrors     = 1000
	mostErrorBytes = 256 << 10
	errorBytes     = 32 // of each, besides its texts
	// leastOfSet is how much of them has to fit beside a full set that is sent for them alone: it is sent again for what does not.
	leastOfSet = mostErrorBytes / 4
)

func (e Error) size() int { return errorBytes + len(e.Name) + len(e.Why) }

// wildcardOfSecrets: nobody may have all secrets, so that a wildcard of theirs asks for nothing.
var wildcardOfSecrets = Error{Name: "*", Code: PermissionDenied, Why: "no client may have all secrets: ask for each by its name"}

// denial is whether a client that asked for all secrets was told that nobody may.
type denial uint8

const (
	denialNone denial = iota
	denialOwed
	denialTold
)

// nonexistent is why there is nothing to send of a name that the target does not have.
func (p *plan) nonexistent(name string) Error {
	ref := fleet.Ref{Type: p.t, Name: name}
	switch {
	case p.target.Withholds(ref):
		return withheldError(name, fleet.CauseRefused, "this node refused it, and no version that it took stands in")
	case p.t == fleet.Secret && p.target.Sealed.Get(name) != nil:
		return withheldError(name, fleet.CauseSealed, "the server has no key to open it")
	}
	return Error{Name: name, Code: NotFound, Why: fmt.Sprintf("the fleet has no %s for this node", called(ref))}
}

// withheldBy is why a resource that there is waits.
func (p *plan) withheldBy(k keeping) Error {
	h := fleet.Withheld{Ref: k.Ref, By: k.by, Sealed: k.sealed || k.by.Type == fleet.Secret && p.target.Sealed.Get(k.by.Name) != nil}
	cause := h.Cause(p.target.Withholds)
	why := fmt.Sprintf("it names %s, which does not exist for this node", called(k.by))
	switch cause {
	case fleet.CauseRefused:
		why = fmt.Sprintf("it names %s, which this node refused", called(k.by))
	case fleet.CauseSealed:
		why = fmt.Sprintf("the server has no key to open %s", called(k.by))
	case fleet.CauseTooLarge:
		why = "with it a response would be larger than this client takes"
	}
	return withheldError(k.Name, cause, why)
}

// withheldError has the reason by the name that receipts give it (docs/receipts.md).
func withheldError(name string, cause fleet.Cause, why string) Error {
	return Error{Name: name, Code: FailedPrecondition, Why: fmt.Sprintf("withheld, %s: %s", cause, why)}
}

func called(r fleet.Ref) string { return r.Type.Slug() + "/" + r.Name }

// tell adds the errors to a response that is made otherwise. What was told once is not told again before the resource has come. It costs what
// differs from what was told.
func (p *plan) tell() {
	if !p.pos.Kind.Errors || p.toldAll() {
		return
	}
	sets := p.t.FullSet() && !p.pos.Kind.Delta
	setAlone := sets && len(p.r.changes) == 0 && len(p.r.Resources) == 0 && !p.tr.Answer // it would be sent for errors alone
	if setAlone && (p.tr.Unknown || p.takesLeft()) {
		return // a set would take away what is not known
	}
	room := p.roomForErrors(sets)
	if setAlone && room < leastOfSet {
		return
	}
	if p.tr.Denial == denialOwed && p.say(wildcardOfSecrets, &room) {
		p.tr.Denial = denialTold
	}
	whole := p.tellAsked(&room)
	whole = p.tellMissing(&room) && whole // which notes what was said
	if whole && !p.waiting {
		whole = p.tellKept(&room)
	}
	if !whole {
		p.postpone(sets)
	}
	slices.SortFunc(p.r.Errors, func(a, b Error) int { return cmp.Compare(a.Name, b.Name) })
	if setAlone && len(p.r.Errors) > 0 {
		p.r.Resources, p.r.Version = p.r.after.Sorted(), p.r.after.Sum() // a client takes away what a set leaves out
	}
}

// toldAll reports whether there is plainly nothing to tell.
func (p *plan) toldAll() bool {
	_, missing := p.wanted(p.t)
	return missing == p.tr.Lacks && len(p.kept)+len(p.asked)+p.tr.Withheld.Len() == 0 && p.tr.Denial != denialOwed
}

// roomForErrors is how many bytes errors may take beside the rest of the response.
func (p *plan) roomForErrors(sets bool) int {
	room := mostErrorBytes
	if p.pos.Kind.MaxSet == 0 {
		return room
	}
	used := envelope
	rs := p.r.Resources
	if sets && len(rs) == 0 {
		rs = p.r.after.Sorted()
	}
	for _, r := range rs {
		used += r.Takes(p.pos.Kind.Delta, p.pos.Kind.TTL)
	}
	return min(room, p.pos.Kind.MaxSet-used)
}

// postpone: the rest follows the answer, unless a full set takes all the room there is, and will.
func (p *plan) postpone(sets bool) {
	if sets && len(p.r.Errors) == 0 {
		return
	}
	p.waiting, p.r.cut, p.kept = true, true, nil
}

// full reports whether there is no room for an error, whatever it says.
func (p *plan) full(room int) bool { return len(p.r.Errors) == mostErrors || room < errorBytes }

// say adds an error if there is room.
func (p *plan) say(e Error, room *int) bool {
	if p.full(*room) || *room < e.size() {
		return false
	}
	*room -= e.size()
	p.r.Errors = append(p.r.Errors, e)
	p.answer(e.Name, "\x00"+e.Why)
	return true
}

// tellAsked answers what was asked for again by the same error as before, and reports whether all of it.
func (p *plan) tellAsked(room *int) bool {
	for _, name := range p.asked {
		if !p.say(p.nonexistent(name), room) {
			return false
		}
	}
	return true
}

// tellMissing tells of names that the target does not have, and reports whether of all of them.
func (p *plan) tellMissing(room *int) bool {
	_, missing := p.wanted(p.t)
	if missing == p.tr.Lacks {
		return true
	}
	said := make(map[string]struct{}, len(p.r.Removed)+len(p.r.Errors))
	for _, n := range p.r.Removed {
		said[n] = struct{}{}
	}
	for _, e := range p.r.Errors {
		said[e.Name] = struct{}{}
	}
	var edits []snapshot.Edit
	whole := true
	for was, is := range snapshot.Diff(p.tr.Lacks, missing) {
		if is == nil {
			edits = append(edits, snapshot.Edit{Old: was})
			continue
		}
		if p.has(is.Name) {
			continue // and goes on with it
		}
		if _, again := said[is.Name]; !again && (p.full(*room) || !p.say(p.nonexistent(is.Name), room)) {
			whole = false
			continue
		}
		edits = append(edits, snapshot.Edit{New: is})
	}
	p.tr.Lacks = p.in.apply(p.t, p.tr.Lacks, edits)
	return whole
}

// tellKept tells of what is withheld, alike.
func (p *plan) tellKept(room *int) bool {
	var now []snapshot.Edit
	errors := make(map[string]Error, len(p.kept))
	for _, k := range p.kept {
		if _, again := errors[k.Name]; again || p.has(k.Name) || p.tr.Lacks.Get(k.Name) != nil {
			continue
		}
		e := p.withheldBy(k)
		errors[k.Name], now = e, append(now, snapshot.Edit{New: snapshot.Reported(k.Name, e.Why)})
	}
	want := p.in.apply(p.t, nil, now)
	var edits []snapshot.Edit
	whole := true
	for was, is := range snapshot.Diff(p.tr.Withheld, want) {
		if is != nil && !p.say(errors[is.Name], room) {
			whole = false
			continue
		}
		edits = append(edits, snapshot.Edit{Old: was, New: is})
	}
	p.tr.Withheld = p.in.apply(p.t, p.tr.Withheld, edits)
	return whole
}

// has reports whether the client has something of the name once it has taken the response.
func (p *plan) has(name string) bool {
	return p.doubts.of(name) != nil || p.r.after.Get(name) != nil
}

// HearsOfAbsence reports whether the client can be told that a name of the type does not exist, and does well with hearing it at once.
func (c *Client) HearsOfAbsence(t fleet.Type) bool { return c.pos.Kind.Delta && !c.pos.Kind.patient(t) }

// Holds reports whether the client has something under a name, or is about to.
func (c *Client) Holds(t fleet.Type, name string) bool {
	tr := &c.pos.Types[t]
	return tr.Held.Get(name) != nil || tr.InFlight && tr.Next.Get(name) != nil
}

// notTaken is said of a name that is not subscribed to, of a client that understands it.
const notTaken = "not taken up: it is too long, or too many names are asked for that the fleet does not have"

// Absent is a response that tells of names which were not taken up that they do not exist. It changes nothing for the client, and its answer
// settles nothing.
func (c *Client) Absent(t fleet.Type, names []string, target *snapshot.Target) *Response {
	r := &Response{Type: t, Revision: target.Revision, kind: c.pos.Kind}
	switch {
	case t == fleet.VirtualHost:
		r.Nonexistent = names
	case c.pos.Kind.Errors:
		room := mostErrorBytes
		if most := c.pos.Kind.MaxSet; most > 0 {
			room = min(room, most-envelope)
		}
		for _, n := range names {
			e := Error{Name: n, Code: ResourceExhausted, Why: notTaken}
			if room -= e.size(); room < 0 || len(r.Errors) == mostErrors {
				break // of the rest the client hears nothing
			}
			r.Errors = append(r.Errors, e)
		}
	default:
		r.Removed = names
	}
	return r
}
