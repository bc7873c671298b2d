package snapshot

import (
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// index is what is looked up in a set besides names. It is made when it is first asked
// for, once for all that share the set.
type index struct {
	expiring []*Resource // with a TTL, by name
	shortest time.Duration
	hosts    map[string]*hosts // virtual hosts by route
	eds      map[string]bool   // names of endpoints that clusters of another name get over gRPC
}

// hosts are the virtual hosts of one route.
type hosts struct {
	all    []*Resource // by name
	domain map[string]*Resource
	// How long the domains are that begin with a wildcard, and that end in one, the longest first: a host that nothing accounts for is
	// compared with as many, however long it is itself.
	suffixes, prefixes []int
}

func expire(r *Resource) int {
	if r.TTL > 0 {
		return 1
	}
	return 0
}

func foreign(r *Resource) int {
	if r.EDSName != "" && r.EDSName != r.Name {
		return 1
	}
	return 0
}

func byNameOnly(r *Resource) int {
	if r.ByName {
		return 1
	}
	return 0
}

// HasEDSName reports whether some cluster gets its endpoints under that name.
func (s *Set) HasEDSName(name string) bool {
	if r := s.Get(name); r != nil && r.EDSName == name {
		return true
	}
	return s != nil && s.foreign > 0 && s.lookInto().eds[name]
}

// lookInto returns the set's index.
func (s *Set) lookInto() *index {
	if s == nil {
		return &index{} // reading a nil map is fine
	}
	s.indexed.Do(func() {
		for _, r := range s.Sorted() {
			s.index.add(r)
		}
	})
	return &s.index
}

func (x *index) add(r *Resource) {
	if r.TTL > 0 {
		x.expiring = append(x.expiring, r)
		if x.shortest == 0 || r.TTL < x.shortest {
			x.shortest = r.TTL
		}
	}
	if foreign(r) > 0 {
		if x.eds == nil {
			x.eds = make(map[string]bool)
		}
		x.eds[r.EDSName] = true
	}
	if len(r.Domains) == 0 {
		return
	}
	route, _ := SplitHost(r.Name)
	h := x.hosts[route]
	if h == nil {
		h = &hosts{domain: make(map[string]*Resource)}
		if x.hosts == nil {
			x.hosts = make(map[string]*hosts)
		}
		x.hosts[route] = h
	}
	h.all = append(h.all, r)
	for _, d := range r.Domains {
		d = strings.ToLower(d)
		if h.domain[d] == nil {
			h.domain[d] = r
		}
		if strings.HasPrefix(d, "*") {
			h.suffixes = withLength(h.suffixes, len(d))
		}
		if strings.HasSuffix(d, "*") {
			h.prefixes = withLength(h.prefixes, len(d))
		}
	}
}

// withLength puts a length in its place, once.
func withLength(longest []int, n int) []int {
	i, found := slices.BinarySearchFunc(longest, n, func(a, b int) int { return b - a })
	if found {
		return longest
	}
	return slices.Insert(longest, i, n)
}

// Naming returns the resources that name the given one, in an order of no meaning.
func (s *Set) Naming(ref fleet.Ref) []*Resource {
	if s == nil {
		return nil
	}
	s.named.Do(func() {
		s.namers = make(map[fleet.Ref][]*Resource)
		for r := range s.All() {
			for _, ref := range r.Refs {
				s.namers[ref] = append(s.namers[ref], r)
			}
		}
	})
	return s.namers[ref]
}

// Expiring returns the resources with a TTL, by name, and the shortest TTL, 0 if there
// are none.
func (s *Set) Expiring() ([]*Resource, time.Duration) {
	if s == nil || s.ttls == 0 {
		return nil, 0
	}
	x := s.lookInto()
	return x.expiring, x.shortest
}

// HostsOf returns the virtual hosts of a route, by name.
func (s *Set) HostsOf(route string) []*Resource {
	if h := s.lookInto().hosts[route]; h != nil {
		return h.all
	}
	return nil
}

// SplitHost splits the name of a virtual host at its last slash, as Envoy does to find
// the route that it belongs to.
func SplitHost(name string) (route, host string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

// Host finds a virtual host by its name, or by an alias: the route and what stands in a
// request's Host header, with or without its port. Of several domains that match the one
// is taken that Envoy takes: the exact one, then "*.x", then "x.*", the longest first, and
// "*" last.
func (s *Set) Host(name string) *Resource {
	if r := s.Get(name); r != nil {
		return r
	}
	route, host := SplitHost(name)
	h := s.lookInto().hosts[route]
	if h == nil {
		return nil
	}
	host = strings.ToLower(host)
	if r := h.match(host); r != nil {
		return r
	}
	if bare, ok := withoutPort(host); ok {
		if r := h.match(bare); r != nil {
			return r
		}
	}
	return h.domain["*"]
}

// maxHost is the longest name of a host, with a port.
const maxHost = 253 + len(":65535")

func (h *hosts) match(host string) *Resource {
	if len(host) > maxHost {
		return nil
	}
	if r := h.domain[host]; r != nil {
		return r
	}
	for _, n := range h.suffixes { // a wildcard stands for one character at least
		if 1 < n && n <= len(host) {
			if r := h.domain["*"+host[len(host)-n+1:]]; r != nil {
				return r
			}
		}
	}
	for _, n := range h.prefixes {
		if 1 < n && n <= len(host) {
			if r := h.domain[host[:n-1]+"*"]; r != nil {
				return r
			}
		}
	}
	return nil
}

func withoutPort(host string) (string, bool) {
	i := strings.LastIndexByte(host, ':')
	if i <= 0 || strings.Trim(host[i+1:], "0123456789") != "" || strings.HasSuffix(host[:i], ":") {
		return "", false
	}
	return host[:i], true
}
