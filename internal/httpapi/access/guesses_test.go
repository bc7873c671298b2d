package access

import (
	"strconv"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// TestT47_GuessesAtOnceAreFew: those that were let in before the tenth was compared are counted as well, and of the right one nothing is told.
func TestT47_GuessesAtOnceAreFew(t *testing.T) {
	t.Parallel()
	now := time.Now()
	g := NewGuesses(func() time.Time { return now })
	k := GuessKey{fleet.TenantID{1}, fleet.ID{1}, store.Cursor{Type: fleet.Secret, Name: "pin"}}
	content := func(i byte) [32]byte { return [32]byte{i} }
	for i := range byte(GuessesOfSecret) {
		if wait := g.TooMany(k, content(i)); wait != 0 {
			t.Errorf("number %d waits for %s", i, wait)
		}
	}
	for i := range byte(GuessesOfSecret) {
		if wait, fresh := g.Compare(k, content(i), false); wait != 0 || !fresh {
			t.Errorf("number %d: %s, %t", i, wait, fresh)
		}
	}
	for _, same := range []bool{false, true} {
		if wait, fresh := g.Compare(k, content(99), same); wait != GuessesHold || !fresh {
			t.Errorf("one more, the right one: %t: %s, %t", same, wait, fresh)
		}
	}
}

// A tenant that compares without end takes no room of others, and leaves none behind.
func TestT47_GuessesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	g := NewGuesses(func() time.Time { return now })
	key := func(tenant byte, n int) GuessKey {
		return GuessKey{fleet.TenantID{tenant}, fleet.ID{1}, store.Cursor{Type: fleet.Secret, Name: strconv.Itoa(n)}}
	}
	for i := range mostGuessedOf {
		if wait, _ := g.Compare(key(1, i), [32]byte{}, false); wait != 0 {
			t.Fatalf("number %d waits", i)
		}
	}
	if wait, _ := g.Compare(key(1, -1), [32]byte{}, false); wait != GuessesHold {
		t.Errorf("one more waits %s", wait)
	}
	if wait, _ := g.Compare(key(2, 0), [32]byte{}, false); wait != 0 {
		t.Error("another tenant waits")
	}
	now = now.Add(GuessesHold)
	if wait, _ := g.Compare(key(1, -1), [32]byte{}, false); wait != 0 || len(g.all) != 1 || len(g.of) != 1 {
		t.Errorf("after the hour: %s, %d Secrets of %d tenants", wait, len(g.all), len(g.of))
	}
}
