package xdstest

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"fairlead/internal/fleet"
)

// barrier is a resource that every fleet of this package holds; being asked for it, the
// server answers with it last, after whatever else it had to say.
const barrier = "barrier"

// Patience is how long a script waits for a response that must come.
const Patience = 5 * time.Second

// Request is what a client sends, of either protocol.
type Request struct {
	Type fleet.Type
	// Names are all names (state of the world) or those to subscribe to (delta).
	Names       []string
	Unsubscribe []string          // delta
	Version     string            // state of the world
	Versions    map[string]string // delta: initial_resource_versions
	Nonce       string
	Error       string // a NACK
	Node        *corev3.Node
	TypeURL     string // in the place of Type's
}

// Response is what a client receives, of either protocol.
type Response struct {
	Type    fleet.Type
	Version string // version_info, or system_version_info
	Nonce   string
	// Resources are "name@version", sorted; "name@empty" is an empty ClusterLoadAssignment
	// in state of the world.
	Resources []string
	Removed   []string
}

// String is short: "clusters a@1 b@2 -c".
func (r *Response) String() string {
	var b strings.Builder
	b.WriteString(r.Type.Slug())
	for _, x := range r.Resources {
		b.WriteString(" " + x)
	}
	for _, x := range r.Removed {
		b.WriteString(" -" + x)
	}
	return b.String()
}

// wire is one protocol.
type wire interface {
	send(Request) error
	recv() (*Response, error)
	// again returns the requests that make the server send the barrier once more.
	again(last *Response) []Request
}

// Stream is a scripted client. Its methods fail the test; they are for one goroutine.
type Stream struct {
	t         testing.TB
	wire      wire
	node      *corev3.Node
	sentNode  bool
	names     [fleet.NumTypes][]string
	accepted  [fleet.NumTypes]string // version_info
	nonces    [fleet.NumTypes]string
	responses chan *Response
	end       chan error
	last      *Response   // that held the barrier
	queue     []*Response // came before the barrier and were not looked at yet
}

func newStream(t testing.TB, node *corev3.Node, w wire) *Stream {
	s := &Stream{t: t, wire: w, node: node, responses: make(chan *Response), end: make(chan error, 1)}
	go func() {
		for {
			r, err := w.recv()
			if err != nil {
				s.end <- err
				return
			}
			select {
			case s.responses <- r:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return s
}

// Send sends a request as it is; the stream's first one gets the node.
func (s *Stream) Send(r Request) {
	s.t.Helper()
	if !s.sentNode && r.Node == nil {
		r.Node = s.node
	}
	s.sentNode = true
	if err := s.wire.send(r); err != nil {
		s.t.Logf("send: %v", err) // the reason comes with End
	}
}

// Subscribe asks for names in addition to those asked for; none on a type's first
// request is the legacy wildcard.
func (s *Stream) Subscribe(t fleet.Type, names ...string) {
	s.t.Helper()
	s.names[t] = append(s.names[t], names...)
	r := Request{Type: t, Names: s.names[t], Version: s.accepted[t], Nonce: s.nonces[t]}
	if _, delta := s.wire.(*deltaWire); delta {
		r.Names, r.Nonce = names, ""
	}
	s.Send(r)
}

// Next returns the next response, which must come in time.
func (s *Stream) Next() *Response {
	s.t.Helper()
	if len(s.queue) > 0 {
		r := s.queue[0]
		s.queue = s.queue[1:]
		return r
	}
	return s.receive()
}

func (s *Stream) receive() *Response {
	s.t.Helper()
	timeout := time.NewTimer(Patience)
	defer timeout.Stop()
	select {
	case r := <-s.responses:
		s.nonces[r.Type] = r.Nonce
		return r
	case err := <-s.end:
		s.t.Fatalf("the stream ended: %v", err)
	case <-timeout.C:
		s.t.Fatalf("no response came within %s", Patience)
	}
	return nil
}

// Want is Next, and fails if it is not that response.
func (s *Stream) Want(want string) *Response {
	s.t.Helper()
	r := s.Next()
	if r.String() != want {
		s.t.Fatalf("got  %s\nwant %s", r, want)
	}
	return r
}

// Ack accepts a response.
func (s *Stream) Ack(r *Response) {
	s.t.Helper()
	s.accepted[r.Type] = r.Version
	s.Send(Request{Type: r.Type, Names: s.listed(r.Type), Version: r.Version, Nonce: r.Nonce})
}

// Nack refuses a response.
func (s *Stream) Nack(r *Response, text string) {
	s.t.Helper()
	s.Send(Request{Type: r.Type, Names: s.listed(r.Type), Version: s.accepted[r.Type], Nonce: r.Nonce, Error: text})
}

// listed are the names that a request repeats: all in state of the world, none in delta.
func (s *Stream) listed(t fleet.Type) []string {
	if _, delta := s.wire.(*deltaWire); delta {
		return nil
	}
	return s.names[t]
}

// Quiet fails if the server has anything to say but what it is asked for now.
func (s *Stream) Quiet() {
	s.t.Helper()
	if r, more := s.NextOrQuiet(); more {
		s.t.Fatalf("the server was not quiet: %s", r)
	}
}

// NextOrQuiet returns the next response if the server has one to send, and false if not.
func (s *Stream) NextOrQuiet() (*Response, bool) {
	s.t.Helper()
	if len(s.queue) == 0 {
		for _, r := range s.wire.again(s.last) {
			s.Send(r)
		}
		r := s.receive()
		for r.Type != fleet.Extension || !slices.Contains(r.Resources, barrier+"@1") {
			s.queue = append(s.queue, r)
			r = s.receive()
		}
		s.last = r
		s.Ack(r)
	}
	if len(s.queue) == 0 {
		return nil, false
	}
	return s.Next(), true
}

// End returns the error that the stream ends with, which must come in time.
func (s *Stream) End() error {
	s.t.Helper()
	timeout := time.NewTimer(Patience)
	defer timeout.Stop()
	for {
		select {
		case <-s.responses:
		case err := <-s.end:
			return err
		case <-timeout.C:
			s.t.Fatalf("the stream did not end within %s", Patience)
		}
	}
}

func named(name, version string) string { return name + "@" + version }
