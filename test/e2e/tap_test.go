package e2e

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"fairlead/internal/fleet"
)

// tap stands between Envoy and an xDS server, whatever service Envoy asks for. It passes
// everything on, notes what each side said, and can hold responses back, delay what Envoy
// sends, cut the connections or move the streams to another server.
type tap struct {
	address string
	wires   *wires

	mu       sync.Mutex // guards what follows
	upstream *grpc.ClientConn
	ended    chan struct{} // closed to end the present streams
	streams  int           // opened so far
	sent     []sent
	asked    []asked
	hold     func(sent) time.Duration
	journal  []string // both, as they came
	write    func(line string)
}

// sent is one response of the server.
type sent struct {
	stream  int
	typ     fleet.Type
	nonce   string
	names   []string // delta; in state of the world, where only bodies tell, as many ""
	removed []string
	// beats are, of names, those without a body and without an alias: heartbeats. ttls are
	// those that are to expire.
	beats   []string
	ttls    []string
	wrapped int // resources in a wrapper, in state of the world: only there can a TTL stand
	// content is of each resource, in order: in delta the name and the version, in state of
	// the world, which has no versions of resources, what its bytes come to.
	content []string
}

func (s sent) String() string {
	out := fmt.Sprintf("%d:%s %s", s.stream, s.typ, strings.Join(s.names, ","))
	if len(s.removed) > 0 {
		out += " -" + strings.Join(s.removed, ",-")
	}
	if len(s.beats) > 0 {
		out += " beats " + strings.Join(s.beats, ",")
	}
	return out + " nonce " + s.nonce
}

// empty: the response only answers.
func (s sent) empty() bool { return len(s.names) == 0 && len(s.removed) == 0 }

// asked is one request of Envoy.
type asked struct {
	stream   int
	method   string // the last part of its path, such as "DeltaClusters"
	typ      fleet.Type
	names    []string // subscribed to
	reported []string // delta: what Envoy says that it holds
	version  string   // state of the world
	nonce    string
	refusal  string // the text of a NACK
	size     int    // in bytes
}

func (a asked) String() string {
	out := fmt.Sprintf("%d:%s %s", a.stream, a.typ, strings.Join(a.names, ","))
	if len(a.reported) > 0 {
		out += " has " + strings.Join(a.reported, ",")
	}
	if a.version != "" {
		out += " version " + a.version
	}
	if a.nonce != "" {
		out += " nonce " + a.nonce
	}
	if a.refusal != "" {
		out += " REFUSED " + a.refusal
	}
	return out
}

func newTap(t testing.TB, upstream string) *tap {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &tap{address: lis.Addr().String(), wires: newWires(lis), ended: make(chan struct{})}
	start := time.Now()
	p.write = func(line string) {
		p.journal = append(p.journal, fmt.Sprintf("%6.3f %s", time.Since(start).Seconds(), line[:min(len(line), 2000)]))
	}
	p.move(t, upstream)
	gs := grpc.NewServer(grpc.UnknownServiceHandler(p.serve), grpc.MaxRecvMsgSize(64<<20))
	served := make(chan error, 1)
	go func() { served <- gs.Serve(p.wires) }()
	t.Cleanup(func() {
		p.end()
		gs.Stop()
		<-served
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.upstream.Close()
		if t.Failed() {
			t.Logf("between Envoy and the server:\n%s", strings.Join(p.journal[max(0, len(p.journal)-80):], "\n"))
		}
	})
	return p
}

// move sends the streams that open from now on to another server.
func (p *tap) move(t testing.TB, upstream string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	must(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upstream != nil {
		_ = p.upstream.Close()
	}
	p.upstream = conn
}

// end ends the present streams, as a server that goes away does.
func (p *tap) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ended)
	p.ended = make(chan struct{})
}

// cut breaks Envoy's connections, and returns the number of streams that were opened
// before: the next one has a higher number.
func (p *tap) cut() (before int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wires.cut()
	return p.streams
}

// delay holds every byte that Envoy sends back for so long.
func (p *tap) delay(lag time.Duration) { p.wires.lag.Store(int64(lag)) }

// holdBack makes responses wait for as long as f says; nil lets all pass.
func (p *tap) holdBack(f func(sent) time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = f
}

// since returns what was sent after the first n responses; len of all of them is the
// next n.
func (p *tap) since(n int) []sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent[n:])
}

func (p *tap) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// requests returns what Envoy asked on the streams after the first n.
func (p *tap) requests(n int) []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	var after []asked
	for _, a := range p.asked {
		if a.stream > n {
			after = append(after, a)
		}
	}
	return after
}

// opened is the number of streams so far.
func (p *tap) opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.streams
}

// sees reports whether Envoy asked for this type on a stream after the first n.
func (p *tap) sees(n int, typ fleet.Type) bool {
	return slices.ContainsFunc(p.requests(n), func(a asked) bool { return a.typ == typ })
}

func (p *tap) noteSent(s sent) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s)
	p.write("server " + s.String())
	if p.hold == nil {
		return 0
	}
	return p.hold(s)
}

func (p *tap) noteAsked(a asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
	p.write("client " + a.String())
}

// open is a new stream: its number, where it goes, and what ends it.
func (p *tap) open() (int, *grpc.ClientConn, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams++
	return p.streams, p.upstream, p.ended
}
