package world

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

// Tap stands between clients and an xDS server, whatever service they ask for. It passes
// every message on byte by byte, notes what each side said, and can hold responses back,
// delay what clients send, cut the connections or move the streams to another server. Its
// methods may be called by any goroutine.
type Tap struct {
	Address string
	wires   *wires

	mu       sync.Mutex // guards what follows
	upstream *grpc.ClientConn
	token    string        // of new streams; "": the client's
	ended    chan struct{} // closed to end the present streams
	streams  int           // opened so far
	sent     []Sent
	asked    []Asked
	hold     func(Sent) time.Duration
	journal  []string // both, as they came
	began    time.Time
}

// mostBytes may a message have.
const mostBytes = 64 << 20

// NewTap starts a tap before a server. What it saw is shown when the test fails.
func NewTap(t testing.TB, upstream string) *Tap {
	t.Helper()
	lis, err := net.Listen("tcp", AnyPort)
	Must(t, err)
	p := &Tap{Address: lis.Addr().String(), wires: newWires(lis), ended: make(chan struct{}), began: time.Now()}
	p.Move(t, upstream)
	gs := grpc.NewServer(grpc.ForceServerCodecV2(Raw{}), grpc.UnknownServiceHandler(p.serve), grpc.MaxRecvMsgSize(mostBytes))
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = gs.Serve(p.wires)
	}()
	t.Cleanup(func() {
		p.End()
		gs.Stop()
		<-served
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = p.upstream.Close()
		if t.Failed() {
			t.Logf("between clients and the server:\n%s", strings.Join(p.journal[max(0, len(p.journal)-80):], "\n"))
		}
	})
	return p
}

// Move sends the streams that open from now on to another server.
func (p *Tap) Move(t testing.TB, upstream string) {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(Raw{}), grpc.MaxCallRecvMsgSize(mostBytes)))
	Must(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upstream != nil {
		_ = p.upstream.Close()
	}
	p.upstream = conn
}

// AddToken gives the streams that open from now on a token, as a relay does: gRPC clients
// send none in the clear.
func (p *Tap) AddToken(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = token
}

// End ends the present streams, as a server that goes away does.
func (p *Tap) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ended)
	p.ended = make(chan struct{})
}

// Cut breaks the clients' connections, and returns the number of streams that were opened
// before: the next one has a higher number.
func (p *Tap) Cut() (before int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wires.cut()
	return p.streams
}

// Down cuts the connections and takes none until Up, as a machine whose server was killed.
func (p *Tap) Down() {
	p.wires.down.Store(true)
	p.Cut()
}

// Up takes connections again.
func (p *Tap) Up() { p.wires.down.Store(false) }

// Refused is how many connections were not taken so far.
func (p *Tap) Refused() int { return int(p.wires.refused.Load()) }

// Connections is how many there are.
func (p *Tap) Connections() int {
	p.wires.mu.Lock()
	defer p.wires.mu.Unlock()
	return len(p.wires.open)
}

// Delay holds every byte that clients send back for so long.
func (p *Tap) Delay(lag time.Duration) { p.wires.lag.Store(int64(lag)) }

// HoldBack makes responses wait for as long as f says; nil lets all pass.
func (p *Tap) HoldBack(f func(Sent) time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = f
}

// Since returns what was sent after the first n responses; Count is the next n.
func (p *Tap) Since(n int) []Sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent[n:])
}

// Count is the number of responses so far.
func (p *Tap) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sent)
}

// Requests returns what clients asked on the streams after the first n.
func (p *Tap) Requests(n int) []Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	var after []Asked
	for _, a := range p.asked {
		if a.Stream > n {
			after = append(after, a)
		}
	}
	return after
}

// Opened is the number of streams so far.
func (p *Tap) Opened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.streams
}

// Sees reports whether a client asked for this type on a stream after the first n.
func (p *Tap) Sees(n int, typ fleet.Type) bool {
	return slices.ContainsFunc(p.Requests(n), func(a Asked) bool { return a.Type == typ })
}

// noteSent says how long the response is to wait.
func (p *Tap) noteSent(s Sent) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s)
	p.write("server " + s.String())
	if p.hold == nil {
		return 0
	}
	return p.hold(s)
}

func (p *Tap) noteAsked(a Asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, a)
	p.write("client " + a.String())
}

// write is called with mu held.
func (p *Tap) write(line string) {
	p.journal = append(p.journal, fmt.Sprintf("%6.3f %s", time.Since(p.began).Seconds(), line[:min(len(line), 2000)]))
}
