package replica

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

func TestAChangeComesWithTheBell(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		a := w.attach(id, "a")
		before := a.Current()
		w.change(key, cluster("c", "2"))
		now := a.Current()
		if !changed(a) || now.Revision != 2 || version(now, fleet.Cluster, "c") != "2" {
			t.Fatalf("revision %d, c %s", now.Revision, version(now, fleet.Cluster, "c"))
		}
		if before.Types[fleet.Cluster].Get("d") != now.Types[fleet.Cluster].Get("d") {
			t.Error("what did not change is another resource")
		}
		w.change(key, deleted(fleet.Cluster, "c"))
		if now := a.Current(); now.Types[fleet.Cluster].Len() != 1 {
			t.Error("the deleted one is still there")
		}
		if w.feed.counts().reloads != 1 || w.feed.counts().rowsSent != 4 {
			t.Errorf("%d reloads, %d rows", w.feed.counts().reloads, w.feed.counts().rowsSent)
		}
		a.Settled(3)
		time.Sleep(time.Second)
		if got := w.sink.settledOf(key); got != 3 {
			t.Errorf("settled %d is recorded", got)
		}
	})
}

func TestALostBellCostsOnePoll(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		w.feed.write(key, cluster("c", "2"))
		time.Sleep(defaultPoll * 12 / 10)
		synctest.Wait()
		if !changed(a) || a.Current().Revision != 2 {
			t.Errorf("revision %d", a.Current().Revision)
		}
		w.feed.write(key, cluster("c", "3"))
		w.Wake(fleet.ID{}, true)
		synctest.Wait()
		if !changed(a) || a.Current().Revision != 3 {
			t.Errorf("all bells rang: revision %d", a.Current().Revision)
		}
	})
}

func TestAFailoverThatLostCommitsIsAReload(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"), cluster("d", "1"))
		w.feed.write(key, cluster("c", "2"), cluster("e", "1"))
		a := w.attach(id, "a")
		a.Settled(2)
		before := a.Current()
		time.Sleep(time.Second)
		w.feed.restore(key, 1)
		w.change(key, cluster("f", "1")) // revision 2 again, with other content
		now := a.Current()
		got := []string{
			version(now, fleet.Cluster, "c"), version(now, fleet.Cluster, "d"),
			version(now, fleet.Cluster, "e"), version(now, fleet.Cluster, "f"),
		}
		if w.feed.counts().reloads != 2 || fmt.Sprint(got) != "[1 1  1]" {
			t.Errorf("%d reloads, %v", w.feed.counts().reloads, got)
		}
		if before.Types[fleet.Cluster].Get("d") != now.Types[fleet.Cluster].Get("d") {
			t.Error("a resource of equal version is encoded again")
		}
		if now.History == before.History {
			t.Error("the target does not say that the history was cut")
		}
		time.Sleep(500 * time.Millisecond)
		if w.sink.settledOf(key) != 0 {
			t.Error("what was settled before the cut still counts")
		}
		a.Settled(2)
		time.Sleep(time.Second)
		if w.sink.settledOf(key) != 2 {
			t.Errorf("settled %d is recorded", w.sink.settledOf(key))
		}
	})
}

// The database that takes over may have the version that a node refuses, and not that it does.
func TestAFailoverThatLostCommitsTellsAgainWhatIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		good := a.Current().Types[fleet.Cluster].Get("c")
		w.change(key, cluster("c", "bad"), cluster("d", "bad"))
		refuse(t, a, "c", good)
		refuse(t, a, "d", nil)
		w.change(key, cluster("e", "bad"))
		refuse(t, a, "e", nil)
		time.Sleep(time.Second)
		before := len(w.sink.allRefusals())
		w.feed.restore(key, 2)
		w.change(key, cluster("d", "good")) // revision 3 again
		time.Sleep(time.Second)
		again := w.sink.allRefusals()[before:]
		if len(again) != 1 || again[0].Name != "c" || again[0].Version != "bad" || again[0].Revision != 2 || again[0].Detail != "no" || again[0].Good != "1" {
			t.Errorf("told again: %+v", again)
		}
		if got := version(a.Current(), fleet.Cluster, "c"); got != "1" {
			t.Errorf("c is at %q", got)
		}
	})
}

func TestTheFirstContentOfAnEmptyFleetCutsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet()
		a := w.attach(id, "a")
		before := a.Current()
		if before.Revision != 0 || before.Types[fleet.Cluster].Len() != 0 {
			t.Fatalf("revision %d", before.Revision)
		}
		time.Sleep(time.Second)
		w.change(key, cluster("c", "1"))
		now := a.Current()
		if now.Revision != 1 || now.History != before.History || version(now, fleet.Cluster, "c") != "1" {
			t.Errorf("revision %d, history %d", now.Revision, now.History)
		}
		a.Settled(1)
		time.Sleep(20 * time.Millisecond)
		if got := w.sink.settledOf(key); got != 1 {
			t.Errorf("settled %d is recorded", got)
		}
	})
}

