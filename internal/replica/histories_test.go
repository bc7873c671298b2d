package replica

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestHistoriesThatFailed plays what TestTheWhole once found, and what was said then of the
// node n1.
func TestHistoriesThatFailed(t *testing.T) {
	t.Parallel()
	clusters := func(all ...string) step {
		s := step{Kind: stepChange, Wait: 20 * time.Millisecond}
		for _, x := range all {
			name, version, _ := strings.Cut(x, "@")
			s.Edits = append(s.Edits, edit{Type: fleet.Cluster, Name: name, Version: version})
		}
		return s
	}
	const soon = 600 * time.Millisecond
	everybody := step{Kind: stepAll, Wait: soon}
	get, lost := step{Kind: stepReceive, Node: 1}, func(to int) step { return step{Kind: stepMove, Node: 1, Pick: to} }
	for name, h := range map[string]struct {
		steps []step
		never string // what n1 gets no more, once the first refusal was repaired
	}{
		"what is put back was refused before, here":      {[]step{everybody, clusters("b@2!n1"), everybody, everybody, clusters("d@2"), everybody, everybody, clusters("d@1?", "b@2"), get, lost(1)}, "b@2!n1"},
		"what is put back was refused before, elsewhere": {[]step{everybody, clusters("b@2!n1"), everybody, everybody, clusters("d@2"), everybody, everybody, clusters("d@1?", "b@2"), get, lost(0)}, "b@2!n1"},
	} {
		for _, delta := range []bool{true, false} {
			for seed := range uint64(4) {
				problems, log := play(t, delta, seed, h.steps)
				got := 0
				for _, l := range log {
					if h.never != "" && strings.Contains(l, "n1 gets") && strings.Contains(l, h.never) {
						got++
					}
				}
				if got > 1 {
					problems = append(problems, "n1 gets "+h.never+" again")
				}
				if len(problems) > 0 {
					t.Errorf("%s, delta %v, seed %d: %s\n%s", name, delta, seed, strings.Join(problems, "\n"), strings.Join(log, "\n"))
				}
			}
		}
	}
}
