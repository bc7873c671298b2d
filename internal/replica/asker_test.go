package replica

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// crowd lets clean nodes come back at once, and says how many are believed, and when the last
// one was attached.
func (w *world) crowd(id xds.Identity, nodes int) (believed int, took time.Duration) {
	w.t.Helper()
	for i := range nodes {
		w.left(fmt.Sprint("n", i), fleet.LastStream{Settled: 1, Clean: true})
	}
	begun := time.Now()
	var sum atomic.Int64
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			if w.resume(id, fmt.Sprint("n", i)).LastStream() == (xds.LastStream{Known: true, Settled: 1, Clean: true}) {
				sum.Add(1)
			}
		})
	}
	wg.Wait()
	return int(sum.Load()), time.Since(begun)
}

// SEMANTICS 3.4: as many nodes as a credential may have come back at once, 2 ms from the
// database: all are believed, for the price of some questions.
func TestACrowdIsBelieved(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.pastTook = 2 * time.Millisecond })
		before := w.feed.counts().asked
		const nodes = 9_000
		believed, took := w.crowd(id, nodes)
		if believed != nodes {
			t.Errorf("%d of %d clean nodes are believed", believed, nodes)
		}
		if n := w.feed.counts().asked - before; n > nodes/nodesAtOnce+2 || took > time.Second {
			t.Errorf("%d questions, %v", n, took)
		}
	})
}

// T44: where the last streams of one fleet's nodes are not to be had, another fleet's are.
func TestT44_LastStreamsOfOneFleetDoNotHoldUpAnother(t *testing.T) {
	slowly(t, func(t *testing.T, w *world, slow *slowFleets) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.left("other", fleet.LastStream{Settled: 1, Clean: true})
		var slowIDs []xds.Identity
		for range 6 {
			_, slowID, _ := w.newFleet(cluster("c", "1"))
			w.attach(slowID, "first")
			slowIDs = append(slowIDs, slowID)
		}
		var wg sync.WaitGroup
		for _, slowID := range slowIDs {
			slow.set(true, slowID.Key)
			for i := range 40 {
				wg.Go(func() { w.resume(slowID, fmt.Sprint("s", i)) })
			}
		}
		synctest.Wait()
		begun := time.Now()
		a := w.resume(id, "other")
		if p := a.LastStream(); !p.Clean || time.Since(begun) > 1500*time.Millisecond { // a quick place is held for a second at most, behind others for a quarter each
			t.Errorf("the other fleet's node attached after %v, its last stream %+v", time.Since(begun), p)
		}
		wg.Wait()
	})
}

// stingy is a feed that answers for some nodes at once only, and waits for a word before it
// answers at all.
type stingy struct {
	*feed
	most   int
	hold   atomic.Pointer[chan struct{}]
	panics atomic.Bool
}

func (s *stingy) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	if c := s.hold.Load(); c != nil {
		select {
		case <-*c:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.panics.Swap(false) {
		panic("scripted")
	}
	return s.feed.LastStreams(ctx, key, nodes[:min(len(nodes), s.most)])
}

func stingily(t *testing.T, most int, f func(t *testing.T, w *world, s *stingy)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stingy{feed: newFeed(), most: most}
		w := setupFeed(t, s, s.feed)
		synctest.Wait()
		f(t, w, s)
		w.stop()
	})
}

func TestNodesThatAreNotAnsweredForAreAskedForAgain(t *testing.T) {
	stingily(t, 7, func(t *testing.T, w *world, _ *stingy) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.pastTook = 2 * time.Millisecond })
		if believed, _ := w.crowd(id, 100); believed != 100 {
			t.Errorf("%d of 100 are believed", believed)
		}
	})
}

// An answer of nothing at all is an error, and not asked for for ever.
func TestNodesThatNobodyAnswersFor(t *testing.T) {
	stingily(t, 0, func(t *testing.T, w *world, _ *stingy) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		if believed, took := w.crowd(id, 20); believed != 0 || took > lastStreamsTurn {
			t.Errorf("%d of 20 are believed, after %v", believed, took)
		}
	})
}

// Whoever asks for all may go away, and the others are answered; or panic, and they go on
// unbelieved: nobody waits for ever.
func TestWhoAsksForAllMayGo(t *testing.T) {
	for name, panics := range map[string]bool{"its client goes": false, "it panics": true} {
		t.Run(name, func(t *testing.T) {
			stingily(t, 1000, func(t *testing.T, w *world, s *stingy) {
				_, id, _ := w.newFleet(cluster("c", "1"))
				w.attach(id, "first")
				c := make(chan struct{})
				s.hold.Store(&c)
				for range quickAtOnce { // so that it asks for all of them
					w.lastStreams.quick <- struct{}{}
				}
				ctx, cancel := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					defer func() { _ = recover() }()
					_, _ = w.Attach(ctx, id, fleet.Node{ID: "asks"}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true})
				}()
				synctest.Wait()
				believed := make(chan int)
				go func() { n, _ := w.crowd(id, 10); believed <- n }()
				synctest.Wait()
				for range quickAtOnce {
					<-w.lastStreams.quick
				}
				synctest.Wait()
				want := 10
				if panics { // nobody knows how far it came
					s.panics.Store(true)
					want = 0
				} else {
					cancel()
				}
				close(c)
				<-gone
				if n := <-believed; n != want {
					t.Errorf("%d of 10 that waited are believed, want %d", n, want)
				}
				cancel()
				synctest.Wait() // who asked gives its place back after it has told the others
				if n := len(w.lastStreams.quick) + len(w.lastStreams.slow); n > 0 {
					t.Errorf("%d places are held", n)
				}
				if p := w.resume(id, "n0").LastStream(); !p.Known {
					t.Errorf("the next one is told %+v", p)
				}
			})
		})
	}
}
