package xdstest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"

	"fairlead/internal/fleet"
)

// Patience is how long a script waits, by the clock of a bubble, for a response that must come. Envoy waits 15 s.
const Patience = 5 * time.Second

// patience is Patience in a bubble, whose clock stands still while there is something to do. By the machine's clock it only
// keeps a test from hanging.
func patience() time.Duration {
	if inBubble := time.Now().Year() < 2020; inBubble { // its clock begins in 2000
		return Patience
	}
	return time.Minute
}

// Client is a scripted client of one protocol: one stream, or one for each type that is
// opened when it is first used. Its methods fail the test; they are for one goroutine.
type Client struct {
	t        testing.TB
	protocol Protocol
	node     *corev3.Node
	token    Token
	conn     *grpc.ClientConn
	ctx      context.Context //nolint:containedctx // of the client's streams
	cancel   context.CancelFunc

	types   [fleet.NumTypes]state
	streams map[string]*stream // by method
	inbox   chan *Response     // of all streams, as they came
	ends    chan error
	turn    chan struct{} // whoever holds it may read
	waiting []*Response   // taken from the inbox, not asked for yet
	labels  map[label]string
}

// state is what the client has of one type.
type state struct {
	names    []string // asked for by name
	wildcard bool
	accepted string // version_info of the last response that was accepted
	nonce    string // of the last response
	// held are the versions of what was accepted, as the server calls them.
	held map[string]Item
}

// label is a version as the server calls it.
type label struct {
	t             fleet.Type
	name, version string
}

// Token is what a client sends in place of the token "*"; "" sends none.
type Token string

// Open starts a client. It ends with the test.
func Open(t testing.TB, conn *grpc.ClientConn, v Protocol, node *corev3.Node, token ...Token) *Client {
	t.Helper()
	as := append(slices.Clone(token), "*")[0]
	ctx, cancel := context.WithCancel(As(t.Context(), string(as)))
	c := &Client{
		t: t, protocol: v, node: node, token: as, conn: conn, ctx: ctx, cancel: cancel,
		streams: map[string]*stream{}, labels: map[label]string{},
		inbox: make(chan *Response, 1024), ends: make(chan error, 16), turn: make(chan struct{}, 1),
	}
	c.turn <- struct{}{}
	t.Cleanup(cancel)
	return c
}

// Again starts another client of the same node that holds what this one holds. This one
// is closed.
func (c *Client) Again() *Client { return c.At(c.conn) }

// At is Again, with another server.
func (c *Client) At(conn *grpc.ClientConn) *Client {
	c.t.Helper()
	c.Close()
	next := Open(c.t, conn, c.protocol, c.node, c.token)
	for t, s := range c.types {
		next.types[t] = state{names: slices.Clone(s.names), wildcard: s.wildcard, accepted: s.accepted, held: maps.Clone(s.held)}
	}
	next.labels = maps.Clone(c.labels)
	return next
}

// Close ends the client's streams, as a lost connection does.
func (c *Client) Close() { c.cancel() }

// Protocol is the client's.
func (c *Client) Protocol() Protocol { return c.protocol }

// stream returns the one that serves the type.
func (c *Client) stream(t fleet.Type) *stream {
	c.t.Helper()
	method := c.protocol.Method(t)
	if s := c.streams[method]; s != nil {
		return s
	}
	cs, err := call(c.ctx, c.conn, method)
	if err != nil {
		c.t.Fatalf("open %s: %v", method, err)
	}
	s := &stream{ClientStream: cs, delta: c.protocol.Delta, seen: map[string]bool{}}
	c.streams[method] = s
	go c.read(s)
	return s
}

func (c *Client) read(s *stream) {
	for {
		select {
		case token := <-c.turn:
			c.turn <- token
		case <-c.ctx.Done():
			return
		}
		r, err := s.recv()
		if err != nil {
			select {
			case c.ends <- err:
			default: // nobody looks
			}
			return
		}
		select {
		case c.inbox <- r:
		case <-c.ctx.Done():
			return
		}
	}
}

// Pause has the client stop reading: of each stream it reads one response more, if that comes,
// until Resume. It needs a bubble.
func (c *Client) Pause() {
	synctest.Wait() // it reads
	<-c.turn
}

// Resume ends Pause.
func (c *Client) Resume() { c.turn <- struct{}{} }

