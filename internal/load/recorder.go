package load

import (
	"maps"
	"math"
	"sync"
	"time"

	"fairlead/internal/fleet"
)

// Bounds are of what a Recorder holds, in sums: a locality of a cluster in a minute is one, and so is a category of drops and a metric. Zero values become the
// defaults.
type Bounds struct {
	Fleet  int // in a minute; 4,000
	Tenant int // in this minute, and in those that are not written down yet; 20,000
	All    int // the same, of all tenants; 100,000
	// Clusters of which it is known when they were reported and called, of a fleet (10,000), a tenant (40,000) and all (200,000).
	FleetClusters, TenantClusters, Clusters int
	Nodes                                   int // that report all their clusters, between two times that it is told; 40,000
}

const (
	// keptFor is how old a minute gets while the database is away.
	keptFor = time.Hour
	// longest is the longest interval that a report is believed to be about: requests in progress count as often as that.
	longest = time.Minute
)

// Recorder holds sums until Flush gives them away. It is safe for concurrent use.
type Recorder struct {
	bounds Bounds
	now    func() time.Time

	mu      sync.Mutex // guards what follows
	minutes map[minuteOf]*minute
	current int64                  // the minute of the last turn
	held    map[fleet.TenantID]int // sums
	all     int                    // sums
	leftOut int64                  // since it was told
	seen    seen
}

// minuteOf is a minute of a fleet, as this process counts them.
type minuteOf struct {
	fleet.Key
	n int64
}

type minute struct {
	sums    map[part]*sum     // one that was given away is zero
	counts  map[ofCluster]int // of sums
	leftOut int64
}

// part is what a sum is of.
type part struct {
	cluster string
	kind    fleet.LoadKind
	of      string
	place   Place
}

// ofCluster are the sums of one kind of a cluster.
type ofCluster struct {
	cluster string
	kind    fleet.LoadKind
}

// most is how many sums of a kind a cluster has in a minute, of all nodes.
var most = map[fleet.LoadKind]int{fleet.LoadRequests: 2 * MaxLocalities, fleet.LoadDrops: MaxCategories, fleet.LoadMetric: MaxMetrics, fleet.LoadEndpoint: 2 * MaxEndpoints}

type sum struct {
	issued, succeeded, failed, count int64
	inProgress, total                float64
}

func (b Bounds) withDefaults() Bounds {
	for of, usual := range map[*int]int{&b.Fleet: 4000, &b.Tenant: 20_000, &b.All: 100_000, &b.FleetClusters: 10_000, &b.TenantClusters: 40_000, &b.Clusters: 200_000, &b.Nodes: 40_000} {
		if *of == 0 {
			*of = usual
		}
	}
	return b
}

// Part is what each of so many Recorders may hold, so that all of them hold no more than one would.
func (b Bounds) Part(of int) Bounds {
	b = b.withDefaults()
	b.All, b.Clusters, b.Nodes = max(1, b.All/of), max(1, b.Clusters/of), max(1, b.Nodes/of)
	b.Tenant, b.TenantClusters = min(b.Tenant, b.All), min(b.TenantClusters, b.Clusters)
	b.Fleet, b.FleetClusters = min(b.Fleet, b.Tenant), min(b.FleetClusters, b.TenantClusters)
	return b
}

// New returns a Recorder that holds nothing.
func New(b Bounds) *Recorder {
	return &Recorder{bounds: b.withDefaults(), now: time.Now, minutes: map[minuteOf]*minute{}, held: map[fleet.TenantID]int{}, seen: newSeen()}
}

// Add takes in a report of a node of the fleet. interval is what it is about where it does not say.
func (r *Recorder) Add(key fleet.Key, report Report, interval time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.now().Unix() / 60
	if n != r.current {
		r.turn(n)
	}
	m := r.minute(minuteOf{key, n})
	r.leave(m, report.LeftOut)
	for i := range report.Clusters {
		r.cluster(key, m, &report.Clusters[i], interval)
	}
	r.note(key, n, &report)
}

func (r *Recorder) minute(of minuteOf) *minute {
	m := r.minutes[of]
	if m == nil {
		m = &minute{sums: map[part]*sum{}, counts: map[ofCluster]int{}}
		r.minutes[of] = m
	}
	return m
}

// leave counts what is left out.
func (r *Recorder) leave(m *minute, n int64) {
	m.leftOut, r.leftOut = plus(m.leftOut, n), plus(r.leftOut, n)
}

func (r *Recorder) cluster(key fleet.Key, m *minute, c *Cluster, interval time.Duration) {
	if c.Interval > 0 {
		interval = c.Interval
	}
	seconds := min(interval, longest).Seconds()
	for _, l := range c.Localities {
		p := part{cluster: c.Name, kind: fleet.LoadRequests, place: l.Place}
		r.sum(key, m, p).requests(l.Issued, l.Succeeded, l.Failed, l.InProgress, seconds)
		for _, e := range l.Endpoints {
			p.kind, p.of = fleet.LoadEndpoint, e.Address
			r.sum(key, m, p).requests(e.Issued, e.Succeeded, e.Failed, e.InProgress, seconds)
		}
	}
	for _, d := range c.Drops {
		if s := r.sum(key, m, part{cluster: c.Name, kind: fleet.LoadDrops, of: d.Category}); s != nil {
			s.count = plus(s.count, number(d.Count))
		}
	}
	for _, x := range c.Metrics {
		if s := r.sum(key, m, part{cluster: c.Name, kind: fleet.LoadMetric, of: x.Name}); s != nil {
			s.count, s.total = plus(s.count, number(x.Count)), add(s.total, x.Total)
		}
	}
}

