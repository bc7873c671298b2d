package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func (w *world) loaded(cluster string, issued int64, middle time.Time) fleet.Load {
	return fleet.Load{Key: w.key(), Middle: middle, Cluster: cluster, Kind: fleet.LoadRequests, Region: "eu", Issued: issued, Succeeded: issued - 1, Failed: 1, InProgress: 2.5}
}

// middle is that of the database's minute, so many minutes ago.
func (w *world) middle(ago int) time.Time {
	var at time.Time
	w.ok(w.super.QueryRow(w.Context(), `SELECT date_trunc('minute', clock_timestamp()) + interval '30 s'`).Scan(&at))
	return at.Add(-time.Duration(ago) * time.Minute)
}

func (w *world) addLoad(s *store.Store, ls ...fleet.Load) {
	w.Helper()
	left, err := s.AddLoad(w.Context(), ls)
	w.ok(err)
	if len(left) > 0 {
		w.Fatalf("%d are left", len(left))
	}
}

// Two servers that report of one minute add, and what is of no fleet is left out.
func TestServersAddWhatProxiesDid(t *testing.T) {
	w := setup(t)
	one, other := w.db.NodeStore(t), w.db.NodeStore(t)
	m := w.middle(5)
	gone := w.loaded("a", 7, m)
	gone.Fleet = fleet.NewID()
	drops := fleet.Load{Key: w.key(), Middle: m, Cluster: "a", Kind: fleet.LoadDrops, Of: "overload", Count: 3}
	metric := fleet.Load{Key: w.key(), Middle: m, Cluster: "a", Kind: fleet.LoadMetric, Of: "queue", Count: 4, Total: -0.5}
	left := fleet.Load{Key: w.key(), Middle: m, Kind: fleet.LoadLeftOut, Count: 9}
	w.addLoad(one, w.loaded("a", 10, m), gone, drops, metric, left)
	w.addLoad(other, w.loaded("a", 20, m), w.loaded("a", 1, m.Add(time.Minute)), w.loaded("b", 2, m), drops, metric, left)

	minutes, more, err := w.app.LoadMinutes(t.Context(), w.tenant, w.fleet, "a", time.Time{}, 0)
	w.ok(err)
	at := m.Truncate(time.Minute).UTC()
	sum := func(l fleet.Load, minute time.Time) store.LoadPart {
		l.Key, l.Middle, l.Cluster = fleet.Key{}, time.Time{}, ""
		return store.LoadPart{Load: l, Minute: minute}
	}
	both, two, last := w.loaded("a", 30, m), drops, w.loaded("a", 1, m)
	both.Succeeded, both.Failed, both.InProgress, two.Count = 28, 2, 5, 6
	told := metric
	told.Count, told.Total = 8, -1
	want := [][]store.LoadPart{{sum(two, at), sum(told, at), sum(both, at)}, {sum(last, at.Add(time.Minute))}}
	if d := cmp.Diff(want, minutes); d != "" || more {
		t.Errorf("more: %t, (-want +got):\n%s", more, d)
	}
	clusters, more, err := w.app.ClusterLoads(t.Context(), w.tenant, w.fleet, nil, "", 0)
	w.ok(err)
	wantClusters := []store.ClusterLoad{
		{Cluster: "a", Issued: 31, Succeeded: 28, Failed: 3, Dropped: 6, Last: at.Add(time.Minute)}, {Cluster: "b", Issued: 2, Succeeded: 1, Failed: 1, Last: at},
	}
	if d := cmp.Diff(wantClusters, clusters); d != "" || more {
		t.Errorf("more: %t, (-want +got):\n%s", more, d)
	}
	if n, err := w.app.LoadLeftOut(t.Context(), w.tenant, w.fleet); err != nil || n != 18 {
		t.Errorf("%d are left out, %v", n, err)
	}
	// A page goes on behind the one before.
	first, more, err := w.app.LoadMinutes(t.Context(), w.tenant, w.fleet, "a", time.Time{}, 1)
	w.ok(err)
	second, moreYet, err := w.app.LoadMinutes(t.Context(), w.tenant, w.fleet, "a", first[0][0].Minute, 1)
	w.ok(err)
	if !more || moreYet || len(first) != 1 || len(second) != 1 || !second[0][0].Minute.After(first[0][0].Minute) {
		t.Errorf("pages %v (%t) and %v (%t)", first, more, second, moreYet)
	}
	names, more, err := w.app.ClusterLoads(t.Context(), w.tenant, w.fleet, nil, "a", 1)
	if err != nil || more || len(names) != 1 || names[0].Cluster != "b" {
		t.Errorf("behind a: %v, %t, %v", names, more, err)
	}
	// Of those that are named alone, whoever else is beside them.
	named, more, err := w.app.ClusterLoads(t.Context(), w.tenant, w.fleet, []string{"b", "nobody"}, "", 1)
	if err != nil || more || len(named) != 1 || named[0] != wantClusters[1] {
		t.Errorf("of b and nobody: %v, %t, %v", named, more, err)
	}
}

