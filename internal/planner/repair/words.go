package repair

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// A client's words hold whatever is in a resource, and words of the client's own: "cluster", "reason", a port. So a name
// counts only where this client puts the name of what it refuses (SEMANTICS 3.5).

// style is how a client lists resources, with what it has to say of each.
type style struct {
	begin   string // of the words
	between string // two resources
	head    func(name string, at int) string
}

var (
	envoyHead = func(name string, _ int) string { return name + ": " }
	styles    = []style{
		{"Error adding/updating cluster(s) ", ", ", envoyHead},
		{"Error adding/updating listener(s) ", "\n", envoyHead},
		// gRPC in C++, and what is made of it, and in JavaScript: by the place in the response.
		{"xDS response validation errors: [", "; ", func(_ string, at int) string { return fmt.Sprintf("resource index %d: ", at) }},
	}
)

// goStyle is gRPC's in Go: 'error parsing "ClusterResource" response: resource "a": ...'.
var goStyle = style{`resource "`, ";\n", func(name string, _ int) string { return "resource " + strconv.Quote(name) + ": " }}

const (
	goBegin, goKind = `error parsing "`, `" response: `

	scopesBegin  = "Error adding/updating scoped route(s): scope key conflict found, first scope is '"
	scopesMiddle = "', second scope is '"
	scopesEnd    = "'"
)

// quote is a client's words, taken apart.
type quote struct {
	t     fleet.Type
	words string
	style // begin "" if they list nothing
	list  string
}

func quoted(t fleet.Type, words string) quote {
	for _, s := range styles {
		if list, ok := strings.CutPrefix(words, s.begin); ok {
			return quote{t, words, s, list}
		}
	}
	if rest, ok := strings.CutPrefix(words, goBegin); ok {
		if _, list, ok := strings.Cut(rest, goKind); ok {
			return quote{t, words, goStyle, list}
		}
	}
	return quote{t: t, words: words}
}

// first reports whether a resource is the first one that the words are about: nothing stands before it that could be out of a resource.
func (q quote) first(name string, at int) bool {
	if q.head != nil {
		return strings.HasPrefix(q.list, q.head(name, at))
	}
	return q.t == fleet.Route && strings.HasPrefix(q.words, "Only ") && strings.HasSuffix(q.words, " in route "+name)
}

// lists reports whether a resource stands in the list, as far as can be told.
func (q quote) lists(name string, at int) bool {
	return q.first(name, at) || q.head != nil && strings.Contains(q.list, q.between+q.head(name, at))
}

// Lists tells of names whether words list them, as far as can be told without their places.
func Lists(t fleet.Type, words string) func(name string) bool {
	q := quoted(t, words)
	return func(name string) bool { return q.lists(name, -1) }
}

// scopes are the two that have one key, of which an Envoy takes the first alone.
func (q quote) scopes() (first, second string, ok bool) {
	names, begins := strings.CutPrefix(q.words, scopesBegin)
	names, ends := strings.CutSuffix(names, scopesEnd)
	if q.t != fleet.ScopedRoute || !begins || !ends || strings.Count(names, scopesMiddle) != 1 {
		return "", "", false
	}
	return strings.Cut(names, scopesMiddle)
}

// namedFirst are clusters in the order in which it is likely to be what a client's words are about: "unknown cluster 'a'".
func namedFirst(all []snapshot.Lack, words string) []snapshot.Lack {
	i := slices.IndexFunc(all, func(l snapshot.Lack) bool { return strings.Contains(words, "'"+l.Name+"'") })
	if i <= 0 {
		return all
	}
	return slices.Concat(all[i:i+1], all[:i], all[i+1:])
}

// mostTold is how many are told apart: with more of them all that the words list are to blame.
const mostTold = 8

// named are the candidates that the words hold responsible. The first one that they list is. What looks like another one may stand in what
// the client says of the first, so it goes out again, and is the first then if it is refused: but where these are many.
func (q quote) named(x *Refusal) (named []snapshot.Exception) {
	if first, second, ok := q.scopes(); ok {
		return conflicting(x.Candidates, x.Target.View[x.Type].Get(first), x.Target.View[x.Type].Get(second))
	}
	places := make(map[snapshot.Sum]int, len(x.Sent))
	for i, r := range x.Sent {
		places[r.Key()] = i
	}
	var listed []snapshot.Exception
	for _, e := range x.Candidates {
		at, sent := places[e.Refused.Key()]
		if !sent {
			at = -1
		}
		if q.lists(e.Refused.Name, at) {
			listed = append(listed, e)
		}
		if q.first(e.Refused.Name, at) {
			named = append(named, e)
		}
	}
	switch {
	case len(listed) > mostTold:
		return listed
	case len(named) > 1: // a name that goes on like the client's words
		return nil
	}
	return named
}

// conflicting is that of two resources which has just come, and cannot be there beside the other one; the second if both have.
func conflicting(all []snapshot.Exception, first, second *snapshot.Resource) []snapshot.Exception {
	for _, pair := range [][2]*snapshot.Resource{{second, first}, {first, second}} {
		for _, x := range all {
			if pair[0] != nil && x.Refused.Name == pair[0].Name {
				x.Rival = pair[1]
				return []snapshot.Exception{x}
			}
		}
	}
	return nil
}
