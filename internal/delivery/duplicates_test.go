package delivery

import (
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
				w.Head(w.key, 1, time.Now())
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
