package replica

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// visits are streams that begin and end, 200 at a time, each with a node id of its own; it
// returns how many were let in, and the last refusal.
func (w *world) visits(id xds.Identity, prefix string, n int) (in int, refused error) {
	w.t.Helper()
	var next, entered atomic.Int64
	var last atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				a, err := w.Attach(w.t.Context(), id, fleet.Node{ID: fmt.Sprint(prefix, i), Cluster: "edge"}, xds.StreamInfo{Protocol: "delta ADS"})
				if err != nil {
					last.Store(&err)
					continue
				}
				entered.Add(1)
				a.Detach(true)
			}
		})
	}
	wg.Wait()
	if e := last.Load(); e != nil {
		refused = *e
	}
	return int(entered.Load()), refused
}

// TestT14_FreshNodeIDsAreRefusedInWords: after some number, without a query, and nobody else.
func TestT14_FreshNodeIDsAreRefusedInWords(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		neighbour, _ := w.newCredential(key, "*", time.Time{})
		w.feed.pasts = map[string]fleet.LastStream{}
		for i := range 10 {
			w.feed.pasts[fmt.Sprint("known-", i)] = fleet.LastStream{Known: true, Clean: true}
		}
		const most = 500
		w.cfg.NewNodes = most
		began := time.Now()
		w.attach(id, "live")
		in, err := w.visits(id, "fresh-", 2*most)
		trickle := int(time.Since(began) / newNodeEvery)
		if in < most-1 || in > most+trickle {
			t.Errorf("%d were let in, want %d and at most %d more", in, most-1, trickle)
		}
		if !errors.Is(err, fleet.ErrLimit) || !strings.Contains(err.Error(), "500 node ids that the fleet had not seen") || !strings.Contains(err.Error(), "credential of their own") {
			t.Errorf("refused with %v", err)
		}
		asked := w.feed.counts().asked
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "one more"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrLimit) {
			t.Errorf("one more: %v", err)
		}
		if n := w.feed.counts().asked - asked; n != 0 {
			t.Errorf("%d queries for one that is refused", n)
		}
		w.attach(id, "live") // it is here
		w.attach(neighbour, "another")
		time.Sleep(newNodeEvery)
		for i := range 10 { // those that the database knows cost nothing in the end
			w.attach(id, fmt.Sprint("known-", i)).Detach(true)
		}
		w.attach(id, "one more").Detach(true)
		w.attach(id, "one more") // it was here a moment ago
		more, err := w.visits(id, "and-more-", 10)
		if in += more + 2; !errors.Is(err, fleet.ErrLimit) || in > most+int(time.Since(began)/newNodeEvery) { // with "live" and "one more"
			t.Errorf("%d were let in, %d of them just now: %v", in, more, err)
		}
		if s := w.streams; s.all != 4 {
			t.Errorf("%d streams are counted, want 4", s.all)
		}
	})
}

// TestSoakT14_AFleetsFirstBootIsLetIn: 10,000 new nodes at once with one credential, or a
// twentieth.
func TestSoakT14_AFleetsFirstBootIsLetIn(t *testing.T) {
	n := 500
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		n = 10_000
	}
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		var wg sync.WaitGroup
		for i := range n / 2 { // the race detector counts goroutines, and dies of 8,000
			wg.Go(func() {
				for _, name := range []string{"edge-", "core-"} {
					if _, err := w.Attach(t.Context(), id, fleet.Node{ID: fmt.Sprint(name, i)}, xds.StreamInfo{Protocol: "delta ADS"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestT14_CredentialsOfNewcomersAreForgotten when they have it all again.
func TestT14_CredentialsOfNewcomersAreForgotten(t *testing.T) {
	t.Parallel()
	var n newcomers
	now := time.Now()
	for i := range 10_000 {
		n.allowance(fleet.NewCredentialID(), now).take(defaultNewNodes, now)
		if now = now.Add(time.Millisecond); len(n.of) > 2*100+64+1 {
			t.Fatalf("%d after %d", len(n.of), i)
		}
	}
}

// TestT14_ViewsOfLabelsThatNobodyHasGo: labels are the client's words.
func TestT14_ViewsOfLabelsThatNobodyHasGo(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var rows []fleet.Row
		for i := range 10 {
			rows = append(rows, cluster("c", "1"), variant("c", fmt.Sprint("v", i), fmt.Sprint("v", i), fmt.Sprintf("metadata.k%d=x", i), int32(i))) //nolint:gosec // small
		}
		_, id, _ := w.newFleet(rows...)
		stays := w.attach(id, "stays")
		for labels := range 1 << 10 {
			fields := []string{}
			for i := range 10 {
				if labels&(1<<i) != 0 {
					fields = append(fields, fmt.Sprintf(`"k%d":"x"`, i))
				}
			}
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: "n", MetadataJSON: []byte("{" + strings.Join(fields, ",") + "}")}, xds.StreamInfo{Protocol: "delta ADS"})
			if err != nil {
				t.Fatal(err)
			}
			a.Detach(true)
			o := stays.owner
			o.mu.Lock()
			if n := len(o.views.byVector); n > spareViews+2*2+1 {
				t.Fatalf("%d views for one stream, after %d label sets", n, labels+1)
			}
			o.mu.Unlock()
		}
	})
}

// TestSoakT14_FreshNodeIDsLeaveNothing: a million of them, or a twentieth, leave the heap as it
// was. It runs alone.
func TestSoakT14_FreshNodeIDsLeaveNothing(t *testing.T) {
	n, most := 50_000, 12_000
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		n, most = 1_000_000, defaultNewNodes
	}
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		synctest.Wait()
		w.cfg.NewNodes = most
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "live")
		w.visits(id, "warm-", 100)
		before := alive()
		in, err := w.visits(id, "fresh-", n)
		after := alive()
		t.Logf("of %d fresh node ids %d were let in; the heap grew by %d KiB", n, in, (int64(after)-int64(before))>>10)
		if after > before+8<<20 {
			t.Errorf("the heap grew by %d KiB, want at most 8 MiB", (after-before)>>10)
		}
		if !errors.Is(err, fleet.ErrLimit) {
			t.Errorf("refused with %v", err)
		}
		w.stop()
	})
}
