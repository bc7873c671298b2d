package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// apiBuckets are of the time that a request of the API takes, in seconds. Each operation has them, so they are few: native histograms have more.
var apiBuckets = []float64{0.005, 0.025, 0.1, 0.5, 2.5, 10}

// Requests is what an API server counts of its requests.
type Requests struct {
	total    *prometheus.CounterVec
	problems *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	streams  prometheus.Gauge
	turns    map[bool]prometheus.Observer // by whether it is large
	noTurn   prometheus.Counter
	ends     *prometheus.GaugeVec
	source[ComputeState]
}

// ComputeState is what computes and waits, small ones before large ones.
type ComputeState struct {
	Slots            int
	Running, Waiting [2]int
}

// turnBuckets are of the wait for a turn to compute, in seconds.
var turnBuckets = []float64{0.001, 0.01, 0.1, 1, 10}

func newRequests(s section) *Requests {
	operation := Label{"operation", "the operation's id in [openapi.yaml](../openapi.yaml), or `other`: the page, health checks, and paths that there are none of"}
	m := &Requests{
		total: s.counter("fairlead_api_requests_total", "Requests that were answered.", operation, Label{"status", "the answer's HTTP status"}),
		problems: s.counter("fairlead_api_problems_total", "Requests that were answered with a problem.",
			Label{"code", "the problem's `code`"}),
		duration: s.histogram("fairlead_api_request_duration_seconds", "How long answers took, waiting that was asked for included. Streams of events are left out.", apiBuckets, operation),
		inFlight: s.gauge("fairlead_api_requests_in_flight", "Requests that are not answered yet, streams of events among them.").WithLabelValues(),
		streams:  s.gauge("fairlead_api_event_streams", "Streams of events, and of what has changed, that are open.").WithLabelValues(),
		noTurn:   s.counter("fairlead_compute_refused_total", "Computations that got no turn: too many of the tenant waited, or it took too long.").WithLabelValues(),
		ends:     s.gauge("fairlead_operator_token_last_expiry_timestamp_seconds", "When the last operator token ends that is good: from then on `api bootstrap-token` alone makes one. 0 if none is good. It is looked up every five minutes."),
	}
	size := Label{"size", "`small` or `large`: documents from 64 KiB on, and fleets from 1,000 resources and nodes on"}
	turns := s.histogram("fairlead_compute_wait_seconds", "How long what is read, checked and compared waited for its turn.", turnBuckets, size)
	m.turns = map[bool]prometheus.Observer{false: turns.WithLabelValues("small"), true: turns.WithLabelValues("large")}
	s = s.ofProcess()
	slots := s.value("fairlead_compute_slots", Gauge, "How many may compute at the same time.")
	running := s.value("fairlead_compute_running", Gauge, "Computations under way.", size)
	waiting := s.value("fairlead_compute_waiting", Gauge, "Computations that wait for their turn.", size)
	s.reads(func(ch chan<- prometheus.Metric) {
		now, ok := m.now()
		if !ok {
			return
		}
		slots.is(ch, float64(now.Slots))
		for i, name := range []string{"small", "large"} {
			running.is(ch, float64(now.Running[i]), name)
			waiting.is(ch, float64(now.Waiting[i]), name)
		}
	}, slots, running, waiting)
	return m
}

// Computes counts the wait of a computation; turn: it was not refused one.
func (m *Requests) Computes(large, turn bool, waited time.Duration) {
	observe(m.turns[large], waited)
	if !turn {
		m.noTurn.Inc()
	}
}

// OperatorTokensEnd tells when the last operator token ends; zero: none is good.
func (m *Requests) OperatorTokensEnd(last time.Time) { m.ends.WithLabelValues().Set(timestamp(last)) }

// Begin counts a request as under way until its End, once.
func (m *Requests) Begin() { m.inFlight.Inc() }

// Follow counts a stream of events until leave is called, once.
func (m *Requests) Follow() (leave func()) {
	m.streams.Inc()
	return m.streams.Dec
}

// Answer is how a request was answered.
type Answer struct {
	Operation string // its id; "" for what is none
	Status    int
	Problem   string // its code; "" if it is none
	Took      time.Duration
	Lasting   bool // it was a stream, whose time says nothing
}

// End counts a request.
func (m *Requests) End(a Answer) {
	m.inFlight.Dec()
	if a.Operation == "" {
		a.Operation = other
	}
	m.total.WithLabelValues(a.Operation, strconv.Itoa(a.Status)).Inc()
	if a.Problem != "" {
		m.problems.WithLabelValues(a.Problem).Inc()
	}
	if !a.Lasting {
		m.duration.WithLabelValues(a.Operation).Observe(a.Took.Seconds())
	}
}
