package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fairlead/internal/fleet"
)

// readBuckets are of the time that reading a fleet takes, in seconds.
var readBuckets = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

// Held is what an xDS server measures of the fleets that it holds.
type Held struct {
	loaded, caughtUp prometheus.Observer
	failed           prometheus.Counter
	notified         prometheus.Counter
	denied           map[fleet.DeniedReason]prometheus.Counter
	source[HeldState]
}

// HeldState is what is held, and since when it is known to be the newest.
type HeldState struct {
	Fleets      int           // that have streams
	Unconfirmed time.Duration // how long it has not been known whether what is served is the newest, of the fleet where that is longest
	ClockAhead  time.Duration // of the database's clock before ours
	Listens     bool          // there is a connection for notifications
	Heard       time.Time     // when that was known to listen; zero: never
	MostStreams int           // that there may be
	Ends        time.Time     // when the next of the fleets' credentials expires; zero: none does
}

func newHeld(s section) *Held {
	m := &Held{denied: make(map[fleet.DeniedReason]prometheus.Counter)}
	reads := s.histogram("fairlead_fleet_read_duration_seconds", "From a fleet's turn to be read until its streams are woken, of readings that found something. Waiting for other fleets is included.", readBuckets,
		Label{"kind", "`load` of a whole fleet, or `catch_up`"})
	m.loaded, m.caughtUp = reads.WithLabelValues("load"), reads.WithLabelValues("catch_up")
	m.failed = s.counter("fairlead_fleet_read_failures_total", "Readings of a fleet that came to nothing. What is held is served on.").WithLabelValues()
	m.notified = s.counter("fairlead_notifications_total", "Notifications (NOTIFY) of fleets that have moved.").WithLabelValues()
	denied := s.counter("fairlead_xds_denied_total", "Clients that were not let in, or not given what they asked for, as the events `denied` tell their fleets. `token_wrong` has tokens of no fleet too.", Label{"reason", oneOf(fleet.DeniedReasons()...)})
	for _, reason := range fleet.DeniedReasons() {
		m.denied[reason] = denied.WithLabelValues(string(reason))
	}
	fleets := s.value("fairlead_fleets", Gauge, "Fleets with streams here.")
	unconfirmed := s.value("fairlead_fleets_unconfirmed_seconds", Gauge, "How long it has not been known whether what is served is the newest, of the fleet where that is longest. It is asked every 2 s (`--poll`).")
	ahead := s.value("fairlead_database_clock_offset_seconds", Gauge, "How far the database's clock is ahead of this server's. Times since a commit are corrected by it.")
	heard := s.value("fairlead_listener_last_heard_timestamp_seconds", Gauge, "When the connection that hears notifications was last known to listen: it is asked after 5 s of silence. 0 if it never was. It is not told with `--wakeup poll`.")
	most := s.value("fairlead_xds_streams_maximum", Gauge, "How many streams of discovery there may be (`--max-streams`). Half of them may be of one tenant, or of one credential.")
	ends := s.value("fairlead_node_credential_next_expiry_timestamp_seconds", Gauge, "When the next node credential of the fleets that are held expires. It is not told while none does.")
	s.reads(func(ch chan<- prometheus.Metric) {
		now, ok := m.now()
		if !ok {
			return
		}
		fleets.is(ch, float64(now.Fleets))
		unconfirmed.is(ch, now.Unconfirmed.Seconds())
		ahead.is(ch, now.ClockAhead.Seconds())
		most.is(ch, float64(now.MostStreams))
		if now.Listens {
			heard.is(ch, timestamp(now.Heard))
		}
		if !now.Ends.IsZero() {
			ends.is(ch, timestamp(now.Ends))
		}
	}, fleets, unconfirmed, ahead, heard, most, ends)
	return m
}

// Loaded counts the first reading of a fleet.
func (m *Held) Loaded(took time.Duration) { observe(m.loaded, took) }

// CaughtUp counts a reading of what has changed.
func (m *Held) CaughtUp(took time.Duration) { observe(m.caughtUp, took) }

// Failed counts a reading that came to nothing.
func (m *Held) Failed() { m.failed.Inc() }

// Notified counts a notification.
func (m *Held) Notified() { m.notified.Inc() }

// Denied counts what a fleet is told of somebody who was not let in, or not given what they asked for.
func (m *Held) Denied(r fleet.DeniedReason) {
	if c := m.denied[r]; c != nil {
		c.Inc()
	}
}
