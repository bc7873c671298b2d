package replica

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

func TestAuthenticate(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		_, other, _ := auth.NewNodeToken(time.Time{})
		expired, expiredToken := w.newCredential(key, "*", time.Now().Add(-time.Minute))
		revoked, revokedToken := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: revoked.Credential, Hash: auth.Hash(revokedToken), Nodes: "*", RevokedAt: time.Now()})
		stolenID, wrong := w.newCredential(key, "*", time.Time{})
		w.feed.credential(key, fleet.Credential{ID: stolenID.Credential, Hash: auth.Hash("another secret"), Nodes: "*"})

		cases := []struct {
			name, token string
			want        error
			says        string
		}{
			{"good", token, nil, ""},
			{"unknown", other, fleet.ErrUnauthenticated, "not known"},
			{"expired", expiredToken, fleet.ErrUnauthenticated, expired.Credential.String() + " expired at"},
			{"revoked", revokedToken, fleet.ErrUnauthenticated, revoked.Credential.String() + " is revoked: create a new one"},
			{"right id, wrong secret", wrong, fleet.ErrUnauthenticated, "not known"},
			{"not a token", "hello", fleet.ErrUnauthenticated, ""},
			{"not expanded", "%ENVIRONMENT(T)%", fleet.ErrUnauthenticated, "token-env"},
		}
		check := func(where string) {
			for _, c := range cases {
				got, err := w.Authenticate(t.Context(), c.token)
				if !errors.Is(err, c.want) {
					t.Errorf("%s, %s: %v", where, c.name, err)
				}
				if err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), c.token)) {
					t.Errorf("%s, %s: says %q", where, c.name, err)
				}
				if err == nil && (got.Key != key || got.Credential != id.Credential || !got.Nodes.Match("any")) {
					t.Errorf("%s, %s: %+v", where, c.name, got)
				}
			}
		}
		check("not loaded")
		w.attach(id, "a")
		finds := w.feed.counts().finds
		check("loaded")
		if n := w.feed.counts().finds - finds; n != 0 { // the unknown one is remembered
			t.Errorf("%d credentials were looked up", n)
		}
	})
}

// TestRecheckSaysWhatAuthenticateDoes of a token that was valid once, whether or not its fleet is held: it is, was revoked, has expired, or is not there any more.
func TestRecheckSaysWhatAuthenticateDoes(t *testing.T) {
	for name, held := range map[string]bool{"not held": false, "held": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				key, id, token := w.newFleet(cluster("c", "1"))
				if held {
					w.attach(id, "a")
				}
				was, err := w.Authenticate(t.Context(), token)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct {
					now  fleet.Credential
					want error
				}{
					{fleet.Credential{}, nil}, {fleet.Credential{ExpiresAt: time.Now().Add(-time.Minute)}, fleet.ErrUnauthenticated}, {fleet.Credential{RevokedAt: time.Now()}, fleet.ErrUnauthenticated},
				} {
					if c.want != nil {
						c.now.ID, c.now.Hash, c.now.Nodes = id.Credential, auth.Hash(token), "*"
						w.feed.credential(key, c.now)
						w.Wake(key.Fleet, false)
						time.Sleep(2 * foundFor)
						synctest.Wait()
					}
					got, err := w.Recheck(t.Context(), was)
					again, as := w.Authenticate(t.Context(), token)
					if !errors.Is(err, c.want) || fmt.Sprint(err) != fmt.Sprint(as) || got != again {
						t.Errorf("%+v: %+v, %v; Authenticate says %+v, %v", c.now, got, err, again, as)
					}
				}
				stolen := was
				stolen.Token = auth.Hash("another")
				if _, err := w.Recheck(t.Context(), stolen); !errors.Is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "not known") {
					t.Errorf("of another token: %v", err)
				}
			})
		})
	}
}

func TestAuthenticateWithoutADatabase(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		_, id, token := w.newFleet(cluster("c", "1"))
		w.feed.fail(errAway)
		if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrUnavailable) || strings.Contains(err.Error(), "refused") {
			t.Errorf("not held: %v", err)
		}
		w.feed.fail(nil)
		a := w.attach(id, "a")
		time.Sleep(48 * time.Hour) // the polls confirm what is held
		w.feed.fail(errAway)
		time.Sleep(23 * time.Hour)
		if _, err := w.Authenticate(t.Context(), token); err != nil {
			t.Errorf("held and confirmed 23 h ago: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrUnavailable) {
			t.Errorf("confirmed 25 h ago: %v", err)
		}
		if a.Ended() != nil {
			t.Error("a live stream ends when the database is away")
		}
	})
}

func TestT01ACredentialAdmitsItsNodesAlone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		id, token := w.newCredential(key, "edge-*", time.Time{})
		got, err := w.Authenticate(t.Context(), token)
		if err != nil || got.Nodes.String() != id.Nodes.String() {
			t.Fatalf("%+v, %v", got, err)
		}
		w.attach(got, "edge-1")
		for _, node := range []string{"", "core-1", "edg", "*"} {
			if _, err := w.Attach(t.Context(), got, fleet.Node{ID: node}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
				t.Errorf("%q: %v", node, err)
			}
		}
	})
}

func TestRevokingEndsTheCredentialsStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		other, _ := w.newCredential(key, "*", time.Time{})
		a, b := w.attach(id, "a"), w.attach(other, "b")
		w.feed.credential(key, fleet.Credential{ID: id.Credential, Hash: auth.Hash(token), Nodes: "*", RevokedAt: time.Now()})
		w.Wake(key.Fleet, false)
		synctest.Wait()
		if err := a.Ended(); !errors.Is(err, fleet.ErrForbidden) || !strings.Contains(err.Error(), "is revoked") {
			t.Errorf("its stream ends with %v", err)
		}
		if !changed(a) {
			t.Error("nobody was woken to end it")
		}
		if err := b.Ended(); err != nil {
			t.Errorf("the other's ends with %v", err)
		}
		if changed(b) {
			t.Error("the configuration did not change")
		}
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "a"}, xds.StreamInfo{}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("a stream that was authenticated just before: %v", err)
		}
		w.feed.removeCredential(key, other.Credential)
		time.Sleep(defaultPoll * 12 / 10)
		synctest.Wait()
		if err := b.Ended(); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("one that is not there any more: %v", err)
		}
	})
}

func TestExpiryEndsTheCredentialsStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, _, _ := w.newFleet(cluster("c", "1"))
		id, _ := w.newCredential(key, "*", time.Now().Add(time.Hour))
		late, _ := w.newCredential(key, "*", time.Now().Add(2*time.Hour))
		a, b := w.attach(id, "a"), w.attach(late, "b")
		time.Sleep(time.Hour - time.Second)
		if a.Ended() != nil {
			t.Fatal("too early")
		}
		time.Sleep(2 * time.Second)
		if err := a.Ended(); !errors.Is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "expired") {
			t.Errorf("ends with %v", err)
		}
		if !changed(a) {
			t.Error("nobody was woken to end it")
		}
		w.feed.fail(errAway) // the clock needs no database
		time.Sleep(time.Hour)
		if err := b.Ended(); !errors.Is(err, fleet.ErrUnauthenticated) {
			t.Errorf("the later one ends with %v", err)
		}
	})
}

func TestACredentialMadeAMomentAgoIsGood(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "a")
		fresh, token := w.newCredential(key, "*", time.Time{}) // and nobody rang
		if _, err := w.Authenticate(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		b := w.attach(fresh, "b")
		synctest.Wait()
		if err := b.Ended(); err != nil {
			t.Errorf("ends with %v", err)
		}
		// Also if a reading is under way that began before.
		w.feed.set(func(f *feed) { f.took = 100 * time.Millisecond })
		w.feed.write(key, cluster("c", "2"))
		w.Wake(key.Fleet, false)
		time.Sleep(50 * time.Millisecond)
		later, _ := w.newCredential(key, "*", time.Time{})
		d := w.attach(later, "d")
		time.Sleep(time.Second)
		if err := d.Ended(); err != nil {
			t.Errorf("made while the fleet was read: ends with %v", err)
		}
		w.feed.set(func(f *feed) { f.took = 0 })
		// One that was removed between the two looks is noticed at once.
		gone, _ := w.newCredential(key, "*", time.Time{})
		w.feed.removeCredential(key, gone.Credential)
		c := w.attach(gone, "c")
		synctest.Wait()
		if err := c.Ended(); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("removed: %v", err)
		}
	})
}

// TestACredentialIsFoundOnceASecond, however many nodes of a fleet that is not held have it. A revocation is seen when that second is over.
func TestACredentialIsFoundOnceASecond(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, token := w.newFleet(cluster("c", "1"))
		for second := range 3 {
			for i := range 100 {
				if _, err := w.Authenticate(t.Context(), token); err != nil {
					t.Fatal(err)
				}
				if i == 50 {
					time.Sleep(foundFor / 2)
				}
			}
			if n := w.feed.counts().finds; n != second+1 {
				t.Errorf("after %d seconds it was looked for %d times", second+1, n)
			}
			time.Sleep(foundFor / 2)
		}
		if _, err := w.Authenticate(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		w.feed.credential(key, fleet.Credential{ID: id.Credential, Hash: auth.Hash(token), Nodes: "*", RevokedAt: time.Now()})
		time.Sleep(foundFor)
		if _, err := w.Authenticate(t.Context(), token); !errors.Is(err, fleet.ErrUnauthenticated) || !strings.Contains(err.Error(), "is revoked") {
			t.Errorf("revoked a second ago: %v", err)
		}
	})
}

// TestWhatWasFoundIsAsOldAsItsQuestion: an answer that takes long is believed no longer.
func TestWhatWasFoundIsAsOldAsItsQuestion(t *testing.T) {
	var f finds
	now, a, b := time.Now(), fleet.NewCredentialID(), fleet.NewCredentialID()
	good := find{credential: fleet.Credential{ID: a}}
	f.put(a, good, now)
	f.put(b, good, now.Add(-1)) // asked before a was, answered later
	if f.get(a, now.Add(foundFor-1)) != good || f.get(a, now.Add(foundFor)) != (find{}) {
		t.Error("it is believed for too long, or not long enough")
	}
	if f.get(b, now) != (find{}) {
		t.Error("what was asked before is believed as long as what was asked now")
	}
}
