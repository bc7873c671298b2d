package replica

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// mine is a feed some of whose calls panic.
type mine struct {
	*feed
	fleet             atomic.Pointer[fleet.Key] // whose catch-ups do
	past, at, moved   atomic.Bool
	catchUps, answers atomic.Int64 // of that fleet; all of them
}

func (m *mine) CatchUp(ctx context.Context, known []fleet.Known) ([]fleet.Change, error) {
	m.answers.Add(1)
	if k := m.fleet.Load(); k != nil && known[0].Key == *k {
		m.catchUps.Add(1)
		panic("scripted")
	}
	return m.feed.CatchUp(ctx, known)
}

func (m *mine) Moved(ctx context.Context, known []fleet.Known) ([]fleet.Key, error) {
	if m.moved.Load() {
		panic("scripted")
	}
	return m.feed.Moved(ctx, known)
}

func (m *mine) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	if m.past.Load() {
		panic("scripted")
	}
	return m.feed.LastStreams(ctx, key, nodes)
}

func (m *mine) ResourcesAt(ctx context.Context, key fleet.Key, at fleet.Revision) ([]fleet.Row, error) {
	if m.at.Load() {
		panic("scripted")
	}
	return m.feed.ResourcesAt(ctx, key, at)
}

func mined(t *testing.T, f func(t *testing.T, w *world, m *mine)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &mine{feed: newFeed()}
		w := setupFeed(t, m, m.feed)
		synctest.Wait()
		f(t, w, m)
		w.stop()
	})
}

func TestT36_APoisonousFleetHurtsNoOther(t *testing.T) {
	mined(t, func(t *testing.T, w *world, m *mine) {
		bad, badID, _ := w.newFleet(cluster("c", "1"))
		good, goodID, _ := w.newFleet(cluster("c", "1"))
		a, b := w.attach(badID, "a"), w.attach(goodID, "b")
		m.fleet.Store(&bad)
		w.change(bad, cluster("c", "2"))
		w.change(good, cluster("c", "2"))
		if a.Current().Revision != 1 || a.Ended() != nil || b.Current().Revision != 2 {
			t.Fatalf("the poisonous fleet is at %d (%v), the other one at %d", a.Current().Revision, a.Ended(), b.Current().Revision)
		}
		for range 6_000 { // somebody rings for a minute
			w.Wake(bad.Fleet, false)
			time.Sleep(10 * time.Millisecond)
		}
		if n := m.catchUps.Load(); n < 5 || n > 40 {
			t.Errorf("it was read %d times in a minute", n)
		}
		if now := w.attach(badID, "new").Current(); now.Revision != 1 {
			t.Errorf("a new stream gets revision %d", now.Revision)
		}
		m.fleet.Store(nil)
		time.Sleep(2 * retryMost)
		synctest.Wait()
		if a.Current().Revision != 2 || !changed(a) {
			t.Error("it does not heal by itself")
		}
	})
}

func TestT36_AFleetThatNobodyUsesIsDroppedThoughItPanics(t *testing.T) {
	mined(t, func(t *testing.T, w *world, m *mine) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "a").Detach(true)
		m.fleet.Store(&key)
		w.change(key, cluster("c", "2"))
		time.Sleep(2 * defaultIdle)
		w.wantFleets(0)
	})
}

// poison adds streams that no view can be given: many, so that one of them comes early.
func (w *world) poison(key fleet.Key) (cure func()) {
	w.mu.Lock()
	o := w.fleets[key]
	w.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	n := &node{id: "poison"}
	for range 200 {
		o.streams.tied[&attachment{owner: o, node: n}] = struct{}{}
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		maps.DeleteFunc(o.streams.tied, func(a *attachment, _ struct{}) bool { return a.node == n })
	}
}

