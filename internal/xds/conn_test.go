package xds_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

const (
	deltaADS    = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"
	fetchMethod = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus"
	checkMethod = "/grpc.health.v1.Health/Check"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu  sync.Mutex // guards out
	out bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *logged) has(text string) bool { return strings.Contains(l.text(), text) }

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

// listening is a stream of its own, as one that has asked for something.
func listening(t *testing.T, r *xdstest.Raw) uint32 {
	t.Helper()
	body, err := proto.Marshal(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("n1"), TypeUrl: fleet.Cluster.URL()})
	if err != nil {
		t.Fatal(err)
	}
	id := r.Call(deltaADS, "*")
	r.Send(id, xdstest.Message(len(body), body), false)
	return id
}

// TestT39_AMessageThatIsBegunHasADeadline: half of one ends its connection after 30 s, one
// that is slow and comes to its end does not.
func TestT39_AMessageThatIsBegunHasADeadline(t *testing.T) {
	half := func(n int) []byte { return xdstest.Message(100, make([]byte, 100))[:n] }
	for name, c := range map[string]struct {
		parts []int // bytes sent, one part each 10 s
		ends  bool
	}{
		"a byte of the prefix":       {[]int{1}, true},
		"all of it but one":          {[]int{4}, true},
		"the prefix alone":           {[]int{5}, true},
		"half of the body":           {[]int{50}, true},
		"a byte every 10 s":          {[]int{1, 1, 1, 1, 1, 1}, true},
		"all, a third every 10 s":    {[]int{35, 35, 35}, false},
		"all, and nothing after":     {[]int{105}, false},
		"all of it in many messages": {[]int{105, 105, 105, 105, 105}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var log logged
				w := xdstest.New(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				r := w.Raw()
				// A stream that was ended in the middle of a message owes nothing.
				refused := r.Call(deltaADS, "bad")
				r.Send(refused, half(50), false)
				id := listening(t, r)
				whole := bytes.Repeat(empty(), 10)
				for _, n := range c.parts {
					r.Send(id, whole[:n], false)
					whole = whole[n:]
					time.Sleep(10 * time.Second)
				}
				if len(c.parts) > 4 && r.Alive() == c.ends {
					t.Errorf("the connection lives after %d0 s: %t, want %t", len(c.parts), r.Alive(), !c.ends)
				}
				time.Sleep(25 * time.Second)
				if r.Alive() == c.ends {
					t.Errorf("the connection lives: %t, want %t", r.Alive(), !c.ends)
				}
				if log.has("begun and not sent to its end in time") != c.ends {
					t.Errorf("the log: %s", log.out.String())
				}
			})
		})
	}
}

// empty is a message of 105 bytes that is a good request to go on.
func empty() []byte {
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: fleet.Cluster.URL()}
	r.ResponseNonce = strings.Repeat("x", 100-proto.Size(r)-2)
	body, err := proto.Marshal(r)
	if err != nil || len(body) != 100 {
		panic("not 100 bytes")
	}
	return xdstest.Message(100, body)
}

// TestT39_TheFirstRequestHasItsOwnDeadline: it ends the stream alone, after 10 s.
func TestT39_TheFirstRequestHasItsOwnDeadline(t *testing.T) {
	for _, method := range []string{deltaADS, fetchMethod, "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus"} {
		for _, n := range []int{0, 1, 5, 50} {
			t.Run(fmt.Sprintf("%s, %d bytes", path.Base(method), n), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := xdstest.New(t)
					r, began := w.Raw(), time.Now()
					id := r.Call(method, "*")
					r.Send(id, xdstest.Message(100, make([]byte, 100))[:n], false)
					time.Sleep(9 * time.Second) // longer than the patience of End
					if code, err := r.End(id); code != codes.DeadlineExceeded {
						t.Errorf("%d bytes: ended with %v (%v), want DeadlineExceeded", n, code, err)
					}
					if took := time.Since(began); took != 10*time.Second {
						t.Errorf("%d bytes: ended after %s, want 10 s", n, took)
					}
					time.Sleep(time.Minute)
					if !r.Alive() {
						t.Error("the connection ended with it")
					}
				})
			})
		}
	}
}

// TestT39_WindowsDoNotGrow: however much came, a call without a token may send no more than
// its first window.
func TestT39_WindowsDoNotGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		r := w.Raw()
		for i := range 200 {
			id := r.Call(deltaADS, "bad")
			if sent := r.Send(id, make([]byte, 1<<20), false); sent > 64<<10 {
				t.Fatalf("call %d sent %d bytes", i, sent)
			}
			if code, err := r.End(id); code != codes.Unauthenticated {
				t.Fatalf("call %d ended with %v (%v), want Unauthenticated", i, code, err)
			}
		}
	})
}

// TestT15_HeadersAreBounded: a header list of more than 16 KiB and a second authorization
// value are refused, and a path that is none reaches no method.
func TestT15_HeadersAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		large := w.Raw()
		if code, err := large.End(large.Call(deltaADS, "bad", "x-large", strings.Repeat("x", 17<<10))); err == nil {
			t.Errorf("17 KiB of headers ended with %v, want a reset", code)
		}
		r := w.Raw()
		if code, err := r.End(r.Call(deltaADS, "*", "authorization", "Bearer *")); code != codes.Unauthenticated {
			t.Errorf("two tokens ended with %v (%v), want Unauthenticated", code, err)
		}
		for _, path := range []string{deltaADS[1:], "", "/", "//", deltaADS + "/", "/" + deltaADS} {
			id := r.Call(path, "")
			if code, err := r.End(id); code != codes.Unauthenticated && code != codes.Unimplemented {
				t.Errorf("%q without a token ended with %v (%v)", path, code, err)
			}
		}
		id := listening(t, r)
		time.Sleep(time.Second)
		if !r.Alive() {
			t.Errorf("the connection of stream %d ended", id)
		}
	})
}