// Send sends a request as it is; a stream's first one gets the node.
func (c *Client) Send(r Request) {
	c.t.Helper()
	s := c.stream(r.Type)
	if !s.named && r.Node == nil {
		r.Node = c.node
	}
	s.named = true
	_ = s.send(r) // the reason comes with End
}

// Next returns the next response, which must come in time.
func (c *Client) Next() *Response {
	c.t.Helper()
	return c.next(func(*Response) bool { return true })
}

// next returns the next response that is the one wanted, and keeps the others.
func (c *Client) next(wanted func(*Response) bool) *Response {
	c.t.Helper()
	if i := slices.IndexFunc(c.waiting, wanted); i >= 0 {
		r := c.waiting[i]
		c.waiting = slices.Delete(c.waiting, i, i+1)
		return r
	}
	within := patience()
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	for {
		select {
		case r := <-c.inbox:
			c.take(r)
			if wanted(r) {
				return r
			}
			c.waiting = append(c.waiting, r)
		case err := <-c.ends:
			if len(c.inbox) > 0 { // what came before the end comes first
				c.ends <- err
				continue
			}
			c.t.Fatalf("the stream ended: %v", err)
		case <-timeout.C:
			c.t.Fatalf("no response came within %s", within)
		}
	}
}

// take looks at a response for the first time.
func (c *Client) take(r *Response) {
	c.t.Helper()
	for _, f := range r.faults() {
		c.t.Errorf("%s: %s", r, f)
	}
	if r.from.seen[r.Nonce] {
		c.t.Errorf("the nonce %q came twice on one stream", r.Nonce)
	}
	r.from.seen[r.Nonce] = true
	c.types[r.Type].nonce = r.Nonce
	for i := range r.Resources {
		x := &r.Resources[i]
		key := label{r.Type, x.Name, x.Version}
		switch known, ok := c.labels[key]; {
		case !x.Bare:
			c.labels[key] = x.Label
		case ok:
			x.Label = known
		default:
			x.Label = "unknown:" + x.Version
		}
	}
}

// Want is Next, and fails if it is not that response. With a stream for each type it is
// the next one of that type.
func (c *Client) Want(want string) *Response {
	c.t.Helper()
	slug, _, _ := strings.Cut(want, " ")
	r := c.next(func(r *Response) bool { return !c.protocol.PerType || r.Type.Slug() == slug })
	if r.String() != want {
		c.t.Fatalf("got  %s\nwant %s", r, want)
	}
	return r
}

// Quiet fails if the server has anything to say. It needs a bubble: when everything in it
// waits, nothing is on its way.
func (c *Client) Quiet() {
	c.t.Helper()
	if r, more := c.NextOrQuiet(); more {
		c.t.Fatalf("the server was not quiet: %s", r)
	}
}

// QuietFor is Quiet for some time.
func (c *Client) QuietFor(d time.Duration) {
	c.t.Helper()
	time.Sleep(d)
	c.Quiet()
}

// NextOrQuiet returns the next response if the server has one to send, and false if not.
func (c *Client) NextOrQuiet() (*Response, bool) {
	c.t.Helper()
	synctest.Wait()
	if len(c.waiting) > 0 || len(c.inbox) > 0 {
		return c.Next(), true
	}
	if len(c.ends) > 0 {
		c.t.Fatalf("the stream ended: %v", <-c.ends)
	}
	return nil, false
}

// End returns the error that a stream ends with, which must come in time. Responses are
// passed over.
func (c *Client) End() error {
	c.t.Helper()
	for {
		if r, err := c.Ended(); r == nil {
			return err
		}
	}
}

// Ended is EndedWithin the time in which it must come.
func (c *Client) Ended() (*Response, error) {
	c.t.Helper()
	within := patience()
	r, err := c.EndedWithin(within)
	if r == nil && err == nil {
		c.t.Fatalf("no stream ended within %s", within)
	}
	return r, err
}

// EndedWithin returns what comes first: a response, or the error that a stream ends
// with. Neither comes in that time if both are nil.
func (c *Client) EndedWithin(d time.Duration) (*Response, error) {
	c.t.Helper()
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	select {
	case r := <-c.inbox:
		c.take(r)
		return r, nil
	case err := <-c.ends:
		if len(c.inbox) == 0 {
			return nil, err
		}
		c.ends <- err // what came before the end comes first
		r := <-c.inbox
		c.take(r)
		return r, nil
	case <-timeout.C:
		return nil, nil
	}
}