// A turn breaks off when half of the streams have new views: it is finished when the fault
// is gone, with all that it was to bring, and with what came meanwhile.
func TestT36_ABrokenTurnIsFinished(t *testing.T) {
	for name, c := range map[string]struct{ before, meanwhile, fixed bool }{
		"as it was":                        {},
		"with what came meanwhile":         {meanwhile: true},
		"with what fixed it":               {fixed: true},
		"before anything is shown":         {before: true}, // where selectors have changed all subscribers are looked at first
		"before, and with what came later": {before: true, meanwhile: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"), variantOf("v", "eu", "node.id=b"))
				as := make([]*attachment, 20)
				for i := range as {
					as[i] = w.attach(id, string(rune('a'+i)))
				}
				as[0].Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Blame: []snapshot.Exception{{Type: fleet.Cluster, Refused: as[0].Current().Types[fleet.Cluster].Get("d")}}})
				cure := w.poison(key)
				w.feed.set(func(f *feed) {
					f.fleets[key].epoch++
					f.fleets[key].retries = append(f.fleets[key].retries, retried{as[0].node.id, f.fleets[key].epoch})
				})
				fresh, _ := w.newCredential(key, "*", time.Time{})
				rows := []fleet.Row{cluster("c", "2")}
				if c.before {
					rows = append(rows, variantOf("d", "eu", "node.id=b"))
				}
				want := w.change(key, rows...)
				if c.meanwhile {
					time.Sleep(time.Second)
					want = w.change(key, cluster("c2", "1"))
					time.Sleep(20 * time.Second)
				}
				for _, a := range as {
					if now := a.Current().Revision; now != 1 || a.Ended() != nil {
						t.Fatalf("a stream is at %d, %v", now, a.Ended())
					}
				}
				if !c.fixed { // it would fix it a little
					if now := w.attach(fresh, "new").Current().Revision; now < 2 && !c.before {
						t.Errorf("a stream that comes now gets revision %d", now)
					}
				}
				cure()
				if c.fixed {
					want = w.feed.write(key, cluster("c2", "1"))
				}
				time.Sleep(2 * retryMost)
				synctest.Wait()
				for i, a := range as {
					has := "1"
					if a.node.id == "b" && c.before {
						has = "eu"
					}
					if now := a.Current(); now.Revision != want || version(now, fleet.Cluster, "c") != "2" || version(now, fleet.Cluster, "d") != has || !changed(a) {
						t.Errorf("stream %d is at %d of %d, c is %q, d is %q", i, now.Revision, want, version(now, fleet.Cluster, "c"), version(now, fleet.Cluster, "d"))
					}
				}
				if as[0].node.retries != 1 {
					t.Errorf("offered again %d times", as[0].node.retries)
				}
			})
		})
	}
}

// A panic between storing a snapshot and showing it loses no revision, though the database, which
// would not tell of it again, goes away before the fault does.
func TestT36_WhatIsStoredIsShownWithoutTheDatabase(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		cure := w.poison(key)
		want := w.change(key, cluster("c", "2"))
		if held, now := a.owner.held.Load().at.Revision, a.Current().Revision; held != want || now == want {
			t.Fatalf("held is %d, shown %d: the test is blind", held, now)
		}
		w.feed.fail(errAway)
		cure()
		time.Sleep(3 * retryMost)
		synctest.Wait()
		if now := a.Current(); now.Revision != want || version(now, fleet.Cluster, "c") != "2" || !changed(a) {
			t.Errorf("it is at %d of %d", now.Revision, want)
		}
		if now := w.attach(id, "new").Current().Revision; now != want {
			t.Errorf("a new stream gets revision %d", now)
		}
	})
}

// variantOf is a variant of a cluster, whose version is its name.
func variantOf(name, variant, text string) fleet.Row {
	s, err := selector.Parse(text)
	if err != nil {
		panic(err)
	}
	r := cluster(name, variant)
	r.Variant, r.Selector = variant, s.String()
	return r
}

func TestT36_AnAttachThatPanicsLeavesNothing(t *testing.T) {
	mined(t, func(t *testing.T, w *world, m *mine) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.change(key, cluster("c", "2"))
		attach := func(node string) (panicked bool) {
			defer func() { panicked = recover() != nil }()
			_, _ = w.Attach(t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: "delta ADS", Resumed: true, Delta: true})
			return false
		}
		m.past.Store(true)
		if !attach("a") {
			t.Error("the past does not panic: the test is blind")
		}
		m.past.Store(false)
		m.at.Store(true)
		w.feed.set(func(f *feed) { f.pasts = map[string]fleet.LastStream{"b": {Known: true, Settled: 1}} })
		if !attach("b") {
			t.Error("the revision before does not panic: the test is blind")
		}
		time.Sleep(time.Second)
		w.mu.Lock()
		o := w.fleets[key]
		users := o.users
		w.mu.Unlock()
		o.mu.Lock()
		streams, nodes := len(o.streams.tied), len(o.nodes.byID)
		o.mu.Unlock()
		if users != 0 || streams != 0 || nodes != 0 || w.Replica.streams.all != 0 {
			t.Errorf("left: %d users, %d streams, %d nodes, %d counted", users, streams, nodes, w.Replica.streams.all)
		}
		m.at.Store(false)
		w.attach(id, "b").Detach(true)
	})
}

