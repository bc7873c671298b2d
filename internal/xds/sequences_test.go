package xds_test

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
	"fairlead/test/pinned"
)

// FuzzRequests sends sequences of requests, as no client would, over a live stream while
// the fleet changes. The server neither panics nor leaks (the bubble would not end), and
// serves the next client.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(randomBytes(seed, 200))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		synctest.Test(t, func(t *testing.T) { playSequence(t, script) })
	})
}

// TestSoakRequests plays random sequences for FAIRLEAD_SOAK, or for a few seconds.
func TestSoakRequests(t *testing.T) {
	t.Parallel()
	first, played := pinned.Seed(), uint64(0)
	for end := time.Now().Add(soakTime(t, everyday())); time.Now().Before(end) && !t.Failed(); played++ {
		seed := first + played
		synctest.Test(t, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the seed was %d", seed)
				}
			}()
			playSequence(t, randomBytes(seed, 400))
		})
	}
	t.Logf("%d sequences", played)
}

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// sequence draws what to do from bytes.
type sequence struct {
	t      *testing.T
	w      *xdstest.World
	c      *xdstest.Client
	script []byte
	nonces []string
	puts   int
}

// draw returns a number below n, 0 when the script is at its end.
func (s *sequence) draw(n int) int {
	if len(s.script) == 0 {
		return 0
	}
	x := int(s.script[0]) % n
	s.script = s.script[1:]
	return x
}

func playSequence(t *testing.T, script []byte) {
	log := &lockedBuffer{}
	w := xdstest.New(t, func(c *xds.Config) {
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
		c.Limits.Names = 20
	})
	s := &sequence{t: t, w: w, script: script}
	s.open()
	for len(s.script) > 0 {
		s.step()
	}
	s.c.Close()
	if strings.Contains(log.String(), "panic") {
		t.Fatal(log)
	}
	w.Publish(xdstest.Put(fleet.Listener, "after", "1"))
	for _, v := range xdstest.Protocols {
		c := xdstest.Open(t, w.Conn(), v, xdstest.Envoy("good"))
		c.Subscribe(fleet.Listener, "after")
		c.Ack(c.Want("listeners after@1"))
		c.Close()
	}
}

func (s *sequence) open() {
	node := xdstest.Envoy("n1")
	if s.draw(2) == 1 {
		node = xdstest.GRPC("n1", xdstest.FeatureTTL, xdstest.FeatureInSotW)
	}
	s.c = xdstest.Open(s.t, s.w.Conn(), xdstest.Protocols[s.draw(4)], node)
	s.nonces = []string{"", "bogus"}
}

func (s *sequence) step() {
	switch s.draw(16) {
	case 0:
		s.c.Close()
		s.open()
	case 1, 2, 3, 4:
		s.publish()
	case 5:
		time.Sleep(time.Duration(s.draw(256)) * time.Second / 8)
	case 6, 7, 8, 9:
		s.receive()
	default:
		s.c.Send(s.request())
	}
}

// receive takes what is there and answers some of it well.
func (s *sequence) receive() {
	r, err := s.c.EndedWithin(0)
	if err != nil { // as it may: what was sent was no good
		s.c.Close()
		s.open()
		return
	}
	if r == nil {
		return
	}
	s.nonces = append(s.nonces, r.Nonce)
	switch s.draw(3) {
	case 0:
		s.c.Ack(r)
	case 1:
		s.c.Nack(r, "no "+s.name())
	}
}

func (s *sequence) publish() {
	typ := fleet.Type(s.draw(fleet.NumTypes))
	name := s.stored()
	s.puts++
	var opts []xdstest.Option
	switch s.draw(6) {
	case 0:
		s.w.Publish(xdstest.Delete(typ, name))
		return
	case 1:
		opts = append(opts, xdstest.TTL(time.Duration(1+s.draw(20))*time.Second))
	case 2:
		opts = append(opts, xdstest.Naming(s.stored()))
	case 3:
		opts = append(opts, xdstest.EDSName(s.stored()))
	case 4:
		opts = append(opts, xdstest.VHDS)
	}
	s.w.Publish(xdstest.Put(typ, name, strconv.Itoa(s.puts), opts...))
}

// request is one that hardly makes sense.
func (s *sequence) request() xdstest.Request {
	r := xdstest.Request{Type: fleet.Type(s.draw(fleet.NumTypes)), Nonce: s.nonces[s.draw(len(s.nonces))]}
	if !s.c.Protocol().Serves(r.Type) {
		r.Type = fleet.Cluster
	}
	for range s.draw(5) {
		r.Names = append(r.Names, s.name())
	}
	for range s.draw(3) {
		r.Unsubscribe = append(r.Unsubscribe, s.name())
	}
	if s.draw(4) == 0 {
		r.Versions = map[string]string{s.name(): strconv.Itoa(s.draw(20)), s.name(): ""}
	}
	if s.draw(3) == 0 {
		r.Version = s.c.Version(r.Type)
	}
	if s.draw(4) == 0 {
		r.Error = "no " + s.name()
	}
	if s.draw(64) == 1 {
		r.TypeURL = []string{"none", fleet.Runtime.URL(), "type.googleapis.com/envoy.api.v2.Cluster"}[s.draw(3)]
	}
	if s.draw(32) == 1 {
		r.Node = []*corev3.Node{{}, xdstest.Envoy("n2")}[s.draw(2)]
	}
	return r
}

// name is one that clients may come up with.
func (s *sequence) name() string {
	if s.draw(5) == 0 {
		return []string{"*", "", "r/*", "r/-", "r/", "/", "r/x.example"}[s.draw(7)]
	}
	return s.stored()
}

// stored is a name that a resource may have.
func (s *sequence) stored() string {
	return []string{"a", "b", "r/a", "r/b", "r"}[s.draw(5)]
}

// lockedBuffer is a log that streams write at once.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
