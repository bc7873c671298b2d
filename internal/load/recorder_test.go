package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
)

var key = fleet.Key{Tenant: fleet.TenantID{1}, Fleet: fleet.ID{1}}

// at is a Recorder whose time stands still.
func at(now *time.Time, b Bounds) *Recorder {
	r := New(b)
	r.now = func() time.Time { return *now }
	return r
}

func requests(cluster string, n uint64) Report {
	return Report{Clusters: []Cluster{{Name: cluster, Localities: []Locality{{Place: At("eu", "", ""), Issued: n, Succeeded: n - 1, Failed: 1, InProgress: 2}}}}}
}

// sorted is what was taken, in one order.
func sorted(ls []fleet.Load) []fleet.Load {
	slices.SortFunc(ls, func(a, b fleet.Load) int {
		return strings.Compare(fmt.Sprint(a.Middle.Unix(), a.Cluster, a.Kind, a.Of, a.Region), fmt.Sprint(b.Middle.Unix(), b.Cluster, b.Kind, b.Of, b.Region))
	})
	return ls
}

// What nodes report is summed by minute, and what is in progress counts as long as the report is about.
func TestReportsAreSummedByMinute(t *testing.T) {
	t.Parallel()
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	r.Add(key, requests("a", 10), 10*time.Second)
	r.Add(key, requests("a", 20), 10*time.Second)
	full := requests("a", 5)
	full.Clusters[0].Interval = 20 * time.Second
	full.Clusters[0].Drops = []Drop{{"overload", 3}, {"overload", 4}}
	full.Clusters[0].Metrics = []Metric{{"queue", 2, 0.5}, {"queue", 2, -1.5}}
	now = now.Add(time.Minute)
	r.Add(key, full, 10*time.Second)
	other := fleet.Key{Tenant: key.Tenant, Fleet: fleet.ID{2}}
	r.Add(other, requests("a", 1), time.Second)

	taken, leftOut := r.Take()
	first, second := time.Unix(6030, 0), time.Unix(6090, 0)
	want := []fleet.Load{
		{Key: key, Middle: first, Cluster: "a", Kind: fleet.LoadRequests, Region: "eu", Issued: 30, Succeeded: 28, Failed: 2, InProgress: 40},
		{Key: key, Middle: second, Cluster: "a", Kind: fleet.LoadDrops, Of: "overload", Count: 7},
		{Key: key, Middle: second, Cluster: "a", Kind: fleet.LoadMetric, Of: "queue", Count: 4, Total: -1},
		{Key: key, Middle: second, Cluster: "a", Kind: fleet.LoadRequests, Region: "eu", Issued: 5, Succeeded: 4, Failed: 1, InProgress: 40},
		{Key: other, Middle: second, Cluster: "a", Kind: fleet.LoadRequests, Region: "eu", Issued: 1, Failed: 1, InProgress: 2},
	}
	got := sorted(taken)
	slices.SortStableFunc(got, func(a, b fleet.Load) int { return int(a.Fleet[0]) - int(b.Fleet[0]) })
	if d := cmp.Diff(want, got); d != "" || leftOut != 0 {
		t.Errorf("%d left out, (-want +got):\n%s", leftOut, d)
	}
	if again, _ := r.Take(); len(again) > 0 {
		t.Errorf("it gives the same twice: %v", again)
	}

	// What could not be written down is there again, with what came meanwhile.
	r.Add(key, requests("a", 100), 10*time.Second)
	r.Return(taken)
	if d := cmp.Diff(int64(105), sorted(first2(r))[0].Issued); d != "" {
		t.Error(d)
	}
}

// first2 are the requests of the second minute that r holds of key.
func first2(r *Recorder) (out []fleet.Load) {
	taken, _ := r.Take()
	for _, l := range taken {
		if l.Kind == fleet.LoadRequests && l.Key == key && l.Middle.Equal(time.Unix(6090, 0)) {
			out = append(out, l)
		}
	}
	return out
}

// Whatever nodes name, no more is held than the bounds say, and what is over is counted.
func TestT49_NoMoreIsHeldThanTheBoundsSay(t *testing.T) {
	t.Parallel()
	named := func(n int) (out Report) {
		for i := range n {
			out.Clusters = append(out.Clusters, requests(fmt.Sprint("c", i), 1).Clusters...)
		}
		return out
	}
	for _, x := range []struct {
		bounds Bounds
		held   int
	}{{Bounds{Fleet: 3}, 3}, {Bounds{Tenant: 4}, 4}, {Bounds{All: 5}, 5}} {
		now := time.Unix(6000, 0)
		r := at(&now, x.bounds)
		r.Add(key, named(10), time.Second)
		r.Add(key, requests("c0", 1), time.Second) // what is held goes on
		taken, leftOut := r.Take()
		if leftOut != int64(10-x.held) || len(taken) != x.held+1 {
			t.Errorf("%+v: %d are held and %d left out", x.bounds, len(taken)-1, leftOut)
		}
		for _, l := range taken {
			if l.Kind == fleet.LoadLeftOut && l.Count != leftOut || l.Cluster == "c0" && l.Issued != 2 {
				t.Errorf("%+v: %+v", x.bounds, l)
			}
		}
	}

	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	for i := range MaxMetrics + 5 {
		r.Add(key, Report{Clusters: []Cluster{{Name: "a", Metrics: []Metric{{fmt.Sprint("m", i), 1, 1}}}}}, time.Second)
	}
	if taken, leftOut := r.Take(); len(taken) != MaxMetrics+1 || leftOut != 5 {
		t.Errorf("%d metrics of a cluster, %d left out", len(taken)-1, leftOut)
	}
}