// A past that cannot be read without a panic is read once: the fleet's changes go on.
func TestT36_AMissedPastThatPanicsDoesNotHoldUpTheFleet(t *testing.T) {
	mined(t, func(t *testing.T, w *world, m *mine) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "first")
		w.feed.set(func(f *feed) { f.hangs = true })
		a := w.attach(id, "a") // what it left behind is missed
		m.past.Store(true)
		w.feed.set(func(f *feed) { f.hangs = false })
		w.change(key, cluster("c", "2"))
		if a.Current().Revision != 2 {
			t.Errorf("the change has not come, it is at %d", a.Current().Revision)
		}
		m.past.Store(false)
		time.Sleep(2 * retryMost)
		w.change(key, cluster("c", "3"))
		if a.Current().Revision != 3 {
			t.Errorf("afterwards it is at %d", a.Current().Revision)
		}
	})
}

func TestT36_APollThatPanicsPollsAgain(t *testing.T) {
	mined(t, func(t *testing.T, w *world, m *mine) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		m.moved.Store(true)
		w.feed.write(key, cluster("c", "2")) // and nobody rings
		time.Sleep(time.Minute)
		m.moved.Store(false)
		time.Sleep(3 * retryMost)
		synctest.Wait()
		if a.Current().Revision != 2 {
			t.Errorf("it is at %d", a.Current().Revision)
		}
	})
}

// panicking opens secrets, but for one whose bytes make it panic.
type panicking struct{ opener }

func (p panicking) Open(key fleet.Key, name, version string, sealed []byte) ([]byte, error) {
	if string(sealed) == "poison" {
		panic("scripted")
	}
	return p.opener.Open(key, name, version, sealed)
}

func TestT36_ASecretThatMakesTheOpenerPanicStopsItsFleetAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.cfg.Opener = panicking{}
		bad, badID, _ := w.newFleet(cluster("c", "1"))
		good, goodID, _ := w.newFleet(cluster("c", "1"))
		a, b := w.attach(badID, "a"), w.attach(goodID, "b")
		w.change(bad, cluster("c", "2"), secret("s", "1", "poison"))
		w.change(good, cluster("c", "2"))
		if a.Current().Revision != 1 || b.Current().Revision != 2 {
			t.Errorf("the poisonous fleet is at %d, the other one at %d", a.Current().Revision, b.Current().Revision)
		}
		w.feed.write(bad, secret("s", "2", "sealed:fixed"))
		time.Sleep(2 * retryMost)
		synctest.Wait()
		if now := a.Current(); now.Revision != 3 || version(now, fleet.Secret, "s") != "2" {
			t.Errorf("fixed, it is at %d", now.Revision)
		}
	})
}

// What a stream has settled is taken in with the fleet's lock: a panic there gives it back.
func TestT36_AConfirmationThatPanicsHoldsUpNobody(t *testing.T) {
	mined(t, func(t *testing.T, w *world, _ *mine) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a, other := w.attach(id, "a"), w.attach(id, "b")
		a.owner.mu.Lock()
		a.node.setOfEnded(&subscriber{exceptions: exceptions{list: []snapshot.Exception{{Type: fleet.Cluster, Refused: snapshot.Reported("c", "")}}}})
		view := a.subscriber.view
		a.subscriber.view, a.subscriber.list = nil, a.node.ofEnded.list // no target can be made of it
		a.owner.mu.Unlock()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it does not panic: the test is blind")
				}
			}()
			a.Settled(1)
		}()
		if !a.owner.mu.TryLock() {
			t.Fatal("the fleet's lock is held for ever")
		}
		a.subscriber.view, a.subscriber.list = view, nil
		a.node.setOfEnded(nil)
		a.owner.mu.Unlock()
		w.change(key, cluster("c", "2"))
		synctest.Wait()
		if got := version(other.Current(), fleet.Cluster, "c"); got == "" || other.Current().Revision != 2 {
			t.Errorf("the other stream is at %d", other.Current().Revision)
		}
	})
}
