package delivery

import (
	"slices"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// SEMANTICS 6.3: two streams of one wildcard type, side by side for half a minute.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kinds []string
		want  int
	}{
		"one":                              {[]string{"delta ADS"}, 0},
		"two":                              {[]string{"delta ADS", "delta ADS"}, 2},
		"three":                            {[]string{"SotW CDS", "SotW CDS", "SotW CDS", "SotW LDS", "SotW LDS"}, 3},
		"a stream for each type":           {[]string{"delta CDS", "delta LDS", "delta RDS", "delta EDS"}, 0},
		"a stream for each name of a type": {[]string{"delta CDS", "delta EDS", "delta EDS"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				w.Head(w.key, mark(1), time.Now())
				var ss []*Stream
				for _, kind := range c.kinds {
					s := w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: kind})
					s.Settled(1)
					ss = append(ss, s)
				}
				time.Sleep(duplicateAfter - time.Second)
				if d := w.sink.model(w.key).nodes["n"].Duplicates; d != 0 {
					t.Errorf("%d too early", d)
				}
				time.Sleep(2 * time.Second)
				if d := w.sink.model(w.key).nodes["n"].Duplicates; d != c.want {
					t.Errorf("%d, want %d", d, c.want)
				}
				for _, s := range ss[1:] {
					s.Close(true)
				}
				time.Sleep(time.Second)
				if d := w.sink.model(w.key).nodes["n"].Duplicates; d != 0 {
					t.Errorf("%d after the others went", d)
				}
			})
		})
	}
}

// SEMANTICS 6.3: a node that has lasted is told once per connection, so that the database
// looks for it on other servers; with others that came in the same seconds, and again where
// the answer was lost.
func TestLastingNodesAreToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		time.Sleep(time.Until(time.Now().Truncate(lookEvery).Add(lookEvery))) // so that both come between two looks
		w.Head(w.key, mark(1), time.Now())
		a := w.connect("a")
		w.connect("short").Close(true)
		time.Sleep(time.Second)
		w.connect("b")
		lasting := func(within time.Duration) (told []string, reports int) {
			time.Sleep(within)
			for _, r := range w.sink.take() {
				slices.Sort(r.Lasting)
				told = append(told, r.Lasting...)
				if len(r.Lasting) > 0 {
					reports++
				}
			}
			return told, reports
		}
		if told, _ := lasting(duplicateAfter - 2*time.Second); len(told) > 0 {
			t.Errorf("too early: %v", told)
		}
		w.sink.set(lost)
		if told, _ := lasting(lookEvery + 2*time.Second); !slices.Equal(told[:2], []string{"a", "b"}) {
			t.Errorf("told %v", told)
		}
		w.sink.set(healthy)
		if told, n := lasting(time.Minute); !slices.Equal(told, []string{"a", "b"}) || n != 1 {
			t.Errorf("again %v in %d reports", told, n)
		}
		if told, _ := lasting(time.Hour); len(told) > 0 {
			t.Errorf("once more: %v", told)
		}
		a.Close(true)
		w.connect("a")
		if told, _ := lasting(time.Minute); !slices.Equal(told, []string{"a"}) {
			t.Errorf("on its next connection: %v", told)
		}
	})
}
