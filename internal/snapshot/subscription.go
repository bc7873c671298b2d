package snapshot

import "iter"

// Subscription is what a client wants of one type: everything, names, or both
// (PROTOCOL rules 1 and 2). The zero value wants nothing.
type Subscription struct {
	wildcard bool
	explicit bool // the wildcard was asked for as "*"
	names    map[string]struct{}
	bytes    int // of the names
}

// Wildcard reports whether everything is wanted.
func (s *Subscription) Wildcard() bool { return s.wildcard }

// Has reports whether the client wants the resource of that name.
func (s *Subscription) Has(name string) bool { return s.wildcard || s.Named(name) }

// Named reports whether the client asked for the name itself.
func (s *Subscription) Named(name string) bool {
	_, ok := s.names[name]
	return ok
}

// Len is the number of names.
func (s *Subscription) Len() int { return len(s.names) }

// Names yields the names, in an order of no meaning.
func (s *Subscription) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range s.names {
			if !yield(n) {
				return
			}
		}
	}
}

func (s *Subscription) add(name string) {
	if s.Named(name) {
		return
	}
	if s.names == nil {
		s.names = make(map[string]struct{})
	}
	s.names[name] = struct{}{}
	s.bytes += len(name)
}

func (s *Subscription) drop(name string) {
	if s.Named(name) {
		delete(s.names, name)
		s.bytes -= len(name)
	}
}
