package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

func TestT08StreamsAreCapped(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.streams.perCredential, w.streams.perTenant, w.streams.most = 2, 3, 4
		key, id, _ := w.newFleet(cluster("c", "1"))
		second, _ := w.newCredential(key, "*", time.Time{})
		third, _ := w.newCredential(key, "*", time.Time{})
		_, foreign, _ := w.newFleet(cluster("c", "1"))
		_, more, _ := w.newFleet(cluster("c", "1"))
		refused := func(id xds.Identity, says string) {
			t.Helper()
			_, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{})
			if !errors.Is(err, fleet.ErrLimit) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
		}
		first := w.attach(id, "a")
		as := []*attachment{first, w.attach(id, "b")}
		refused(id, "2 streams on this server, which is the limit of a credential")
		as = append(as, w.attach(second, "c"))
		refused(second, "3 streams on this server, which is the limit of a tenant")
		as = append(as, w.attach(foreign, "d"))
		refused(more, "4 streams, which is its limit")
		first.Detach(true)
		first.Detach(true) // counts once
		as = append(as, w.attach(third, "e"))
		refused(more, "4 streams, which is its limit")
		w.stop()
		for _, a := range as {
			a.Detach(true)
		}
		if s := w.streams; s.all != 0 || len(s.byTenant)+len(s.byCredential) != 0 {
			t.Errorf("left behind: %d, %v, %v", s.all, s.byTenant, s.byCredential)
		}
	})
}

func TestT08AStreamThatCouldNotBeginDoesNotCount(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.feed.fail(errAway)
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrUnavailable) {
			t.Fatal(err)
		}
		if w.streams.all != 0 {
			t.Errorf("%d streams", w.streams.all)
		}
		id.Credential = fleet.CredentialID{} // of a port that asks for none
		w.feed.fail(nil)
		a := w.attach(id, "a")
		if len(w.streams.byCredential) != 0 || w.streams.all != 1 {
			t.Errorf("%d streams, %v", w.streams.all, w.streams.byCredential)
		}
		a.Detach(true)
	})
}

func TestStreamLimitsHaveDefaults(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if c := w.streams; c.perCredential != 10_000 || c.perTenant != 10_000 || c.most != 20_000 {
			t.Errorf("%d, %d, %d", c.perCredential, c.perTenant, c.most)
		}
	})
}

// TestT07_BadTokensAreNotLookedForTwice: whatever is wrong with them, no query twice within a
// minute.
func TestT07_BadTokensAreNotLookedForTwice(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		_, unknown, _ := auth.NewNodeToken(time.Time{})
		known, wrong := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: known.Credential, Hash: auth.Hash("another secret"), Nodes: "*"})
		_, expired := w.newCredential(key, "*", time.Now().Add(-time.Minute))
		gone, revoked := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: gone.Credential, Hash: auth.Hash(revoked), Nodes: "*", RevokedAt: time.Now()})
		for name, token := range map[string]string{"unknown": unknown, "wrong secret": wrong, "expired": expired, "revoked": revoked} {
			before := w.feed.counts().finds
			var first error
			for i := range 3 {
				_, err := w.Authenticate(t.Context(), token)
				if !errors.Is(err, fleet.ErrUnauthenticated) || i > 0 && err.Error() != first.Error() {
					t.Errorf("%s: %v, first %v", name, err, first)
				}
				first = err
			}
			if n := w.feed.counts().finds - before; n != 1 {
				t.Errorf("%s: looked for %d times, want once", name, n)
			}
			time.Sleep(auth.RejectedFor)
			_, _ = w.Authenticate(t.Context(), token)
			if n := w.feed.counts().finds - before; n != 2 {
				t.Errorf("%s: looked for %d times after a minute, want twice", name, n)
			}
		}
		_, _ = w.Authenticate(t.Context(), unknown)
		for range findsAtOnce { // a flood has all places
			leave, err := w.lookups.Begin(t.Context(), "", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
		}
		began := time.Now()
		if _, err := w.Authenticate(t.Context(), unknown); !errors.Is(err, fleet.ErrUnauthenticated) || time.Since(began) > 0 {
			t.Errorf("one that is known to be bad waits %s: %v", time.Since(began), err)
		}
	})
}

// TestT07_ADatabaseThatIsAwayRejectsNobody: nothing is remembered of it.
func TestT07_ADatabaseThatIsAwayRejectsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		_, good := w.newCredential(key, "*", time.Time{})
		w.feed.fail(errAway)
		_, another, _ := auth.NewNodeToken(time.Time{})
		for _, token := range []string{another, good, another} {
			if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrUnavailable) {
				t.Error(err)
			}
		}
		w.feed.fail(nil)
		if _, err := w.Authenticate(t.Context(), good); err != nil {
			t.Error(err)
		}
	})
}

