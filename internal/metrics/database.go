package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Lane is which connections a call of the database may take.
type Lane int

// The lanes, as package store has them.
const (
	LaneRequest Lane = iota
	LaneReload
	LaneFollow
	LaneReport
	LaneLease

	numLanes = 5
)

var laneNames = [numLanes]string{LaneRequest: "request", LaneReload: "reload", LaneFollow: "follow", LaneReport: "report", LaneLease: "lease"}

// Failure is what became of a call of the database that failed.
type Failure int

// The failures.
const (
	FailedTimeout     Failure = iota // it took too long, or waited too long for its turn
	FailedUnavailable                // the database does not answer
	FailedFull                       // its disk has no room
	FailedRefused                    // it says no: conflicts and broken preconditions are among these
	FailedGivenUp                    // its caller has gone

	numFailures = 5
)

var failureNames = [numFailures]string{
	FailedTimeout: "timeout", FailedUnavailable: "unavailable", FailedFull: "full", FailedRefused: "refused", FailedGivenUp: "given_up",
}

// callBuckets are of the time of a call, or of its wait, in seconds.
var callBuckets = []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5}

// databases are those of each program.
type databases struct{ of map[Program]*Database }

// Database is what a program measures of its calls of the database.
type Database struct {
	waited, worked [numLanes]prometheus.Observer
	failed         [numFailures]prometheus.Counter
	source[[]PoolState]
}

// PoolState is one pool of connections.
type PoolState struct {
	Pool                             string
	Idle, Acquired, Opening, Maximum int32
	Opened                           int64 // since the start
}

func newDatabases(s section) databases {
	program, lane := Label{"program", oneOf(API, XDS)}, Label{"lane", oneOf(laneNames[:]...) + "; an API server has `request` alone"}
	waits := s.histogram("fairlead_database_wait_seconds", "How long calls waited for their turn and for a connection.", callBuckets, program, lane)
	works := s.histogram("fairlead_database_call_seconds", "How long calls took from then on: each is one transaction and one round trip.", callBuckets, program, lane)
	failures := s.counter("fairlead_database_failures_total", "Calls that failed.", program, Label{"reason", oneOf(failureNames[:]...)})
	pool := Label{"pool", "`shared`, or `vital` for an xDS server's lease and reports"}
	connections := s.value("fairlead_database_connections", Gauge, "Connections.", program, pool, Label{"state", "`idle`, `acquired` or `opening`"})
	most := s.value("fairlead_database_connections_maximum", Gauge, "How many there may be.", program, pool)
	opened := s.value("fairlead_database_connections_opened_total", Counter, "Connections that were opened.", program, pool)
	all := databases{of: make(map[Program]*Database)}
	for _, p := range []Program{API, XDS} {
		m := &Database{}
		all.of[p] = m
		if !s.tells(p) {
			continue
		}
		for l, name := range laneNames {
			if p == XDS || Lane(l) == LaneRequest {
				m.waited[l], m.worked[l] = waits.WithLabelValues(string(p), name), works.WithLabelValues(string(p), name)
			}
		}
		for f, name := range failureNames {
			m.failed[f] = failures.WithLabelValues(string(p), name)
		}
	}
	s.reads(func(ch chan<- prometheus.Metric) {
		for _, p := range []Program{API, XDS} {
			pools, _ := all.of[p].now()
			for _, x := range pools {
				connections.is(ch, float64(x.Idle), string(p), x.Pool, "idle")
				connections.is(ch, float64(x.Acquired), string(p), x.Pool, "acquired")
				connections.is(ch, float64(x.Opening), string(p), x.Pool, "opening")
				most.is(ch, float64(x.Maximum), string(p), x.Pool)
				opened.is(ch, float64(x.Opened), string(p), x.Pool)
			}
		}
	}, connections, most, opened)
	return all
}

// Database is that of a program: both have one in a process of both.
func (r *Registry) Database(of Program) *Database { return r.databases.of[of] }

// Waited counts the wait of a call.
func (m *Database) Waited(l Lane, d time.Duration) {
	if o := m.waited[l]; o != nil {
		observe(o, d)
	}
}

// Worked counts how long the database took for a call.
func (m *Database) Worked(l Lane, d time.Duration) {
	if o := m.worked[l]; o != nil {
		observe(o, d)
	}
}

// Failed counts a call that failed.
func (m *Database) Failed(f Failure) {
	if c := m.failed[f]; c != nil {
		c.Inc()
	}
}
