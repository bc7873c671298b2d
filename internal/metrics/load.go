package metrics

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

// mostOfCluster is how many localities, categories of drops and named metrics of one cluster have series of their own, each.
const mostOfCluster = 16

// longestInterval is the longest interval that a report is believed to be about.
const longestInterval = time.Minute

// Loads are what proxies report of their load, by cluster. It is off where no cluster is to have series.
type Loads struct {
	most int // clusters with series of their own

	issued, ended, inProgress, dropped, told *prometheus.CounterVec
	value                                    *prometheus.GaugeVec

	mu       sync.Mutex // guards clusters, and what they hold
	clusters map[loadOf]*loadCluster
	owned    map[fleet.TenantID]int // clusters of a tenant; it has half of them at most, as their names are what proxies say
	all      int                    // clusters
}

// loadOf is a cluster of a fleet; the zero one is for all that have no series of their own.
type loadOf struct {
	key     fleet.Key
	cluster string
}

// loadCluster is what is counted of one cluster.
type loadCluster struct {
	labels     [3]string // tenant, fleet and cluster
	localities map[string]*loadLocality
	drops      map[string]prometheus.Counter
	metrics    map[string]*loadMetric
}

type loadLocality struct{ issued, succeeded, failed, inProgress prometheus.Counter }

type loadMetric struct {
	told  prometheus.Counter
	value prometheus.Gauge
}

func newLoads(s section, most int) *Loads {
	labels := func(more ...Label) []Label {
		return append(append(byFleet(), Label{"cluster", "the cluster's name, or `other`"}), more...)
	}
	locality := Label{"locality", "`region/zone/sub_zone`, or `other`"}
	return &Loads{
		most: most, clusters: map[loadOf]*loadCluster{}, owned: map[fleet.TenantID]int{},
		issued: s.counter("fairlead_load_issued_requests_total", "Requests that proxies have begun.", labels(locality)...),
		ended:  s.counter("fairlead_load_requests_total", "Requests that have ended.", labels(locality, Label{"result", "`successful` or `error`"})...),
		inProgress: s.counter("fairlead_load_in_progress_seconds_total", "Requests in progress at the end of each report, times the seconds that it is about: the rate is how many there are on average.",
			labels(locality)...),
		dropped: s.counter("fairlead_load_dropped_requests_total", "Requests that proxies did not send.", labels(Label{"category", "as the proxy says, empty if it does not, or `other`"})...),
		told:    s.counter("fairlead_load_named_metric_requests_total", "Requests with which backends told a named metric.", labels(Label{"metric", "its name, or `other`"})...),
		value: s.gauge("fairlead_load_named_metric_value", "What they told, added up since the start. Its increase divided by that of the requests is the mean.",
			labels(Label{"metric", "its name, or `other`"})...),
	}
}

// Add counts a report of a node. interval is what it is about where it does not say.
func (m *Loads) Add(key fleet.Key, r *load.Report, interval time.Duration) {
	if m.most == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range r.Clusters {
		c := &r.Clusters[i]
		about := interval
		if c.Interval > 0 {
			about = c.Interval
		}
		m.addLocked(m.clusterLocked(key, c.Name), c, min(about, longestInterval).Seconds())
	}
}

func (m *Loads) addLocked(to *loadCluster, c *load.Cluster, seconds float64) {
	for _, l := range c.Localities {
		region, zone, subZone := l.Place.Names()
		x := m.localityLocked(to, strings.Join([]string{region, zone, subZone}, "/"))
		x.issued.Add(believed(l.Issued))
		x.succeeded.Add(believed(l.Succeeded))
		x.failed.Add(believed(l.Failed))
		x.inProgress.Add(seconds * believed(l.InProgress))
	}
	for _, d := range c.Drops {
		own(to.drops, d.Category, func(name string) prometheus.Counter { return m.dropped.WithLabelValues(to.with(name)...) }).Add(believed(d.Count))
	}
	for _, x := range c.Metrics {
		of := own(to.metrics, x.Name, func(name string) *loadMetric {
			return &loadMetric{m.told.WithLabelValues(to.with(name)...), m.value.WithLabelValues(to.with(name)...)}
		})
		of.told.Add(believed(x.Count))
		if !math.IsNaN(x.Total) {
			of.value.Add(max(-fleet.MostLoad, min(x.Total, fleet.MostLoad)))
		}
	}
}

// believed is a number as far as it is believed.
func believed(n uint64) float64 { return float64(min(n, fleet.MostLoad)) }

func (m *Loads) clusterLocked(key fleet.Key, name string) *loadCluster {
	of := loadOf{key, name}
	if m.clusters[of] == nil && (m.all >= m.most || m.owned[key.Tenant] >= (m.most+1)/2) {
		of = loadOf{}
	}
	c := m.clusters[of]
	if c == nil {
		c = &loadCluster{[3]string{other, other, other}, map[string]*loadLocality{}, map[string]prometheus.Counter{}, map[string]*loadMetric{}}
		if of != (loadOf{}) {
			c.labels = [3]string{key.Tenant.String(), key.Fleet.String(), name}
			m.owned[key.Tenant]++
			m.all++
		}
		m.clusters[of] = c
	}
	return c
}

func (m *Loads) localityLocked(to *loadCluster, name string) *loadLocality {
	return own(to.localities, name, func(name string) *loadLocality {
		return &loadLocality{
			issued: m.issued.WithLabelValues(to.with(name)...), inProgress: m.inProgress.WithLabelValues(to.with(name)...),
			succeeded: m.ended.WithLabelValues(to.with(name, "successful")...), failed: m.ended.WithLabelValues(to.with(name, "error")...),
		}
	})
}

// with are the values of the labels with these behind the cluster's.
func (c *loadCluster) with(more ...string) []string {
	return append(c.labels[:len(c.labels):len(c.labels)], more...)
}

// own is what there is of a name, a new one if there is room, or that of all others.
func own[V any](all map[string]V, name string, begin func(name string) V) V {
	v, ok := all[name]
	if !ok && len(all) >= mostOfCluster {
		name = other
		v, ok = all[name]
	}
	if !ok {
		v = begin(name)
		all[name] = v
	}
	return v
}