// requests adds some, of which some were in progress for so long. Of nil they are left out.
func (s *sum) requests(issued, succeeded, failed, inProgress uint64, seconds float64) {
	if s == nil {
		return
	}
	s.issued, s.succeeded, s.failed = plus(s.issued, number(issued)), plus(s.succeeded, number(succeeded)), plus(s.failed, number(failed))
	s.inProgress = add(s.inProgress, seconds*float64(number(inProgress)))
}

// sum returns nil where there is no room for one more.
func (r *Recorder) sum(key fleet.Key, m *minute, p part) *sum {
	if s := m.sums[p]; s != nil {
		return s
	}
	of, room := ofCluster{p.cluster, p.kind}, r.bounds
	if p.kind == fleet.LoadEndpoint { // there may be many: half of the room is left for all else
		room.Fleet, room.Tenant, room.All = room.Fleet/2, room.Tenant/2, room.All/2
	}
	if len(m.sums) >= room.Fleet || r.held[key.Tenant] >= room.Tenant || r.all >= room.All || m.counts[of] >= most[p.kind] {
		r.leave(m, 1)
		return nil
	}
	m.counts[of]++
	r.held[key.Tenant]++
	r.all++
	s := &sum{}
	m.sums[p] = s
	return s
}

// Take gives away all that there is, and how much was left out since the last time. What has a sum in the minute that goes on keeps its place until the
// minute is over.
func (r *Recorder) Take() (out []fleet.Load, leftOut int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for of, m := range r.minutes {
		if middle := time.Unix(of.n*60+30, 0); now.Sub(middle) <= keptFor {
			out = m.given(out, of.Key, middle)
		}
		m.leftOut = 0
		for _, s := range m.sums {
			*s = sum{}
		}
	}
	r.turn(now.Unix() / 60)
	leftOut, r.leftOut = r.leftOut, 0
	return out, leftOut
}

// given appends all that the minute has.
func (m *minute) given(out []fleet.Load, key fleet.Key, middle time.Time) []fleet.Load {
	for p, s := range m.sums {
		if *s == (sum{}) {
			continue
		}
		region, zone, subZone := p.place.Names()
		out = append(out, fleet.Load{
			Key: key, Middle: middle, Cluster: p.cluster, Kind: p.kind, Of: p.of, Region: region, Zone: zone, SubZone: subZone,
			Issued: s.issued, Succeeded: s.succeeded, Failed: s.failed, InProgress: s.inProgress, Count: s.count, Total: s.total,
		})
	}
	if m.leftOut > 0 {
		out = append(out, fleet.Load{Key: key, Middle: middle, Kind: fleet.LoadLeftOut, Count: m.leftOut})
	}
	return out
}

// turn begins a minute: of the others only what was not given away has a place.
func (r *Recorder) turn(n int64) {
	r.current, r.all = n, 0
	clear(r.held)
	for of, m := range r.minutes {
		if of.n != n {
			maps.DeleteFunc(m.sums, func(p part, s *sum) bool {
				given := *s == sum{}
				if given {
					m.counts[ofCluster{p.cluster, p.kind}]--
				}
				return given
			})
			if len(m.sums) == 0 && m.leftOut == 0 {
				delete(r.minutes, of)
				continue
			}
		}
		r.held[of.Tenant] += len(m.sums)
		r.all += len(m.sums)
	}
}

// Return takes back what was taken and could not be written down, as far as there is room.
func (r *Recorder) Return(back []fleet.Load) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range back {
		m := r.minute(minuteOf{l.Key, l.Middle.Unix() / 60})
		if l.Kind == fleet.LoadLeftOut {
			m.leftOut = plus(m.leftOut, l.Count)
			continue
		}
		s := r.sum(l.Key, m, part{cluster: l.Cluster, kind: l.Kind, of: l.Of, place: At(l.Region, l.Zone, l.SubZone)})
		if s != nil {
			s.issued, s.succeeded, s.failed, s.count = plus(s.issued, l.Issued), plus(s.succeeded, l.Succeeded), plus(s.failed, l.Failed), plus(s.count, l.Count)
			s.inProgress, s.total = add(s.inProgress, l.InProgress), add(s.total, l.Total)
		}
	}
}

// number is what a proxy says, as far as it is believed.
func number(n uint64) int64 { return int64(min(n, fleet.MostLoad)) } //nolint:gosec // bounded

func plus(a, b int64) int64 { return min(a+min(b, fleet.MostLoad), fleet.MostLoad) }

func add(a, b float64) float64 {
	if math.IsNaN(b) {
		return a
	}
	return max(-fleet.MostLoad, min(a+max(-fleet.MostLoad, min(b, fleet.MostLoad)), fleet.MostLoad))
}
