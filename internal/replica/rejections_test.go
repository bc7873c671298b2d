package replica

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	"fairlead/internal/snapshot"
	"fairlead/internal/xds"
)

// SEMANTICS 3.5: what one node refused alone is known when another of the same build
// refuses a response that holds it.
func TestWhatPeersRejectIsPartOfTheTarget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "bad"), cluster("d", "1"), cluster("e", "1"))
		come := func(node, version string) *attachment {
			a, err := w.Attach(t.Context(), id, fleet.Node{ID: node, UserAgent: "envoy", Version: version}, xds.StreamInfo{Protocol: "delta ADS"})
			if err != nil {
				t.Fatal(err)
			}
			return a.(*attachment)
		}
		a, b, other := come("a", "1.40.0"), come("b", "1.40.0"), come("other", "1.39.0")
		clusters := a.Current().Types[fleet.Cluster]
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Detail: "no", Blame: []snapshot.Blame{{Refused: clusters.Get("d")}, {Refused: clusters.Get("e")}}})
		a.Refuse(t.Context(), snapshot.Verdict{Type: fleet.Cluster, Presumed: true, Blame: []snapshot.Blame{{Refused: clusters.Get("d")}}})
		refuse(t, a, "c", nil)
		for _, x := range []struct {
			a             *attachment
			name, version string
			want          bool
		}{
			{b, "c", "bad", true},
			{b, "c", "of before", false},
			{b, "d", "1", false}, // not alone, or not refused
			{other, "c", "bad", false},
		} {
			if got := rejected(x.a, x.name, x.version); got != x.want {
				t.Errorf("%s@%s for %s: %v", x.name, x.version, x.a.subscriber.build, got)
			}
		}
		w.change(key, cluster("c", "mended"))
		w.change(key, cluster("c", "bad"))
		if rejected(b, "c", "bad") {
			t.Error("the rejection outlived its version")
		}
	})
}

func rejected(a *attachment, name, version string) bool {
	_, ok := a.Current().Rejected[refusal.Key{Type: fleet.Cluster, Name: name, Version: version}]
	return ok
}