// A minute is the database's: a server whose clock is wrong by hours writes where the others do.
func TestAMinuteIsTheDatabases(t *testing.T) {
	w := setup(t)
	w.addLoad(w.node, w.loaded("a", 10, time.Now()), w.loaded("a", 10, time.Now().Add(-3*time.Minute)))
	if n := w.count(`SELECT count(*) FROM load_minutes WHERE minute > clock_timestamp() - interval '5 minutes' AND minute <= clock_timestamp()`); n != 2 {
		t.Errorf("%d minutes, want 2", n)
	}
}

// Sums stay within what a number in JSON holds, whatever servers add.
func TestT49_SumsOfLoadStayBelowTheirLimit(t *testing.T) {
	w := setup(t)
	m := w.middle(1)
	most := fleet.Load{
		Key: w.key(), Middle: m, Cluster: "a", Kind: fleet.LoadRequests, Issued: fleet.MostLoad, Succeeded: fleet.MostLoad, Failed: fleet.MostLoad,
		InProgress: fleet.MostLoad, Count: fleet.MostLoad, Total: -fleet.MostLoad,
	}
	for range 3 {
		w.addLoad(w.node, most)
	}
	if n := w.count(`SELECT count(*) FROM load_minutes WHERE issued = $1 AND succeeded = $1 AND failed = $1 AND in_progress = $1 AND count = $1 AND total = -$1::bigint`, int64(fleet.MostLoad)); n != 1 {
		t.Errorf("%d rows have the largest numbers", n)
	}
}

// TestT49_SumsOfManyRowsStayBelowTheirLimit: what nodes say of many localities and minutes makes no list fail.
func TestT49_SumsOfManyRowsStayBelowTheirLimit(t *testing.T) {
	w := setup(t)
	m := w.middle(1)
	var ls []fleet.Load
	for i := range 1100 { // 2^63 is 1,024 of the largest
		zone := fmt.Sprint("z", i)
		ls = append(ls,
			fleet.Load{Key: w.key(), Middle: m, Cluster: "a", Kind: fleet.LoadRequests, Zone: zone, Issued: fleet.MostLoad, Succeeded: fleet.MostLoad, Failed: fleet.MostLoad},
			fleet.Load{Key: w.key(), Middle: m, Cluster: "a", Kind: fleet.LoadDrops, Of: zone, Count: fleet.MostLoad})
	}
	w.addLoad(w.node, ls...)
	clusters, _, err := w.app.ClusterLoads(t.Context(), w.tenant, w.fleet, nil, "", 0)
	want := []store.ClusterLoad{{
		Cluster: "a", Issued: fleet.MostLoad, Succeeded: fleet.MostLoad, Failed: fleet.MostLoad, Dropped: fleet.MostLoad, Last: m.Truncate(time.Minute).UTC(),
	}}
	if d := cmp.Diff(want, clusters); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	failing, err := w.app.FailingClusters(t.Context(), w.tenant, w.fleet, 5*time.Minute, 50, 5)
	if err != nil || len(failing) != 1 || failing[0].Failed != fleet.MostLoad {
		t.Errorf("%+v, %v", failing, err)
	}
}

// What is older than an hour goes, in bounded steps, and is not shown before it does.
func TestLoadOfMoreThanAnHourAgoGoes(t *testing.T) {
	w := setup(t)
	var ls []fleet.Load
	for i := range 5001 {
		ls = append(ls, w.loaded(fmt.Sprint("c", i), 1, w.middle(0).Add(-90*time.Minute)))
	}
	w.addLoad(w.node, append(ls, w.loaded("new", 1, w.middle(50)))...)
	clusters, _, err := w.app.ClusterLoads(t.Context(), w.tenant, w.fleet, nil, "", 0)
	if err != nil || len(clusters) != 1 || clusters[0].Cluster != "new" {
		t.Errorf("%v, %v", clusters, err)
	}
	n, err := w.app.SweepLoad(t.Context())
	if err != nil || n != 5001 {
		t.Errorf("%d are swept, %v", n, err)
	}
	if n := w.count(`SELECT count(*) FROM load_minutes`); n != 1 {
		t.Errorf("%d are left", n)
	}
}

// A cluster fails where a fifth of its requests did in the last minutes, of enough of them.
func TestFailingClusters(t *testing.T) {
	w := setup(t)
	of := func(cluster string, good, bad int64, ago int) fleet.Load {
		return fleet.Load{Key: w.key(), Middle: w.middle(ago), Cluster: cluster, Kind: fleet.LoadRequests, Issued: good + bad, Succeeded: good, Failed: bad}
	}
	w.addLoad(w.node, of("fails", 30, 5, 1), of("fails", 10, 5, 2), of("few", 0, 49, 1), of("good", 800, 199, 1), of("was", 0, 100, 10))
	ls, err := w.app.FailingClusters(t.Context(), w.tenant, w.fleet, 5*time.Minute, 50, 5)
	if err != nil || len(ls) != 1 || ls[0].Cluster != "fails" || ls[0].Failed != 10 || ls[0].Succeeded != 40 {
		t.Errorf("%+v, %v", ls, err)
	}
}
