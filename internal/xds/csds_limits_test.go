package xds_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// watcher is a client of the status service over a stream.
type watcher struct {
	statusv3.ClientStatusDiscoveryService_StreamClientStatusClient
	t *testing.T
}

func watch(t *testing.T, w *xdstest.World, token string) watcher {
	t.Helper()
	return watchOver(t, w.Conn(), token)
}

func watchOver(t *testing.T, conn *grpc.ClientConn, token string) watcher {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ss, err := statusv3.NewClientStatusDiscoveryServiceClient(conn).StreamClientStatus(xdstest.As(ctx, token))
	if err != nil {
		t.Fatal(err)
	}
	return watcher{ss, t}
}

// ask returns the error that the stream ends with, nil if it answers.
func (w watcher) ask() error {
	w.t.Helper()
	if err := w.Send(&statusv3.ClientStatusRequest{}); err != nil && !errors.Is(err, io.EOF) {
		w.t.Fatal(err)
	}
	_, err := w.Recv()
	return err
}

func (w watcher) mustAnswer() {
	w.t.Helper()
	if err := w.ask(); err != nil {
		w.t.Fatal(err)
	}
}

// authenticate is an Authenticator that is one function.
type authenticate func(ctx context.Context, token string) (xds.Identity, error)

func (f authenticate) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	return f(ctx, token)
}

func (f authenticate) Recheck(ctx context.Context, _ xds.Identity) (xds.Identity, error) {
	_, token, _ := strings.Cut(metadata.ValueFromIncomingContext(ctx, "authorization")[0], " ")
	return f(ctx, token)
}

// TestClientStatusAfterRevocation: each request of a stream needs a good credential.
func TestClientStatusAfterRevocation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var revoked atomic.Bool
		w := xdstest.New(t, func(c *xds.Config) {
			good := c.Authenticator.Authenticate
			c.Authenticator = authenticate(func(ctx context.Context, token string) (xds.Identity, error) {
				if revoked.Load() {
					return xds.Identity{}, fleet.ErrUnauthenticated
				}
				return good(ctx, token)
			})
		})
		s := watch(t, w, "*")
		s.mustAnswer()
		revoked.Store(true)
		if err := s.ask(); status.Code(err) != codes.Unauthenticated {
			t.Errorf("ended with %v, want Unauthenticated", err)
		}
	})
}

func TestClientStatusEndsOnDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		s := watch(t, w, "*")
		s.mustAnswer()
		w.Server.Drain()
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("ended with %v, want OK", err)
		}
	})
}

// TestClientStatusCallsAtOnce are bounded for each credential; quiet ones count.
func TestClientStatusCallsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Authenticator = tenants{c.Authenticator} })
		var streams []watcher
		for range 4 {
			s := watch(t, w, "*")
			s.mustAnswer()
			streams = append(streams, s)
		}
		refused := func(err error) {
			t.Helper()
			if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "4 calls of client status and reflection at once") {
				t.Errorf("got %v, want ResourceExhausted with the limit", err)
			}
		}
		client := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn())
		fetch := func(token string) error {
			_, err := client.FetchClientStatus(xdstest.As(t.Context(), token), &statusv3.ClientStatusRequest{})
			return err
		}
		refused(watch(t, w, "*").ask())
		refused(fetch("*"))
		watch(t, w, "other-*").mustAnswer()
		if err := streams[0].CloseSend(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for range 5 {
			if err := fetch("*"); err != nil {
				t.Errorf("with one ended: %v", err)
			}
		}
	})
}

func TestClientStatusIsPaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Limits.Requests, c.Limits.Burst = 1, 2 })
		s, began := watch(t, w, "*"), time.Now()
		for range 5 {
			s.mustAnswer()
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("5 answers took %s, want 3 s", took)
		}
	})
}

// TestClientStatusContainsAPanic: it ends the call alone.
func TestClientStatusContainsAPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var calls atomic.Int32
		w := xdstest.New(t, func(c *xds.Config) {
			good := c.Authenticator.Authenticate
			c.Authenticator = authenticate(func(ctx context.Context, token string) (xds.Identity, error) {
				if calls.Add(1) == 2 { // the first is the interceptor's
					panic("on purpose")
				}
				return good(ctx, token)
			})
		})
		if err := watch(t, w, "*").ask(); status.Code(err) != codes.Internal {
			t.Errorf("ended with %v, want Internal", err)
		}
		watch(t, w, "*").mustAnswer()
	})
}

// fragile is a Source whose attachments can break.
type fragile struct {
	xds.Source
	broken *atomic.Bool
}

func (f fragile) Attach(ctx context.Context, id xds.Identity, n fleet.Node, s xds.StreamInfo) (xds.Attachment, error) {
	a, err := f.Source.Attach(ctx, id, n, s)
	return fragileAttachment{a, f.broken}, err
}

type fragileAttachment struct {
	xds.Attachment
	broken *atomic.Bool
}

func (a fragileAttachment) Current() *snapshot.Target {
	if a.broken.Load() {
		panic("on purpose")
	}
	return a.Attachment.Current()
}

// TestClientStatusOfAStreamThatPanics: who asks does not wait for it.
func TestClientStatusOfAStreamThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var broken atomic.Bool
		w := xdstest.New(t, func(c *xds.Config) { c.Source = fragile{c.Source, &broken} })
		c := w.Open(xdstest.DeltaADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Settle()
		time.Sleep(time.Second) // the stream has nothing left to look at
		broken.Store(true)
		began := time.Now()
		watch(t, w, "*").mustAnswer()
		if took := time.Since(began); took > 0 {
			t.Errorf("the answer took %s, want it at once", took)
		}
		if err := c.End(); status.Code(err) != codes.Internal {
			t.Errorf("the stream ended with %v, want Internal", err)
		}
	})
}

// TestClientStatusOfASlowReader ends: none that does not read holds an answer for long.
func TestClientStatusOfASlowReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Limits.Write = 5 * time.Second })
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1", xdstest.Padding(3<<20)))
		c := w.Open(xdstest.DeltaADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Settle()
		narrow := w.Dial(grpc.WithInitialWindowSize(64 << 10)) // grpc would let it grow to 16 MiB
		for range 4 {
			s := watchOver(t, narrow, "*")
			for range 2 { // grpc takes one answer as a whole, and waits with the next
				if err := s.Send(&statusv3.ClientStatusRequest{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(4 * time.Second)
		if err := watch(t, w, "*").ask(); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v, want the slow ones to count for 5 s", err)
		}
		time.Sleep(2 * time.Second)
		watch(t, w, "*").mustAnswer()
	})
}

// TestClientStatusDecodesNoMoreThanItTells runs alone: it counts what is allocated.
func TestClientStatusDecodesNoMoreThanItTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := xdstest.New(t)
		var changes []xdstest.Change
		for _, name := range manyNames(40) {
			changes = append(changes, xdstest.Put(fleet.Cluster, name, "1", xdstest.Padding(1<<20)))
		}
		w.Publish(changes...)
		c := w.Open(xdstest.DeltaADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Settle()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := watch(t, w, "*").ask()
		runtime.ReadMemStats(&after)
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "node_matchers") {
			t.Errorf("got %v, want ResourceExhausted with the remedy", err)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 12 {
			t.Errorf("%d MiB were allocated for an answer of at most 4", n)
		}
	})
}