func TestFeedErrorsChangeNothingAndNewStreamsAreTaken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		w.feed.fail(errAway)
		w.feed.write(key, cluster("c", "2"))
		w.Wake(key.Fleet, false)
		time.Sleep(time.Minute)
		if a.Ended() != nil || a.Current().Revision != 1 {
			t.Error("the stream was touched")
		}
		got, err := w.Authenticate(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if b := w.attach(got, "b"); version(b.Current(), fleet.Cluster, "c") != "1" {
			t.Error("a new stream has nothing")
		}
		w.feed.fail(nil)
		time.Sleep(3 * time.Second)
		if a.Current().Revision != 2 {
			t.Error("it does not heal by itself")
		}
	})
}

func TestADatabaseThatIsBackIsNoticedWithinAPoll(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.feed.fail(errAway)
		var ids []xds.Identity
		for range 8 {
			_, id, _ := w.newFleet(cluster("c", "1"))
			ids = append(ids, id)
			_, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{})
			if err == nil {
				t.Fatal("attached to nothing")
			}
		}
		time.Sleep(time.Minute)
		w.feed.fail(nil)
		time.Sleep(defaultPoll * 12 / 10)
		synctest.Wait()
		for _, id := range ids {
			ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
			_, err := w.Attach(ctx, id, fleet.Node{ID: "a"}, xds.StreamInfo{})
			cancel()
			if err != nil {
				t.Errorf("not loaded yet: %v", err)
			}
		}
	})
}

func TestT36APanicIsOneFleetsError(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		a := w.attach(id, "a")
		w.feed.set(func(f *feed) { f.panics = true })
		w.change(key, cluster("c", "2"))
		if a.Ended() != nil || a.Current().Revision != 1 {
			t.Error("the stream was touched")
		}
		w.feed.set(func(f *feed) { f.panics = false })
		time.Sleep(10 * time.Second)
		if a.Current().Revision != 2 {
			t.Error("it does not heal by itself")
		}
	})
}

func TestASecretThatCannotBeOpenedKeepsItsLastVersion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(secret("s", "1", "sealed:one"), cluster("c", "1"))
		a := w.attach(id, "a")
		w.change(key, secret("s", "2", "damaged"), cluster("c", "2"), secret("never", "1", "damaged"))
		now := a.Current()
		if version(now, fleet.Secret, "s") != "1" || version(now, fleet.Cluster, "c") != "2" || now.Revision != 2 {
			t.Errorf("secret %q, cluster %q", version(now, fleet.Secret, "s"), version(now, fleet.Cluster, "c"))
		}
		w.feed.restore(key, 2)
		w.feed.set(func(f *feed) { // another token: a reload
			s := f.fleets[key].states[2]
			s.token = fleet.NewToken()
			f.fleets[key].states[2] = s
		})
		w.Wake(key.Fleet, false)
		synctest.Wait()
		if now := a.Current(); version(now, fleet.Secret, "s") != "1" || w.feed.counts().reloads != 2 {
			t.Errorf("after %d reloads: secret %q", w.feed.counts().reloads, version(now, fleet.Secret, "s"))
		}
		w.change(key, secret("s", "3", "sealed:three"))
		if version(a.Current(), fleet.Secret, "s") != "3" {
			t.Error("the next good one does not come")
		}
	})
}

func TestAThousandStreamsGetTheChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		as := make([]*attachment, 1000)
		for i := range as {
			as[i] = w.attach(id, fmt.Sprint(i))
		}
		w.change(key, cluster("c", "2"))
		time.Sleep(time.Second) // nobody looks, so each part is waited for
		for _, a := range as {
			if !changed(a) || a.Current() != as[0].Current() || a.Current().Revision != 2 {
				t.Fatalf("revision %d", a.Current().Revision)
			}
		}
	})
}

// The next streams are woken when those before them have looked, or after a while.
func TestT44_StreamsAreWokenInParts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		as := make(map[*attachment]struct{})
		for i := range 2000 {
			as[w.attach(id, fmt.Sprint(i))] = struct{}{}
		}
		w.change(key, cluster("c", "2"))
		parts := 0
		for ; len(as) > 0; parts++ {
			woken := 0
			for a := range as {
				if changed(a) {
					a.Current()
					delete(as, a)
					woken++
				}
			}
			if woken == 0 || woken > 1000 {
				t.Fatalf("%d of 2000 are woken together", woken)
			}
			time.Sleep(2 * time.Millisecond)
		}
		t.Logf("in %d parts", parts)
	})
}

func TestAStormOfReloadsIsSpread(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var as []*attachment
		for range 50 {
			key, id, _ := w.newFleet(cluster("c", "1"))
			as = append(as, w.attach(id, "a"))
			w.feed.write(key, cluster("c", "2"))
		}
		w.Wake(fleet.ID{}, true)
		synctest.Wait()
		count := func() (n int) {
			for _, a := range as {
				if a.Current().Revision == 2 {
					n++
				}
			}
			return n
		}
		if n := count(); n != stormFrom {
			t.Errorf("%d at once", n)
		}
		time.Sleep(stormSpread)
		synctest.Wait()
		if n := count(); n != 50 {
			t.Errorf("%d after the spread", n)
		}
	})
}