// TestT49_EndpointsLeaveRoom: counts of endpoints take half of the room at most, and of a cluster so many; they are in no other sum.
func TestT49_EndpointsLeaveRoom(t *testing.T) {
	t.Parallel()
	to := func(cluster string, n int) (out Report) {
		l := Locality{Place: At("eu", "", ""), Issued: uint64(n)} //nolint:gosec // small
		for i := range n {
			l.Endpoints = append(l.Endpoints, Endpoint{Address: fmt.Sprint("e", i), Issued: 1, InProgress: 2})
		}
		return Report{Clusters: []Cluster{{Name: cluster, Localities: []Locality{l}}}}
	}
	for _, b := range []Bounds{{Fleet: 6}, {Tenant: 6}, {All: 6}} {
		now := time.Unix(6000, 0)
		r := at(&now, b)
		r.Add(key, to("a", 5), time.Second)
		for i := range 4 {
			r.Add(key, requests(fmt.Sprint("b", i), 2), time.Second)
		}
		kinds := map[fleet.LoadKind]int64{}
		taken, leftOut := r.Take()
		for _, l := range taken {
			kinds[l.Kind]++
			if l.Kind == fleet.LoadEndpoint && (l.Issued != 1 || l.InProgress != 2 || l.Region != "eu") || l.Kind == fleet.LoadRequests && l.Cluster == "a" && l.Issued != 5 {
				t.Errorf("%+v: %+v", b, l)
			}
		}
		if kinds[fleet.LoadEndpoint] != 2 || kinds[fleet.LoadRequests] != 4 || leftOut != 4 {
			t.Errorf("%+v: %v, %d left out", b, kinds, leftOut)
		}
	}
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	r.Add(key, to("a", 2*MaxEndpoints+3), time.Second)
	if taken, leftOut := r.Take(); len(taken) != 2*MaxEndpoints+2 || leftOut != 3 {
		t.Errorf("%d sums of a cluster, %d left out", len(taken), leftOut)
	}
}

// TestT49_AMinuteHasItsBoundsHoweverOftenItIsWrittenDown: nodes that name others each time get no more rows than in one report.
func TestT49_AMinuteHasItsBoundsHoweverOftenItIsWrittenDown(t *testing.T) {
	t.Parallel()
	named := func(from, n int) (out Report) {
		for i := range n {
			out.Clusters = append(out.Clusters, requests(fmt.Sprint("c", from+i), 2).Clusters...)
		}
		return out
	}
	for _, b := range []Bounds{{Fleet: 3}, {Tenant: 3}, {All: 3}} {
		now := time.Unix(6000, 0)
		r := at(&now, b)
		rows := map[string]int64{}
		var over int64
		report := func(rep Report) {
			r.Add(key, rep, time.Second)
			ls, leftOut := r.Take()
			for _, l := range ls {
				if l.Kind == fleet.LoadRequests {
					rows[l.Cluster] += l.Issued
				}
			}
			over += leftOut
			now = now.Add(10 * time.Second)
		}
		for i := range 6 {
			report(named(3*i, 3))
		}
		if len(rows) != 3 || over != 15 {
			t.Errorf("%+v: a minute has %d rows and %d are left out", b, len(rows), over)
		}
		now = time.Unix(6030, 0)
		report(named(0, 4)) // those that it has go on
		if len(rows) != 3 || rows["c0"] != 4 || over != 16 {
			t.Errorf("%+v: then the rows are %v and %d are left out", b, rows, over)
		}
		now = time.Unix(6060, 0)
		report(named(100, 3)) // the next minute has its own
		if len(rows) != 6 || over != 16 {
			t.Errorf("%+v: in the next minute the rows are %v and %d are left out", b, rows, over)
		}
	}

	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	rows := 0
	for i := range MaxMetrics + 5 {
		r.Add(key, Report{Clusters: []Cluster{{Name: "a", Metrics: []Metric{{fmt.Sprint("m", i), 1, 1}}}}}, time.Second)
		ls, _ := r.Take()
		for _, l := range ls {
			if l.Kind == fleet.LoadMetric {
				rows++
			}
		}
	}
	if rows != MaxMetrics {
		t.Errorf("%d metrics of a cluster in a minute", rows)
	}
}

// No number that a node says makes a sum overflow.
func TestT49_SumsDoNotOverflow(t *testing.T) {
	t.Parallel()
	now := time.Unix(6000, 0)
	r := at(&now, Bounds{})
	for range 3 {
		r.Add(key, Report{LeftOut: math.MaxInt64, Clusters: []Cluster{{
			Name: "a", Interval: math.MaxInt64,
			Localities: []Locality{{Issued: math.MaxUint64, Succeeded: math.MaxUint64, Failed: math.MaxUint64, InProgress: math.MaxUint64}},
			Drops:      []Drop{{"", math.MaxUint64}},
			Metrics:    []Metric{{"up", math.MaxUint64, math.Inf(1)}, {"down", 1, -math.MaxFloat64}, {"none", 1, math.NaN()}},
		}}}, time.Second)
	}
	taken, leftOut := r.Take()
	if leftOut != fleet.MostLoad || len(taken) != 6 {
		t.Errorf("%d left out, %d sums", leftOut, len(taken))
	}
	for _, l := range taken {
		for _, n := range []float64{float64(l.Issued), float64(l.Succeeded), float64(l.Failed), float64(l.Count), l.InProgress, math.Abs(l.Total)} {
			if n < 0 || n > fleet.MostLoad || math.IsNaN(n) {
				t.Errorf("%+v", l)
			}
		}
		if l.Of == "down" && l.Total != -fleet.MostLoad || l.Of == "none" && l.Total != 0 {
			t.Errorf("%+v", l)
		}
	}
}
