package replica

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/auth"
	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("connection refused")

// world is a replica that runs on a fake feed.
type world struct {
	*Replica
	t    testing.TB
	feed *feed
	sink *sink
	stop func()
}

func setup(t testing.TB) *world {
	t.Helper()
	f := newFeed()
	return setupFeed(t, f, f)
}

// setupFeed is setup with a feed that stands before the fake one.
func setupFeed(t testing.TB, front Feed, f *feed) *world {
	t.Helper()
	return setupMeasured(t, front, f, nil)
}

func setupMeasured(t testing.TB, front Feed, f *feed, m *metrics.Held) *world {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	s := &sink{settled: map[fleet.Key]fleet.Revision{}}
	rec, err := delivery.New(delivery.Config{Server: fleet.NewServerID(), Name: "here", Sink: s, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := New(Config{Feed: front, Opener: opener{}, Recorder: rec, Logger: quiet, Metrics: m})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = rec.Run(ctx) })
	wg.Go(func() { _ = rep.Run(ctx) })
	stop := sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return &world{Replica: rep, t: t, feed: f, sink: s, stop: stop}
}

// bubble runs f with a clock that jumps when nothing else is to be done.
func bubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		synctest.Wait() // it runs
		f(t, w)
		w.stop()
	})
}

// fleet makes a fleet with a credential for all nodes, and the identity it gives.
func (w *world) newFleet(rows ...fleet.Row) (fleet.Key, xds.Identity, string) {
	w.t.Helper()
	key := w.feed.add()
	if len(rows) > 0 {
		w.feed.write(key, rows...)
	}
	id, token := w.newCredential(key, "*", time.Time{})
	return key, id, token
}

func (w *world) newCredential(key fleet.Key, nodes string, expires time.Time) (xds.Identity, string) {
	w.t.Helper()
	cid, token, hash := auth.NewNodeToken(expires)
	w.feed.credential(key, fleet.Credential{ID: cid, Hash: hash, Nodes: nodes, ExpiresAt: expires})
	p, err := auth.ParseNodePattern(nodes)
	if err != nil {
		w.t.Fatal(err)
	}
	return xds.Identity{Key: key, Credential: cid, Nodes: p}, token
}

func (w *world) attach(id xds.Identity, node string) *attachment {
	w.t.Helper()
	a, err := w.Attach(w.t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: "delta ADS"})
	if err != nil {
		w.t.Fatalf("attach %s: %v", node, err)
	}
	return a.(*attachment)
}

// attachWhenRunning is attach for a test whose clock does not jump.
func (w *world) attachWhenRunning(id xds.Identity, node string) *attachment {
	w.t.Helper()
	for {
		a, err := w.Attach(w.t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{})
		if err == nil {
			return a.(*attachment)
		}
		if !errors.Is(err, fleet.ErrUnavailable) {
			w.t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// wantFleets checks what the replica holds.
func (w *world) wantFleets(n int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.fleets) != n || len(w.byID) != n || len(w.creds) != n {
		w.t.Errorf("%d fleets, %d ids, %d credentials; want %d", len(w.fleets), len(w.byID), len(w.creds), n)
	}
}

// nodes counts what a fleet remembers.
func (w *world) nodes(key fleet.Key) (all, excepted int) {
	w.mu.Lock()
	o := w.fleets[key]
	w.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.nodes.byID), len(o.nodes.excepted)
}

// change writes one revision and rings the bell.
func (w *world) change(key fleet.Key, rows ...fleet.Row) fleet.Revision {
	rev := w.feed.write(key, rows...)
	w.Wake(key.Fleet, false)
	synctest.Wait()
	return rev
}

func changed(a *attachment) bool {
	select {
	case <-a.Bell():
		return true
	default:
		return false
	}
}

func version(t *snapshot.Target, typ fleet.Type, name string) string {
	if r := t.Types[typ].Get(name); r != nil {
		return r.Version
	}
	return ""
}
