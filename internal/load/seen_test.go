package load

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

// told is what is given away of clusters and nodes, in few words.
func told(r *Recorder) (out []string) {
	seen := r.TakeSeen()
	for _, c := range seen.Clusters {
		word := "idle"
		if c.Called {
			word = "called"
		}
		out = append(out, fmt.Sprintf("%q %s", c.Cluster, word))
	}
	for _, n := range seen.Nodes {
		out = append(out, "node "+n.Node)
	}
	slices.Sort(out)
	return out
}

func wantTold(t *testing.T, r *Recorder, what string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, told(r)); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// A cluster is told as reported, and as called, once in five minutes each, whatever the number of reports.
func TestClustersAreToldOnceInFiveMinutes(t *testing.T) {
	t.Parallel()
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	idle := func(names ...string) {
		r.Add(key, Report{Idle: names, Node: "n"}, time.Second)
		r.Add(key, Report{Idle: names}, time.Second)
	}
	idle("a", "b")
	r.Add(key, requests("b", 5), time.Second)
	wantTold(t, r, "at first", `"a" idle`, `"b" called`, "node n")
	idle("a", "b")
	now = now.Add(3 * time.Minute)
	r.Add(key, requests("b", 5), time.Second)
	wantTold(t, r, "soon after", "node n")
	r.Add(key, requests("a", 5), time.Second)
	wantTold(t, r, "a first call", `"a" called`)
	now = now.Add(2 * time.Minute)
	idle("a", "b")
	wantTold(t, r, "five minutes later", `"b" called`, "node n")
	now = now.Add(5 * time.Minute)
	idle("a")
	wantTold(t, r, "then", `"a" idle`, "node n")
	now = now.Add((forgetAfter + 1) * time.Minute)
	wantTold(t, r, "later")
	if len(r.seen.clusters) != 0 || r.seen.all != 0 || len(r.seen.held) != 0 {
		t.Errorf("held are %+v", r.seen)
	}
}

// A clock that was ahead, as of a machine that has just begun, and is set back hides no call: a cluster of which none is told could be deleted for it.
func TestAClockThatIsSetBackHidesNoCall(t *testing.T) {
	t.Parallel()
	now := time.Unix(60_000, 0)
	r := at(&now, Bounds{})
	r.Add(key, Report{Idle: []string{"a"}, Clusters: requests("b", 5).Clusters}, time.Second)
	wantTold(t, r, "ahead", `"a" idle`, `"b" called`)
	r.Add(key, requests("a", 5), time.Second)
	now = now.Add(-time.Hour)
	wantTold(t, r, "what was not told yet", `"a" called`)
	wantTold(t, r, "when nobody has called")
	r.Add(key, Report{Idle: []string{"a"}, Clusters: requests("b", 5).Clusters}, time.Second)
	now = now.Add(5 * time.Minute)
	r.Add(key, Report{Idle: []string{"a"}, Clusters: requests("b", 5).Clusters}, time.Second)
	wantTold(t, r, "set back", `"a" idle`, `"b" called`)
	wantTold(t, r, "soon after")
}

// What could not be written down is told the next time.
func TestWhatIsToldOfClustersCanBeReturned(t *testing.T) {
	t.Parallel()
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	r.Add(key, Report{Idle: []string{"a"}, Clusters: requests("b", 5).Clusters, Node: "n"}, time.Second)
	back := r.TakeSeen()
	wantTold(t, r, "when it is away")
	r.ReturnSeen(back)
	wantTold(t, r, "when it is back", `"a" idle`, `"b" called`, "node n")
	now = now.Add(time.Hour)
	wantTold(t, r, "an hour later")
	r.ReturnSeen(back)
	wantTold(t, r, "of what was forgotten", `"a" idle`, `"b" called`, "node n")
}

// Whatever nodes name, no more is held than the bounds say; that a call may have gone unseen is told of the fleet.
func TestT49_NoMoreClustersAreHeldThanTheBoundsSay(t *testing.T) {
	t.Parallel()
	for _, b := range []Bounds{{FleetClusters: 2}, {TenantClusters: 2}, {Clusters: 2}} {
		now := time.Unix(6000, 0)
		r := at(&now, b)
		r.Add(key, Report{Idle: []string{"a", "b", "c"}}, time.Second)
		wantTold(t, r, "idle ones", `"a" idle`, `"b" idle`)
		r.Add(key, requests("a", 1), time.Second)
		r.Add(key, requests("d", 1), time.Second)
		now = now.Add(5 * time.Minute)
		r.Add(key, Report{Idle: []string{"a"}}, time.Second)
		wantTold(t, r, "one that is called", `"" idle`, `"a" called`)
	}
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{Nodes: 1})
	r.Add(key, Report{Cut: true, Node: "n"}, time.Second)
	r.Add(key, Report{Node: "m"}, time.Second)
	wantTold(t, r, "of a report that was cut", `"" idle`, "node n")
	r.ReturnSeen(fleet.LoadSeen{Nodes: []fleet.NodeSeen{{Key: key, Node: "x"}, {Key: key, Node: "y"}}})
	wantTold(t, r, "what came back", "node x")
}

// A tenant whose nodes name themselves as they like has half of the room, and leaves the rest to others.
func TestT49_ATenantsNodesLeaveRoom(t *testing.T) {
	t.Parallel()
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{Nodes: 4})
	other := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
	for range 2 { // what was told gives its place back
		for _, node := range []string{"1", "2", "3", "4", "1"} {
			r.Add(key, Report{Node: node}, time.Second)
		}
		r.Add(other, Report{Node: "n"}, time.Second)
		wantTold(t, r, "of two tenants", "node 1", "node 2", "node n")
	}
}
