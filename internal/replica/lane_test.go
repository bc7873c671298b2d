package replica

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// slowFleets is a feed that answers nothing about some fleets: they are too large for the time
// there is, or their rows are locked.
type slowFleets struct {
	*feed
	mu   sync.Mutex // guards all below
	slow map[fleet.Key]bool
	most map[fleet.Key]int // questions about each
	took time.Duration     // what an answer takes about the others
}

func (f *slowFleets) block(ctx context.Context, key fleet.Key) error {
	f.mu.Lock()
	slow, took := f.slow[key], f.took
	f.most[key]++
	f.mu.Unlock()
	if slow {
		<-ctx.Done()
		return ctx.Err()
	}
	select {
	case <-time.After(took):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *slowFleets) set(slow bool, keys ...fleet.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		f.slow[k] = slow
	}
}

func (f *slowFleets) asked(key fleet.Key) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most[key]
}

func (f *slowFleets) CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error) {
	if err := f.block(ctx, known[0].Key); err != nil {
		return nil, err
	}
	return f.feed.CatchUp(ctx, known)
}

func (f *slowFleets) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	if err := f.block(ctx, key); err != nil {
		return nil, err
	}
	return f.feed.LastStreams(ctx, key, nodes)
}

func slowly(t *testing.T, f func(t *testing.T, w *world, slow *slowFleets)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := newFeed()
		front := &slowFleets{feed: inner, slow: map[fleet.Key]bool{}, most: map[fleet.Key]int{}}
		w := setupFeed(t, front, inner)
		synctest.Wait()
		f(t, w, front)
		w.stop()
	})
}

// until waits for a version of cluster c, a minute at most, and says how long it took.
func (w *world) until(a *attachment, want string) time.Duration {
	begun := time.Now()
	for version(a.Current(), fleet.Cluster, "c") != want && time.Since(begun) < time.Minute {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
	return time.Since(begun)
}

// T44: fleets whose readings do not come to an end hold up the changes of no other one: not when
// it begins, and not as long as it lasts.
func TestT44_SlowFleetsDoNotHoldUpOthers(t *testing.T) {
	slowly(t, func(t *testing.T, w *world, slow *slowFleets) {
		var slows []fleet.Key
		for range 6 {
			key, id, _ := w.newFleet(cluster("c", "1"))
			w.attach(id, "n")
			slows = append(slows, key)
		}
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "n")
		ring := func(n int, v string) {
			for _, k := range slows[:n] {
				w.change(k, cluster("c", v))
			}
			w.feed.write(key, cluster("c", v))
			w.Wake(key.Fleet, false)
		}
		slow.set(true, slows...)
		ring(2, "2")
		if took := w.until(a, "2"); took >= time.Second {
			t.Errorf("beside two slow ones a change took %v", took)
		}
		ring(6, "3")
		if took := w.until(a, "3"); took >= 5*time.Second {
			t.Errorf("beside six slow ones a change took %v", took)
		}
		time.Sleep(time.Minute)
		for i := range 20 { // they are known by now, and ring all the time
			time.Sleep(3 * time.Second)
			v := fmt.Sprint("again", i)
			ring(6, v)
			if took := w.until(a, v); took > 100*time.Millisecond {
				t.Errorf("beside slow ones that are known a change took %v", took)
			}
		}
		slow.mu.Lock()
		slow.took = 2 * time.Second
		slow.mu.Unlock()
		for range 5 { // large fleets, which need their time
			_, id, _ := w.newFleet(cluster("c", "1"))
			begun := time.Now()
			if w.attach(id, "n"); time.Since(begun) > 2*attachWait {
				t.Errorf("a large fleet was loaded after %v", time.Since(begun))
			}
		}
		slow.set(false, slows...)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for _, k := range slows {
			w.mu.Lock()
			o := w.fleets[k]
			w.mu.Unlock()
			if o.failing.Load() || o.held.Load().at.Revision != w.feed.head(k) {
				t.Error("a slow fleet that answers again is not caught up with")
			}
		}
	})
}

