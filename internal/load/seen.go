package load

import "fairlead/internal/fleet"

const (
	// tellEvery is how often it is told that a cluster is reported, or called, in minutes.
	tellEvery = 5
	// forgetAfter is after how many minutes a cluster is forgotten that nobody reports. Idle ones are reported once in ten.
	forgetAfter = 25
)

// seen is which clusters nodes report, and which nodes report all that they have, as far as it is to be told. It grows with the clusters of the fleets whose nodes
// report, and between two times that it is told with these nodes. The Recorder's lock guards it.
type seen struct {
	clusters map[fleet.Key]map[string]*sighting // "": of some cluster a report was left out
	held     map[fleet.TenantID]int             // clusters
	all      int                                // clusters
	nodes    map[fleet.NodeSeen]bool            // to be told
	nodesOf  map[fleet.TenantID]int             // how many of nodes are the tenant's: half of the room at most
}

// sighting is in which minute a cluster was reported and called last, and which of these were told; 0: none.
type sighting struct {
	reported, called         int64
	toldReported, toldCalled int64
}

func newSeen() seen {
	return seen{clusters: map[fleet.Key]map[string]*sighting{}, held: map[fleet.TenantID]int{}, nodes: map[fleet.NodeSeen]bool{}, nodesOf: map[fleet.TenantID]int{}}
}

// note takes in what a report of minute n says of clusters, apart from sums: those may have no room for it.
func (r *Recorder) note(key fleet.Key, n int64, report *Report) {
	blind := report.Cut
	for i := range report.Clusters {
		s := r.sighting(key, report.Clusters[i].Name)
		if s == nil {
			blind = true
			continue
		}
		s.reported, s.called = n, n
	}
	for _, name := range report.Idle {
		if s := r.sighting(key, name); s != nil { // of what is not known to be idle nothing is said
			s.reported = n
		}
	}
	if blind {
		if s := r.sighting(key, ""); s != nil {
			s.reported = n
		}
	}
	if report.Node != "" {
		r.reports(fleet.NodeSeen{Key: key, Node: report.Node})
	}
}

// reports notes a node that reports all its clusters, if there is room.
func (r *Recorder) reports(of fleet.NodeSeen) {
	s := &r.seen
	if s.nodes[of] || len(s.nodes) >= r.bounds.Nodes || s.nodesOf[of.Tenant] >= (r.bounds.Nodes+1)/2 {
		return
	}
	s.nodes[of] = true
	s.nodesOf[of.Tenant]++
}

// sighting returns nil where there is no room for one more. For "" there is, once in a fleet.
func (r *Recorder) sighting(key fleet.Key, cluster string) *sighting {
	of := r.seen.clusters[key]
	if s := of[cluster]; s != nil {
		return s
	}
	if b := r.bounds; cluster != "" && (len(of) >= b.FleetClusters || r.seen.held[key.Tenant] >= b.TenantClusters || r.seen.all >= b.Clusters) {
		return nil
	}
	if of == nil {
		of = map[string]*sighting{}
		r.seen.clusters[key] = of
	}
	s := &sighting{}
	of[cluster] = s
	r.seen.held[key.Tenant]++
	r.seen.all++
	return s
}

// TakeSeen gives away what is to be told of clusters and nodes: of a cluster once in five minutes that it is reported, and that it is called.
func (r *Recorder) TakeSeen() (out fleet.LoadSeen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.now().Unix() / 60
	for key, of := range r.seen.clusters {
		for name, s := range of {
			s.reported, s.toldReported = setBack(s.reported, s.toldReported, n)
			s.called, s.toldCalled = setBack(s.called, s.toldCalled, n)
			if s.reported-s.toldReported >= tellEvery || s.called-s.toldCalled >= tellEvery {
				out.Clusters = append(out.Clusters, fleet.ClusterSeen{Key: key, Cluster: name, Called: s.called > s.toldCalled})
				s.toldReported, s.toldCalled = s.reported, s.called
			}
			if n-s.reported > forgetAfter {
				r.forget(key, name)
			}
		}
	}
	for of := range r.seen.nodes {
		out.Nodes = append(out.Nodes, of)
	}
	clear(r.seen.nodes)
	clear(r.seen.nodesOf)
	return out
}

// setBack is for a clock that was ahead and was set back: what it told counts for nothing, else nothing would be told until the clock is there again. What was
// not told yet is of now.
func setBack(last, told, now int64) (int64, int64) {
	switch {
	case told > now && last == told:
		return 0, 0
	case told > now:
		told = 0
	}
	return min(last, now), told
}

func (r *Recorder) forget(key fleet.Key, name string) {
	of := r.seen.clusters[key]
	if delete(of, name); len(of) == 0 {
		delete(r.seen.clusters, key)
	}
	r.seen.all--
	if r.seen.held[key.Tenant]--; r.seen.held[key.Tenant] == 0 {
		delete(r.seen.held, key.Tenant)
	}
}

// ReturnSeen takes back what was taken and could not be written down: it is given away the next time.
func (r *Recorder) ReturnSeen(back fleet.LoadSeen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range back.Clusters {
		s := r.sighting(c.Key, c.Cluster)
		switch {
		case s == nil && !c.Called:
			continue
		case s == nil:
			if s = r.sighting(c.Key, ""); s == nil {
				continue
			}
			s.reported, s.toldReported = r.now().Unix()/60, 0
			continue
		}
		s.toldReported = 0
		if s.reported == 0 { // it was forgotten meanwhile
			s.reported = r.now().Unix() / 60
		}
		if c.Called {
			s.toldCalled, s.called = 0, max(s.called, s.reported)
		}
	}
	for _, of := range back.Nodes {
		r.reports(of)
	}
}
