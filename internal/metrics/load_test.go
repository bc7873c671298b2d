package metrics

import (
	"fmt"
	"math"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

func TestLoadIsToldByCluster(t *testing.T) {
	t.Parallel()
	r := New(XDS, Config{LoadClusters: 1})
	key := newKey()
	report := load.Report{Clusters: []load.Cluster{{
		Name: "a", Interval: 20 * time.Second,
		Localities: []load.Locality{{Place: load.At("eu", "1", ""), Issued: 10, Succeeded: 7, Failed: 2, InProgress: 3}},
		Drops:      []load.Drop{{Category: "overload", Count: 4}, {Count: 1}},
		Metrics:    []load.Metric{{Name: "queue", Count: 2, Total: -1.5}, {Name: "nothing", Total: math.NaN()}},
	}}}
	r.Loads.Add(key, &report, 10*time.Second)
	r.Loads.Add(key, &report, 10*time.Second)
	r.Loads.Add(newKey(), &load.Report{Clusters: []load.Cluster{{Name: "b", Localities: []load.Locality{{Issued: math.MaxUint64, InProgress: 1}}}}}, time.Hour)
	all := gathered(t, r)
	of := []string{"tenant", key.Tenant.String(), "fleet", key.Fleet.String(), "cluster", "a"}
	for _, c := range []struct {
		metric string
		labels []string
		want   float64
	}{
		{"fairlead_load_issued_requests_total", append(of, "locality", "eu/1/"), 20},
		{"fairlead_load_requests_total", append(of, "locality", "eu/1/", "result", "successful"), 14},
		{"fairlead_load_requests_total", append(of, "locality", "eu/1/", "result", "error"), 4},
		{"fairlead_load_in_progress_seconds_total", append(of, "locality", "eu/1/"), 120},
		{"fairlead_load_dropped_requests_total", append(of, "category", "overload"), 8},
		{"fairlead_load_dropped_requests_total", append(of, "category", ""), 2},
		{"fairlead_load_named_metric_requests_total", append(of, "metric", "queue"), 4},
		{"fairlead_load_named_metric_value", append(of, "metric", "queue"), -3},
		{"fairlead_load_named_metric_value", append(of, "metric", "nothing"), 0},
		{"fairlead_load_issued_requests_total", []string{"tenant", other, "fleet", other, "cluster", other, "locality", "//"}, fleet.MostLoad},
		{"fairlead_load_in_progress_seconds_total", []string{"cluster", other}, 60},
	} {
		if got := sum(all[c.metric], c.labels...); got != c.want {
			t.Errorf("%s %q is %v, want %v", c.metric, c.labels, got, c.want)
		}
	}
}

// Names that proxies report make no more series than so many.
func TestSeriesOfLoadAreBounded(t *testing.T) {
	t.Parallel()
	r := New(XDS, Config{LoadClusters: 3})
	var c load.Cluster
	for i := range 100 {
		c.Localities = append(c.Localities, load.Locality{Place: load.At("", fmt.Sprint(i), ""), Issued: 1})
		c.Drops = append(c.Drops, load.Drop{Category: fmt.Sprint(i), Count: 1})
		c.Metrics = append(c.Metrics, load.Metric{Name: fmt.Sprint(i), Count: 1})
	}
	for i := range 10 {
		c.Name = fmt.Sprint("c", i)
		r.Loads.Add(newKey(), &load.Report{Clusters: []load.Cluster{c}}, time.Second)
	}
	all := gathered(t, r)
	for _, metric := range []string{"fairlead_load_issued_requests_total", "fairlead_load_dropped_requests_total", "fairlead_load_named_metric_requests_total"} {
		if n, total := len(all[metric].GetMetric()), sum(all[metric]); n != 4*(mostOfCluster+1) || total != 1000 {
			t.Errorf("%s has %d series of %v, want %d of 1000", metric, n, total, 4*(mostOfCluster+1))
		}
	}
}

func TestLoadIsOffByDefault(t *testing.T) {
	t.Parallel()
	r := New(XDS, Config{Fleets: 10})
	use(r)
	for name := range gathered(t, r) {
		if len(name) > 14 && name[:14] == "fairlead_load_" {
			t.Errorf("%s is told", name)
		}
	}
}
