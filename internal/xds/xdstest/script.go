package xdstest

import (
	"maps"
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// Subscribe asks for names in addition to those asked for; none on a type's first
// request is the legacy wildcard.
func (c *Client) Subscribe(t fleet.Type, names ...string) {
	c.t.Helper()
	s := &c.types[t]
	s.wildcard = s.wildcard || len(names)+len(s.names) == 0 && t.LegacyWildcard(c.protocol.Delta) || slices.Contains(names, "*")
	for _, n := range names {
		if !slices.Contains(s.names, n) {
			s.names = append(s.names, n)
		}
	}
	if c.protocol.Delta {
		c.Send(Request{Type: t, Names: names})
		return
	}
	c.Send(Request{Type: t, Names: s.names, Version: s.accepted, Nonce: s.nonce})
}

// Unsubscribe gives names up.
func (c *Client) Unsubscribe(t fleet.Type, names ...string) {
	c.t.Helper()
	s := &c.types[t]
	s.wildcard = s.wildcard && !slices.Contains(names, "*")
	for _, n := range names {
		if !s.wildcard {
			delete(s.held, n)
		}
	}
	s.names = slices.DeleteFunc(slices.Clone(s.names), func(n string) bool { return slices.Contains(names, n) })
	if c.protocol.Delta {
		c.Send(Request{Type: t, Unsubscribe: names})
		return
	}
	c.Send(Request{Type: t, Names: s.names, Version: s.accepted, Nonce: s.nonce})
}

// Return sends a type's first request on a new stream, as a client does that was there
// before: with what it asked for and what it holds.
func (c *Client) Return(t fleet.Type) {
	c.t.Helper()
	s := &c.types[t]
	if !c.protocol.Delta {
		c.Send(Request{Type: t, Names: s.names, Version: s.accepted})
		return
	}
	versions := map[string]string{}
	for n, x := range s.held {
		versions[n] = x.Version
	}
	c.Send(Request{Type: t, Names: s.names, Versions: versions})
}

// Forget makes the client hold nothing of a type: it says so when it returns.
func (c *Client) Forget(t fleet.Type) { c.types[t].held, c.types[t].accepted = nil, "" }

// Ack accepts a response.
func (c *Client) Ack(r *Response) {
	c.t.Helper()
	c.accept(r)
	c.Send(c.answer(r))
}

// AckAs accepts a response of state of the world and asks for these names with it.
func (c *Client) AckAs(r *Response, names ...string) {
	c.t.Helper()
	c.types[r.Type].names = names
	c.Ack(r)
}

// Nack refuses a response.
func (c *Client) Nack(r *Response, text string) {
	c.t.Helper()
	a := c.answer(r)
	a.Error = text
	c.Send(a)
}

// answer repeats all names in state of the world and none in delta.
func (c *Client) answer(r *Response) Request {
	s := &c.types[r.Type]
	a := Request{Type: r.Type, Nonce: r.Nonce}
	if !c.protocol.Delta {
		a.Names, a.Version = s.names, s.accepted
	}
	return a
}

// accept notes what the client holds by a response: of what it asked for.
func (c *Client) accept(r *Response) {
	s := &c.types[r.Type]
	s.accepted = r.Version
	if s.held == nil || !c.protocol.Delta && r.Type.FullSet() {
		s.held = map[string]Item{}
	}
	for _, x := range r.Resources {
		if !x.Bare && s.wants(x) {
			s.held[x.Name] = x
		}
	}
	for _, n := range r.Removed {
		delete(s.held, n)
	}
}

func (s *state) wants(x Item) bool {
	return s.wildcard || slices.Contains(s.names, x.Name) || slices.ContainsFunc(x.Aliases, func(a string) bool { return slices.Contains(s.names, a) })
}

// Names are those that the client asked for.
func (c *Client) Names(t fleet.Type) []string { return slices.Clone(c.types[t].names) }

// Version is the version_info that the client accepted last.
func (c *Client) Version(t fleet.Type) string { return c.types[t].accepted }

// Nonce is that of the last response of a type.
func (c *Client) Nonce(t fleet.Type) string { return c.types[t].nonce }

// Held are the versions that the client accepted, as the server calls them.
func (c *Client) Held(t fleet.Type) map[string]string {
	versions := map[string]string{}
	for n, x := range c.types[t].held {
		versions[n] = x.Version
	}
	return versions
}

// Labels are the versions that the client accepted, as the test calls them.
func (c *Client) Labels(t fleet.Type) map[string]string {
	labels := map[string]string{}
	for n, x := range c.types[t].held {
		labels[n] = x.Label
	}
	return labels
}

// Holds fails unless the client holds just this of a type: "a@1 b@2".
func (c *Client) Holds(t fleet.Type, want string) {
	c.t.Helper()
	var got []string
	for _, n := range slices.Sorted(maps.Keys(c.types[t].held)) {
		got = append(got, n+"@"+c.types[t].held[n].Label)
	}
	if s := strings.Join(got, " "); s != want {
		c.t.Errorf("the client holds %s %q, want %q", t, s, want)
	}
}

// Settle accepts whatever comes until the server has no more to say, and returns it. It
// needs a bubble.
func (c *Client) Settle() []*Response {
	c.t.Helper()
	var all []*Response
	for {
		r, more := c.NextOrQuiet()
		if !more {
			return all
		}
		if all = append(all, r); len(all) > 1000 {
			c.t.Fatalf("there is no end: %s", r)
		}
		c.Ack(r)
	}
}

// Follow accepts whatever comes until the client is closed. It is for a goroutine of its
// own, and needs no bubble.
func (c *Client) Follow() {
	for {
		select {
		case r := <-c.inbox:
			c.take(r)
			c.Ack(r)
		case <-c.ctx.Done():
			return
		}
	}
}
