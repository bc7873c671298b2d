package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead/internal/fleet"
)

// wayBuckets are of the time that a revision takes to its nodes, in seconds.
var wayBuckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// reportBuckets are of a report's time in the database, in seconds.
var reportBuckets = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5}

// Delivery is what an xDS server measures of revisions on their way to nodes, and of what it reports of them.
type Delivery struct {
	commitToSent, sentToACK, commitToACK prometheus.Observer
	reported                             map[bool]prometheus.Observer // by whether it was taken
	renewals                             map[bool]prometheus.Counter
	source[DeliveryState]
}

// DeliveryState is how an xDS server stands with its fleets.
type DeliveryState struct {
	Fleets     []FleetState
	Queued     int           // fleets whose report is due or under way
	Overdue    time.Duration // of the one that has waited for the longest time
	Unreported int           // refusals, and ends of refusals, that the database has not
	Renewed    time.Time     // when the lease was renewed last; zero: never
}

// FleetState is how one fleet stands.
type FleetState struct {
	Key           fleet.Key
	Nodes, Behind int           // nodes with streams here, and those of them that have not confirmed the newest revision
	For           time.Duration // for the longest of which that has been so
}

// newDelivery declares them. The clock of a commit is the database's, as far as a server knows it.
func newDelivery(s section, labels *fleetLabels) *Delivery {
	m := &Delivery{reported: map[bool]prometheus.Observer{}, renewals: map[bool]prometheus.Counter{}}
	way := func(name, help string) prometheus.Observer {
		return s.histogram(name, help, wayBuckets).WithLabelValues()
	}
	m.commitToSent = way("fairlead_revision_commit_to_sent_seconds", "From a revision's commit to the first response for it to a node, once for each revision and node that was sent something for it.")
	m.sentToACK = way("fairlead_revision_sent_to_ack_seconds", "From that response until the node has confirmed all that it subscribes to, once for each revision and node.")
	m.commitToACK = way("fairlead_revision_commit_to_ack_seconds", "From a revision's commit until the node has confirmed all that it subscribes to, once for each revision and node.")
	result := Label{"result", "`taken` or `failed`"}
	reports := s.histogram("fairlead_report_duration_seconds", "Reports of a fleet's nodes to the database.", reportBuckets, result)
	renewals := s.counter("fairlead_lease_renewals_total", "Attempts to renew the server's lease, every 2 s.", result)
	for taken, name := range map[bool]string{true: "taken", false: "failed"} {
		m.reported[taken], m.renewals[taken] = reports.WithLabelValues(name), renewals.WithLabelValues(name)
	}
	renewed := s.value("fairlead_lease_last_renewed_timestamp_seconds", Gauge, "When the lease was renewed last. It ends 6 s later: then other servers take this one for gone.")
	queued := s.value("fairlead_report_queue_fleets", Gauge, "Fleets whose report is due or under way.")
	overdue := s.value("fairlead_report_queue_overdue_seconds", Gauge, "How long the report that has waited most has been due.")
	unreported := s.value("fairlead_report_queue_refusals", Gauge, "Refusals, and ends of refusals, that the database has not yet.")
	nodes := s.value("fairlead_nodes", Gauge, "Nodes with streams here.")
	behind := s.value("fairlead_nodes_behind", Gauge, "Nodes with streams here that have not confirmed the newest revision of their fleet.")
	fleetsBehind := s.value("fairlead_fleets_behind", Gauge, "Fleets with such a node.")
	ofFleet := s.value("fairlead_fleet_nodes_behind", Gauge, "Nodes of the fleet with streams here that have not confirmed its newest revision.", byFleet()...)
	ofFleetFor := s.value("fairlead_fleet_behind_seconds", Gauge, "For how long the one of them that is behind for the longest time has been so. Of `other` it is the longest of all these fleets.", byFleet()...)
	s.reads(func(ch chan<- prometheus.Metric) {
		now, ok := m.now()
		if !ok {
			return
		}
		renewed.is(ch, timestamp(now.Renewed))
		queued.is(ch, float64(now.Queued))
		overdue.is(ch, now.Overdue.Seconds())
		unreported.is(ch, float64(now.Unreported))
		all := FleetState{}
		lagging := 0
		by := map[[2]string]FleetState{}
		for _, f := range now.Fleets {
			tenant, name := labels.look(f.Key)
			x := by[[2]string{tenant, name}]
			x.Behind, x.For = x.Behind+f.Behind, max(x.For, f.For)
			by[[2]string{tenant, name}] = x
			all.Nodes, all.Behind = all.Nodes+f.Nodes, all.Behind+f.Behind
			if f.Behind > 0 {
				lagging++
			}
		}
		nodes.is(ch, float64(all.Nodes))
		behind.is(ch, float64(all.Behind))
		fleetsBehind.is(ch, float64(lagging))
		for labels, x := range by {
			ofFleet.is(ch, float64(x.Behind), labels[0], labels[1])
			ofFleetFor.is(ch, x.For.Seconds(), labels[0], labels[1])
		}
	}, renewed, queued, overdue, unreported, nodes, behind, fleetsBehind, ofFleet, ofFleetFor)
	return m
}

// Sent counts a revision, committed so long ago, for which a node is sent something.
func (m *Delivery) Sent(sinceCommit time.Duration, e *Exemplar) {
	e.observe(m.commitToSent, commitToSent, sinceCommit)
}

// Acknowledged counts a revision that a node has confirmed. sinceSent is negative if it is not known.
func (m *Delivery) Acknowledged(sinceCommit, sinceSent time.Duration, e *Exemplar) {
	e.observe(m.commitToACK, commitToACK, sinceCommit)
	if sinceSent >= 0 {
		e.observe(m.sentToACK, sentToACK, sinceSent)
	}
}

// Reported counts a report, and how long the database took.
func (m *Delivery) Reported(taken bool, took time.Duration) { observe(m.reported[taken], took) }

// Renewed counts an attempt to renew the lease.
func (m *Delivery) Renewed(taken bool) { m.renewals[taken].Inc() }

// observe takes a time between two clocks, which may seem to be negative, for none then.
func observe(o prometheus.Observer, d time.Duration) { o.Observe(max(0, d).Seconds()) }

// timestamp is a time as Prometheus has it; 0 if it never was.
func timestamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
