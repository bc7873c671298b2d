package fleet

import "slices"

// Asks is how a client asks for the resources of a type.
type Asks uint8

// A client does not ask for the type, for some of it by name, or for all of it.
const (
	AsksNothing Asks = iota
	AsksNames
	AsksAll
)

// MaxAsked is how many names a Subscriptions has.
const MaxAsked = 20

var toldTypes = [...]Type{Cluster, Listener, Runtime}

// ToldTypes are the types of which a Subscriptions tells.
func ToldTypes() [3]Type { return toldTypes }

// Subscriptions is what a node subscribes to, as far as the fleet's content does not say it: how it asks for clusters, listeners and
// runtimes, and which listeners, where it asks for these by name. All else that a client asks for is named by what it has, and would
// change with the content. The zero value: not known.
type Subscriptions struct {
	Types     [NumTypes]Asks // of ToldTypes
	Listeners []string       // sorted, each once; nil where it asks for all of them or for none, and where they are Many
	Many      int            // how many they are, where they are more than MaxAsked
}

// usual is what an Envoy subscribes to that gets its clusters and listeners from here, and no runtimes.
var usual = Subscriptions{Types: [NumTypes]Asks{Cluster: AsksAll, Listener: AsksAll}}

// Unusual is what has to be told of a client: of an Envoy that subscribes to what most do, nothing.
func (s Subscriptions) Unusual(agent string) Subscriptions {
	if agent == "envoy" && s.Equal(usual) {
		return Subscriptions{}
	}
	return s
}

// Known reports whether anything is known; who is connected asks for something.
func (s Subscriptions) Known() bool { return s.Types != [NumTypes]Asks{} }

// Equal reports whether two say the same.
func (s Subscriptions) Equal(o Subscriptions) bool {
	return s.Types == o.Types && s.Many == o.Many && slices.Equal(s.Listeners, o.Listeners)
}

// Excludes reports whether it is known that the node does not ask for the resource.
func (s Subscriptions) Excludes(r Ref) bool {
	switch {
	case !s.Known() || !slices.Contains(toldTypes[:], r.Type) || s.Types[r.Type] == AsksAll:
		return false
	case s.Types[r.Type] == AsksNothing:
		return true
	}
	return r.Type == Listener && s.Many == 0 && !slices.Contains(s.Listeners, r.Name)
}

// With is what either of two asks for.
func (s Subscriptions) With(o Subscriptions) Subscriptions {
	out := Subscriptions{Many: max(s.Many, o.Many)}
	for t := range out.Types {
		out.Types[t] = max(s.Types[t], o.Types[t])
	}
	if out.Types[Listener] != AsksNames {
		out.Many = 0
		return out
	}
	names := slices.Concat(s.Listeners, o.Listeners)
	slices.Sort(names)
	names = slices.Compact(names)
	if out.Many > 0 || len(names) > MaxAsked {
		out.Many = max(out.Many, len(names))
		return out
	}
	if len(names) > 0 {
		out.Listeners = names
	}
	return out
}