// T44: a fleet that is slow to answer and came to nothing is read again when it is due, however
// often somebody rings.
func TestT44_ASlowFleetIsPutAtTheBack(t *testing.T) {
	slowly(t, func(t *testing.T, w *world, slow *slowFleets) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "n")
		slow.set(true, key)
		before := slow.asked(key)
		w.feed.write(key, cluster("c", "2"))
		for range 6_000 { // for ten minutes
			w.Wake(key.Fleet, false)
			time.Sleep(100 * time.Millisecond)
		}
		if n := slow.asked(key) - before; n < 20 || n > 35 { // each takes 15 s, and then it rests
			t.Errorf("it was asked for %d times", n)
		}
	})
}

// T44: the first streams of a fleet are refused for its own sake alone, not because fleets that
// cannot be loaded take the time, or because many are to be loaded before it.
func TestT44_FleetsThatCannotBeLoadedKeepNobodyOut(t *testing.T) {
	slowly(t, func(t *testing.T, w *world, slow *slowFleets) {
		ctx, cancel := context.WithCancel(t.Context())
		var proxies sync.WaitGroup
		for range 6 {
			key, id, _ := w.newFleet(cluster("c", "1"))
			slow.set(true, key)
			proxies.Go(func() { // it comes back again and again
				for ctx.Err() == nil {
					_, err := w.Attach(ctx, id, fleet.Node{ID: "n"}, xds.StreamInfo{})
					if !errors.Is(err, fleet.ErrUnavailable) {
						t.Errorf("attached to a fleet that cannot be loaded, or %v", err)
					}
					select {
					case <-time.After(2 * time.Second):
					case <-ctx.Done():
					}
				}
			})
		}
		time.Sleep(time.Second)
		for range 10 {
			_, id, _ := w.newFleet(cluster("c", "1"))
			begun := time.Now()
			w.attach(id, "n")
			if took := time.Since(begun); took > attachWait {
				t.Errorf("the first stream of another fleet waited %v", took)
			}
		}
		cancel()
		proxies.Wait()
	})
}

func TestT44_ALongQueueOfLoadsRefusesNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.feed.set(func(f *feed) { f.took = 200 * time.Millisecond })
		var wg sync.WaitGroup
		for range 200 { // 20 s for two at once
			_, id, _ := w.newFleet(cluster("c", "1"))
			wg.Go(func() { w.attach(id, "n") })
		}
		wg.Wait()
	})
}

// slowOpener takes its time over secrets of some fleets: a snapshot is derived slowly.
type slowOpener struct {
	opener
	slow map[fleet.Key]chan struct{}
}

func (s slowOpener) Open(key fleet.Key, name, version string, sealed []byte) ([]byte, error) {
	if c := s.slow[key]; c != nil {
		<-c
	}
	return s.opener.Open(key, name, version, sealed)
}

// T44: a place among those who ask is held while the database is asked, not while a snapshot is
// derived.
func TestT44_SnapshotsAreDerivedWithoutAPlace(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many = quickAtOnce + slowAtOnce + 1
		s := slowOpener{slow: map[fleet.Key]chan struct{}{}}
		w.cfg.Opener = s
		var keys []fleet.Key
		for range many {
			key, id, _ := w.newFleet(cluster("c", "1"))
			w.attach(id, "n")
			keys = append(keys, key)
		}
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "n")
		held := make(chan struct{})
		for _, k := range keys {
			s.slow[k] = held
			w.change(k, secret("s", "1", "sealed:key"))
		}
		w.change(key, cluster("c", "2"))
		if got := version(a.Current(), fleet.Cluster, "c"); got != "2" {
			t.Errorf("while others derive c is at %q", got)
		}
		if n := len(w.reads.quick) + len(w.reads.slow); n > 0 {
			t.Errorf("%d places are held by those who derive", n)
		}
		close(held)
	})
}
