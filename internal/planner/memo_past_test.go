package planner_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// waves has clients come back, three by three, to a target that stays, each three with a past of their own that was read for them: of a cluster that they
// report, and of something else. It returns what is left of both when they have settled and are gone.
func waves(t *testing.T, pl *planner.Planner, n, size int, unknown bool, of func(past *snapshot.Snapshot) planner.Origin) (clusters, others int) {
	t.Helper()
	view := big(3)
	view.Revision = 1_000_000
	target := snapshot.NewTarget(view, nil)
	var held, beside []weak.Pointer[snapshot.Resource]
	for wave := range n {
		past := &snapshot.Snapshot{Revision: fleet.Revision(wave + 1), Types: view.Types}
		had := snapshot.NewResource(fleet.Cluster, fleet.Row{Name: "had", Version: fmt.Sprint(wave), Revision: past.Revision}, make([]byte, size))
		other := snapshot.NewResource(fleet.Secret, fleet.Row{Name: "s", Version: fmt.Sprint(wave), Revision: past.Revision}, make([]byte, size))
		past.Types[fleet.Cluster] = past.Types[fleet.Cluster].With(had)
		past.Types[fleet.Secret] = past.Types[fleet.Secret].With(other)
		past.Types[fleet.Route] = past.Types[fleet.Route].With(routeTo("had", fmt.Sprint(wave), past.Revision))
		held, beside = append(held, weak.Make(had)), append(beside, weak.Make(other))
		for range 3 {
			s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Envoy: true}, of(past), false, start)}
			version := past.Types[fleet.Cluster].Sum().String()
			if unknown {
				version = "of another set"
			}
			s.Request(start, planner.Request{Type: fleet.Cluster, Version: version}, target)
			s.settle(target)
		}
	}
	runtime.GC()
	for i := range held {
		if held[i].Value() != nil {
			clusters++
		}
		if beside[i].Value() != nil {
			others++
		}
	}
	runtime.KeepAlive(target)
	return clusters, others
}

// TestT11_APastIsNotKeptWithATarget: what was read of a fleet's past for those who come back may be a whole fleet. It goes with them, though the fleet does not change for days, and what
// they hold of it is counted with what is remembered.
func TestT11_APastIsNotKeptWithATarget(t *testing.T) {
	t.Parallel()
	const waveCount, size, most = 40, 1 << 20, 8 << 20
	for about, of := range map[string]func(past *snapshot.Snapshot) planner.Origin{
		"what the node held": func(past *snapshot.Snapshot) planner.Origin { return planner.Origin{Before: past} },
		"and ended unclean": func(past *snapshot.Snapshot) planner.Origin {
			return planner.Origin{Before: past, Past: planner.Past{Unclean: true, Settled: past.Revision}}
		},
		"what the fleet did": func(past *snapshot.Snapshot) planner.Origin { return planner.Origin{Between: past} },
	} {
		for _, unknown := range []bool{false, true} {
			clusters, others := waves(t, planner.New(most), waveCount, size, unknown, of)
			if others > 0 {
				t.Errorf("%s, unknown %v: of %d pasts %d are kept whole", about, unknown, waveCount, others)
			}
			if clusters > most/size {
				t.Errorf("%s, unknown %v: of %d pasts %d MiB are kept that clients may have, want %d at most", about, unknown, waveCount, clusters, most/size)
			}
		}
	}
}

// TestT11_APastIsForgottenByWhoSaysNothing of clusters, for as long as its stream lives: it is not known then when all was said.
func TestT11_APastIsForgottenByWhoSaysNothing(t *testing.T) {
	t.Parallel()
	view := big(3)
	target := snapshot.NewTarget(view, nil)
	pl := planner.New(planner.DefaultMemo)
	for about, delta := range map[string]bool{"delta": true, "state of the world": false} {
		past := &snapshot.Snapshot{Revision: 1}
		left := weak.Make(past)
		s := &stream{Client: pl.Client(fleet.Key{}, planner.Kind{Envoy: true, Delta: delta}, planner.Origin{Before: past, Between: past}, true, start), delta: delta}
		s.ask(target, fleet.Endpoint, planner.NamesOf("cluster-000001"))
		s.settle(target)
		s.Opened(start)
		s.settle(target)
		due := s.Due(start)
		if late := due.Sub(start); due.IsZero() || late > time.Minute {
			t.Errorf("%s: it is looked at again after %s", about, late)
		}
		s.Step(due, target)
		if due := s.Due(due); !due.IsZero() {
			t.Errorf("%s: it is looked at once more at %s", about, due)
		}
		runtime.GC()
		if left.Value() != nil {
			t.Errorf("%s: what it held is kept", about)
		}
		runtime.KeepAlive(s)
	}
}
