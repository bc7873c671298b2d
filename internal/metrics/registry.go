package metrics

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fairlead/internal/lifecycle"
)

// Program is what a process is, which decides what it has to tell.
type Program string

// The programs.
const (
	API Program = "api"
	XDS Program = "xds"
	Dev Program = "dev" // both in one process
)

// DefaultFleets is how many fleets have series of their own by default.
const DefaultFleets = 200

// Config is what a Registry needs besides its Program.
type Config struct {
	Version string // of the build
	// Fleets is how many fleets have series of their own: those that come first. What is of any other is told of "other".
	Fleets int
	// LoadClusters is how many clusters have series of what proxies report of their load; 0: none, and nothing is told of any.
	LoadClusters int
	// Cells: the process has several databases. What is told of one of them is told by its Cell, with the label cell.
	Cells  bool
	Logger *slog.Logger // of what cannot be told; nil: slog.Default()
}

// Registry is what a process tells. It is safe for concurrent use.
type Registry struct {
	Streams  *Streams
	Delivery *Delivery
	Held     *Held
	Standby  *Standby
	Loads    *Loads
	Requests *Requests
	Audit    *Audit
	Traces   *Traces
	// Certificate is when the server's certificate ends; nobody tells where there is none.
	Certificate source[time.Time]

	databases databases

	program  Program
	config   Config
	set      *prometheus.Registry
	into     prometheus.Registerer // set, or what labels all that goes into it
	labels   *fleetLabels
	parts    parts
	families []Family
}

// parts are what a Registry tells.
type parts struct {
	process bool // what is of the whole process
	cell    bool // what is of one database
}

// New declares all metrics, and tells those of the program. It starts nothing.
func New(of Program, c Config) *Registry {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	r := &Registry{program: of, config: c, set: prometheus.NewRegistry(), labels: newFleetLabels(c.Fleets), parts: parts{process: true, cell: !c.Cells}}
	r.into = r.set
	r.declare()
	return r
}

// Cell is what is told of one cell, in the same scrapes, with its name as the label cell. All cells share the fleets that have series of their own. It is for a Registry with Config.Cells, once for
// each name.
func (r *Registry) Cell(name string) *Registry {
	c := &Registry{program: r.program, config: r.config, set: r.set, labels: r.labels, parts: parts{cell: true}}
	c.into = prometheus.WrapRegistererWith(prometheus.Labels{"cell": name}, r.set)
	c.declare()
	return c
}

func (r *Registry) declare() {
	of, labels := r.program, r.labels
	r.declareProcess(of)
	r.Streams = newStreams(r.section("Streams", of, XDS).ofProcess(), labels)
	r.Delivery = newDelivery(r.section("Revisions and reports", of, XDS), labels)
	r.Held = newHeld(r.section("Fleets that are held", of, XDS))
	r.Standby = newStandby(r.section("Fleets that are held", of, XDS))
	r.Loads = newLoads(r.section("Load of proxies", of, XDS).ofProcess(), r.config.LoadClusters)
	r.Requests = newRequests(r.section("Requests", of, API))
	r.Audit = newAudit(r.section("The audit", of, API))
	r.Traces = newTraces(r.section("Traces", of, API, XDS).ofProcess())
	r.databases = newDatabases(r.section("The database", of, API, XDS))
}

// Discard counts, and nobody is told: for who is given no Registry.
func Discard() *Registry { return discard() }

var discard = sync.OnceValue(func() *Registry { return New("", Config{Logger: slog.New(slog.DiscardHandler)}) })

// Families are all that there are, also those of other programs, in the order in which they are declared.
func (r *Registry) Families() []Family { return slices.Clone(r.families) }

// Handler answers a scrape: as text, as OpenMetrics with exemplars, or as protobuf with both and native histograms, as it is asked. What it costs grows with the series, of which
// there are no more for more streams, and with the fleets that have streams. Scrapes at the same time share one look.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.set, promhttp.HandlerOpts{ErrorLog: lines{r.config.Logger}, ErrorHandling: promhttp.ContinueOnError, CoalesceGather: true, EnableOpenMetrics: true, MaxRequestsInFlight: scrapes})
}

// scrapes is how many are answered at a time: each is a copy of all.
const scrapes = 4

// lines writes what goes wrong in a scrape into the log.
type lines struct{ log *slog.Logger }

// Println is promhttp.Logger's.
func (l lines) Println(v ...any) {
	l.log.Error("metrics are missing from a scrape", "reason", fmt.Sprint(v...))
}

func (r *Registry) declareProcess(of Program) {
	s := r.section("Process", of, API, XDS).ofProcess()
	s.gauge("fairlead_build_info", "The build that runs: the value is 1.",
		Label{"program", "`api`, `xds` or `dev`"}, Label{"version", "that of the module, or its commit"}, Label{"go_version", "such as `go1.26`"},
	).WithLabelValues(string(of), r.config.Version, runtime.Version()).Set(1)
	panics := s.value("fairlead_panics_total", Counter, "Panics that ended one stream, one request or one fleet's turn. Each is an error of ours, with a line in the log.")
	s.reads(func(ch chan<- prometheus.Metric) { panics.is(ch, float64(lifecycle.Panics())) }, panics)
	ends := s.value("fairlead_certificate_expiry_timestamp_seconds", Gauge, "When the certificate of `--tls-cert` that is served ends. It is not told without TLS.")
	s.reads(func(ch chan<- prometheus.Metric) {
		if at, ok := r.Certificate.now(); ok {
			ends.is(ch, timestamp(at))
		}
	}, ends)
	if s.told {
		r.into.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
}
