package replica

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// sealedIn tells which secrets cannot be opened of those that a stream should have, and at which version and revision.
func sealedIn(a *attachment) string {
	out := ""
	for r := range a.Current().Sealed.All() {
		out += fmt.Sprintf("%s@%s of %d", r.Name, r.Version, r.Revision)
	}
	return out
}

func wantSecret(t *testing.T, a *attachment, when, has, sealed string) {
	t.Helper()
	if got := version(a.Current(), fleet.Secret, "s"); got != has || sealedIn(a) != sealed {
		t.Errorf("%s: %s has %q, sealed %q; want %q, %q", when, a.node.id, got, sealedIn(a), has, sealed)
	}
}

// A secret that cannot be opened is told apart from one that is not there, and written again with the same version it is opened.
func TestASecretThatCannotBeOpenedIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(secret("s", "1", "another key"))
		a := w.attach(id, "a")
		wantSecret(t, a, "at first", "", "s@1 of 1")
		w.change(key, secret("s", "1", "sealed:x"))
		wantSecret(t, a, "written again", "1", "")
		w.change(key, secret("s", "2", "another key"))
		wantSecret(t, a, "the next one", "1", "s@2 of 3")
		w.feed.set(func(f *feed) { // another token: a reload
			s := f.fleets[key].states[3]
			s.token = fleet.NewToken()
			f.fleets[key].states[3] = s
		})
		w.Wake(key.Fleet, false)
		synctest.Wait()
		wantSecret(t, a, "after a reload", "1", "s@2 of 3")
		w.change(key, cluster("c", "1"))
		wantSecret(t, a, "something else changes", "1", "s@2 of 3")
		w.change(key, fleet.Row{Type: fleet.Secret, Name: "s", Deleted: true})
		wantSecret(t, a, "deleted", "", "")
	})
}

// A variant that cannot be opened takes nothing from anybody: its nodes keep what they had, and it is told to them alone.
func TestAVariantThatCannotBeOpenedTakesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		eu := secret("s", "eu", "another key")
		eu.Variant, eu.Selector = "eu", "locality.region=eu"
		key, id, _ := w.newFleet(secret("s", "1", "sealed:x"))
		inEU, inUS := w.attachNode(id, in("eu")), w.attachNode(id, in("us"))
		w.change(key, eu)
		wantSecret(t, inEU, "the variant comes", "1", "s@eu of 2")
		wantSecret(t, inUS, "the variant comes", "1", "")
		newcomer := w.attachNode(id, fleet.Node{ID: "new", Region: "eu"})
		wantSecret(t, newcomer, "a newcomer", "1", "s@eu of 2")
		w.change(key, secret("s", "2", "another key"))
		wantSecret(t, inEU, "the default one too", "1", "s@eu of 2")
		wantSecret(t, inUS, "the default one too", "1", "s@2 of 3")
		eu.Body = []byte("sealed:y")
		w.change(key, eu)
		wantSecret(t, inEU, "written again", "eu", "")
		eu.Body, eu.Version = []byte("another key"), "eu2"
		w.change(key, eu)
		wantSecret(t, inEU, "its next one", "eu", "s@eu2 of 5")
		eu.Deleted = true
		w.change(key, eu)
		wantSecret(t, inEU, "the variant goes", "1", "s@2 of 6")
		wantSecret(t, inUS, "the variant goes", "1", "s@2 of 6")
	})
}

// TestT11_SecretsOfThePastAreNotToldOf: after a change of the sealing key no server opens what was sealed before. Of the present that is an error; of what a fleet had
// once nothing is to be done, and each client that comes back may have it read.
func TestT11_SecretsOfThePastAreNotToldOf(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var out bytes.Buffer
		w.log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
		key, id, _ := w.newFleet(secret("s", "1", "another key"), cluster("c", "1"))
		for i := range 5 {
			w.feed.write(key, secret("s", fmt.Sprint(i+2), "another key"))
		}
		w.feed.write(key, secret("s", "now", "sealed:x"))
		for at := fleet.Revision(1); at < 6; at++ {
			w.left(fmt.Sprint("n", at), fleet.LastStream{Settled: at})
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: fmt.Sprint("n", at)}, xds.StreamInfo{Protocol: "SotW ADS", Resumed: true})
			if err != nil {
				t.Fatal(err)
			}
			if last := a.LastStream(); last.Before == nil || last.Between == nil {
				t.Errorf("of %d nothing was read", at)
			}
			a.Detach(false)
		}
		if out.Len() > 0 {
			t.Errorf("it is told of the past:\n%s", out.String())
		}
		w.attach(id, "stays")
		w.change(key, secret("s", "next", "another key"))
		if n := strings.Count(out.String(), "a secret cannot be opened"); n != 1 {
			t.Errorf("of the present it is told %d times, want once:\n%s", n, out.String())
		}
	})
}
