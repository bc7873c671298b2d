package xds_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestT08_AnAnswerThatIsNotReadCounts: a client that takes no byte of an answer has its call until
// its connection ends, and as few calls as one that reads: what is not sent is held here.
func TestT08_AnAnswerThatIsNotReadCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(xdstest.Put(fleet.Cluster, "c", "1"))
		seen := w.Open(xdstest.DeltaADS, "n1")
		seen.Subscribe(fleet.Cluster)
		seen.Settle()
		r := w.Raw()
		r.Deaf()
		ask := func() uint32 {
			id := r.Call(fetchMethod, "*")
			r.Send(id, xdstest.Message(0, nil), true)
			synctest.Wait()
			return id
		}
		for range 4 {
			ask()
		}
		if code, err := r.End(ask()); code != codes.ResourceExhausted {
			t.Errorf("a fifth call while no answer is read ended with %v (%v), want ResourceExhausted", code, err)
		}
		time.Sleep(61 * time.Second)
		if r.Alive() {
			t.Error("the connection lives on, and with it what its client does not read")
		}
	})
}

// TestT08_AStreamThatEndsUnreadCounts: so does one of discovery, whoever ends it.
func TestT08_AStreamThatEndsUnreadCounts(t *testing.T) {
	for name, end := range map[string]func(*xdstest.Raw, uint32){
		"its client says no more":      func(r *xdstest.Raw, id uint32) { r.Send(id, nil, true) },
		"its client says what is none": func(r *xdstest.Raw, id uint32) { r.Send(id, xdstest.Message(2, []byte{0xff, 0xff}), false) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				w.Publish(xdstest.Put(fleet.Cluster, "c", "1"))
				r := w.Raw()
				r.Deaf()
				id := listening(t, r)
				time.Sleep(time.Second)
				end(r, id)
				time.Sleep(30 * time.Second)
				if n := w.Attached(); n != 1 {
					t.Errorf("%d streams count while what was sent to one is held, want it", n)
				}
				time.Sleep(31 * time.Second)
				if w.Attached() != 0 || r.Alive() {
					t.Errorf("%d streams count, and the connection lives: %t; want neither", w.Attached(), r.Alive())
				}
				reader := w.Raw()
				id = listening(t, reader)
				time.Sleep(time.Second)
				end(reader, id)
				synctest.Wait()
				if w.Attached() != 0 || !reader.Alive() {
					t.Errorf("of a client that reads %d streams count, and the connection lives: %t; want none, and it does", w.Attached(), reader.Alive())
				}
			})
		})
	}
}

// TestT08_AStreamThatIsNotReadEnds: with two large responses on their way the second has to wait, and its stream for
// no longer than Limits.Write. With one, the client may be slow.
func TestT08_AStreamThatIsNotReadEnds(t *testing.T) {
	for name, types := range map[string][]fleet.Type{"one": {fleet.Cluster}, "two": {fleet.Cluster, fleet.Listener}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := xdstest.New(t)
				for i := range 2000 {
					name := fmt.Sprintf("a-name-that-takes-some-bytes-%d", i)
					w.Publish(xdstest.Put(fleet.Cluster, name, "1"), xdstest.Put(fleet.Listener, name, "1"))
				}
				r := w.Raw()
				r.Deaf()
				id := r.Call(deltaADS, "*")
				for _, typ := range types {
					body, err := proto.Marshal(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("n1"), TypeUrl: typ.URL()})
					if err != nil {
						t.Fatal(err)
					}
					r.Send(id, xdstest.Message(len(body), body), false)
					synctest.Wait()
				}
				time.Sleep(59 * time.Second)
				if n := w.Attached(); n != 1 {
					t.Errorf("after 59 s %d streams are served, want it", n)
				}
				time.Sleep(2 * time.Second)
				if n, want := w.Attached(), 2-len(types); n != want {
					t.Errorf("after 61 s %d streams are served, want %d", n, want)
				}
			})
		})
	}
}
