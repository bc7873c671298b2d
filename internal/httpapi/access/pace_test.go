package access

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func numbered(i uint64, what store.LimitName) (k Counted) {
	binary.BigEndian.PutUint64(k.Whose[:], i)
	k.What = what
	return k
}

func TestPaceFillsUpAgain(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Unix(1e9, 0)}
	p, l, k := NewPace(c.now), Limits{store.LimitWrites: 60}, numbered(1, store.LimitWrites)
	take := func(n int) (taken int, wait time.Duration) {
		for range n {
			empty, d := p.Take(l, k)
			if wait = d; empty == nil {
				taken++
			}
		}
		return taken, wait
	}
	if n, wait := take(100); n != 60 || wait != time.Second {
		t.Errorf("%d at once, then a wait of %s", n, wait)
	}
	if n := p.Used(k, 60); n != 60 {
		t.Errorf("%d are used", n)
	}
	c.at = c.at.Add(1500 * time.Millisecond)
	if n, wait := take(5); n != 1 || wait != 500*time.Millisecond {
		t.Errorf("%d after 1.5 s, then a wait of %s", n, wait)
	}
	l[store.LimitWrites] = 120
	take(10)
	c.at = c.at.Add(2 * time.Second)
	if n, _ := take(10); n != 4 {
		t.Errorf("%d in 2 s of a limit that was raised", n)
	}
	l[store.LimitWrites] = 0
	if n, wait := take(3); n != 0 || wait != time.Minute {
		t.Errorf("%d of a limit of none, then a wait of %s", n, wait)
	}
	delete(l, store.LimitWrites)
	if n, _ := take(1000); n != 1000 {
		t.Errorf("%d without a limit", n)
	}
}

func TestPaceTakesFromAllOrNone(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Unix(1e9, 0)}
	p, l := NewPace(c.now), Limits{store.LimitWrites: 3, store.LimitTokenWrites: 2}
	a, b, tenant := numbered(1, store.LimitTokenWrites), numbered(2, store.LimitTokenWrites), numbered(1, store.LimitWrites)
	var got []store.LimitName
	for _, k := range []Counted{a, a, a, a, b, b, b} {
		empty, _ := p.Take(l, k, tenant)
		if empty == nil {
			got = append(got, "")
			continue
		}
		got = append(got, empty.What)
	}
	want := []store.LimitName{"", "", store.LimitTokenWrites, store.LimitTokenWrites, "", store.LimitWrites, store.LimitWrites}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	if n := p.Used(b, 2); n != 1 {
		t.Errorf("what the tenant was refused is taken from the token: %d used", n)
	}
}

// T14 of the API's side: however many ask, what is remembered of them is bounded; who asks
// all the time is not forgotten, nor is anybody before the bucket would be full again.
func TestT08_PaceForgets(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Unix(1e9, 0)}
	p, l := NewPace(c.now), Limits{store.LimitReads: 10}
	busy := numbered(0, store.LimitReads)
	refused := 0
	const asked = 250 // in which all buckets there may be are used up several times
	for i := range uint64(1000 * asked) {
		if i%1000 == 0 {
			c.at = c.at.Add(10 * time.Millisecond)
			if empty, _ := p.Take(l, busy); empty != nil {
				refused++
			}
		}
		p.Take(l, numbered(i+1, store.LimitReads))
		if n := len(p.buckets.young) + len(p.buckets.old); n > mostBuckets {
			t.Fatalf("%d are remembered", n)
		}
	}
	if refused < asked-15 { // one bucket of 10, and what fills up meanwhile
		t.Errorf("who asks all the time was refused %d times of %d", refused, asked)
	}
	p.Take(l, numbered(7, store.LimitReads))
	for range 3 {
		c.at = c.at.Add(20 * time.Second)
		p.Take(l, busy)
	}
	if p.buckets.old[numbered(7, store.LimitReads)] == nil {
		t.Error("forgotten within a minute")
	}
	c.at = c.at.Add(time.Minute)
	p.Take(l, busy)
	if n := len(p.buckets.young) + len(p.buckets.old); n > 2 {
		t.Errorf("%d are remembered of those that do not ask any more", n)
	}
}

func TestLimitsAreReadNowAndThen(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Unix(1e9, 0)}
	reads, most, down := 0, int64(5), error(nil)
	b := NewLimitsBook(c.now, time.Second)
	load := func(context.Context, fleet.TenantID) ([]store.Limit, error) {
		reads++
		return []store.Limit{{Name: store.LimitReads, Most: most}}, down
	}
	is := func(what string, wantMost int64, wantReads int) {
		t.Helper()
		if got := b.Of(t.Context(), fleet.TenantID{1}, load)[store.LimitReads]; got != wantMost || reads != wantReads {
			t.Errorf("%s: %d after %d reads, want %d after %d", what, got, reads, wantMost, wantReads)
		}
	}
	is("first", 5, 1)
	most = 6
	is("again", 5, 1)
	c.at = c.at.Add(limitsHold)
	is("later", 6, 2)
	down = errors.New("away")
	c.at = c.at.Add(limitsHold)
	is("without a database", 6, 3)
	is("which is not asked each time", 6, 3)
	if l := b.Of(t.Context(), fleet.TenantID{2}, load); l != nil {
		t.Errorf("of one that was never read: %v", l)
	}
}
