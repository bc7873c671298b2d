package replica

import (
	"fmt"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
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