// TestT07_AWrongSecretGoesTheWayOfAnUnknownId, also for a credential that is held here: as many
// queries, and the same words. The good one's way stays free.
func TestT07_AWrongSecretGoesTheWayOfAnUnknownId(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, good := w.newFleet(cluster("c", "1"))
		known, wrong := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: known.Credential, Hash: auth.Hash("another secret"), Nodes: "*"})
		_, unknown, _ := auth.NewNodeToken(time.Time{})
		w.attach(id, "a")
		ask := func(token string) (queries int, says string) {
			before := w.feed.counts().finds
			_, err := w.Authenticate(t.Context(), token)
			return w.feed.counts().finds - before, fmt.Sprint(err)
		}
		n, says := ask(wrong)
		m, saysToo := ask(unknown)
		if n != 1 || m != 1 || says != saysToo {
			t.Errorf("a wrong secret takes %d queries and is told %q, an unknown id %d and %q", n, says, m, saysToo)
		}
		if n, says := ask(good); n != 0 || says != "<nil>" {
			t.Errorf("the good one: %d, %s", n, says)
		}
	})
}

// TestT07_ATenantElsewhereIsAskedForOnceForEachToken: where a database may have lost a tenant to another, a wrong secret is asked about like an unknown id. What is refused costs
// no second question for a minute. A token whose tenant is elsewhere is not remembered as a wrong one, and a good one is asked about never.
func TestT07_ATenantElsewhereIsAskedForOnceForEachToken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, good := w.newFleet(cluster("c", "1"))
		known, wrong := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: known.Credential, Hash: auth.Hash("another secret"), Nodes: "*"})
		_, unknown, _ := auth.NewNodeToken(time.Time{})
		gone, left, _ := auth.NewNodeToken(time.Time{})
		asked, away := 0, error(nil)
		w.cfg.Elsewhere = func(_ context.Context, id fleet.CredentialID, sent [32]byte) (why, err error) {
			asked++
			if id == gone && sent == auth.Hash(left) {
				why = ErrElsewhere
			}
			return why, away
		}
		ask := func(what, token string, questions int, want error) {
			t.Helper()
			before := asked
			if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, want) || asked-before != questions {
				t.Errorf("%s: %d questions, %v, want %d and %v", what, asked-before, err, questions, want)
			}
		}
		away = fleet.ErrUnavailable
		ask("an unknown id while it cannot be asked", unknown, 1, fleet.ErrUnavailable)
		away = nil
		ask("the good one", good, 0, nil)
		for range 2 {
			ask("one whose tenant is elsewhere", left, 1, ErrElsewhere)
		}
		ask("an unknown id", unknown, 1, ErrUnknown)
		ask("a wrong secret", wrong, 1, ErrUnknown)
		ask("an unknown id again", unknown, 0, ErrUnknown)
		ask("a wrong secret again", wrong, 0, ErrUnknown)
		gone = fleet.CredentialID{} // it came back
		ask("one whose tenant is elsewhere no more", left, 1, ErrUnknown)
	})
}

// TestT08_AFloodOfWrongSecretsBlocksNoGoodToken: of the very credential that it guesses at.
func TestT08_AFloodOfWrongSecretsBlocksNoGoodToken(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		_, token := w.newCredential(key, "*", time.Time{})
		for i := range 1000 {
			_, flood, _ := auth.NewNodeToken(time.Time{})
			if _, err := w.Authenticate(t.Context(), flood); !errors.Is(err, fleet.ErrUnauthenticated) {
				t.Fatal(i, err)
			}
		}
		if _, err := w.Authenticate(t.Context(), token); err != nil {
			t.Error(err)
		}
	})
}

func TestT08AFloodOfUnknownTokensTakesTwoConnections(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		front := &slowFinds{Feed: w.feed, let: make(chan struct{})}
		w.cfg.Feed = front
		var flood sync.WaitGroup
		for range 100 {
			_, token, _ := auth.NewNodeToken(time.Time{})
			flood.Go(func() { _, _ = w.Authenticate(t.Context(), token) })
		}
		synctest.Wait()
		if front.most != findsAtOnce {
			t.Fatalf("%d at once", front.most)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, token, _ := auth.NewNodeToken(time.Time{})
		if _, err := w.Authenticate(ctx, token); !errors.Is(err, fleet.ErrUnavailable) || !strings.Contains(err.Error(), "too many") {
			t.Errorf("who waits too long: %v", err)
		}
		close(front.let)
		flood.Wait()
		if front.most != findsAtOnce {
			t.Errorf("%d at once", front.most)
		}
	})
}

// slowFinds answers when let is closed.
type slowFinds struct {
	Feed
	let chan struct{}

	mu        sync.Mutex // guards all below
	now, most int
}

func (f *slowFinds) FindNodeCredential(ctx context.Context, id fleet.CredentialID) (fleet.Key, fleet.Credential, error) {
	f.count(1)
	defer f.count(-1)
	select {
	case <-f.let:
	case <-ctx.Done():
		return fleet.Key{}, fleet.Credential{}, ctx.Err()
	}
	return fleet.Key{}, fleet.Credential{}, fmt.Errorf("credential %s: %w", id, fleet.ErrNotFound)
}

func (f *slowFinds) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now += n
	f.most = max(f.most, f.now)
}
