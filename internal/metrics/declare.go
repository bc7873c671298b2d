package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Kind is what Prometheus calls the type of a metric.
type Kind string

// The kinds. Each histogram has classic buckets, and native ones for who asks in protobuf.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Label is a label of a metric, and in words which values it has.
type Label struct{ Name, Values string }

// Family is one metric with all its series.
type Family struct {
	Section string
	Name    string
	Kind    Kind
	Help    string
	Labels  []Label
	Of      []Program
	Cell    bool // with several databases it has the label cell besides
}

// section is where metrics are declared. All are; those of other programs are not told.
type section struct {
	registry *Registry
	name     string
	in       Program // what the process is
	of       []Program
	cell     bool // of one database, not of the process
	told     bool
}

// section begins one of the metrics that these programs have of one database; Dev has all.
func (r *Registry) section(name string, in Program, of ...Program) section {
	return section{r, name, in, of, true, r.parts.cell && hasPart(in, of)}
}

// ofProcess is the same section, of what is of the whole process.
func (s section) ofProcess() section {
	s.cell, s.told = false, s.registry.parts.process && hasPart(s.in, s.of)
	return s
}

func hasPart(in Program, of []Program) bool { return in == Dev || slices.Contains(of, in) }

// tells reports whether what that program has is told.
func (s section) tells(p Program) bool { return s.told && (s.in == Dev || s.in == p) }

func (s section) declare(name string, kind Kind, help string, labels []Label) (names []string) {
	s.registry.families = append(s.registry.families, Family{s.name, name, kind, help, labels, s.of, s.cell})
	for _, l := range labels {
		names = append(names, l.Name)
	}
	return names
}

func (s section) tell(c prometheus.Collector) {
	if s.told {
		s.registry.into.MustRegister(c)
	}
}

func (s section) counter(name, help string, labels ...Label) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, s.declare(name, Counter, help, labels))
	s.tell(v)
	return v
}

func (s section) gauge(name, help string, labels ...Label) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, s.declare(name, Gauge, help, labels))
	s.tell(v)
	return v
}

// Bounds of a native histogram: buckets that are each a tenth wider than the one before, and what happens when they become many.
const (
	nativeFactor  = 1.1
	nativeBuckets = 160
	nativeReset   = time.Hour
)

func (s section) histogram(name, help string, buckets []float64, labels ...Label) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: nativeFactor, NativeHistogramMaxBucketNumber: nativeBuckets, NativeHistogramMinResetDuration: nativeReset,
	}, s.declare(name, Histogram, help, labels))
	s.tell(v)
	return v
}

// value is a metric that is read when somebody asks for it.
type value struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

var valueTypes = map[Kind]prometheus.ValueType{Counter: prometheus.CounterValue, Gauge: prometheus.GaugeValue}

// value declares one; it is told by a reader.
func (s section) value(name string, kind Kind, help string, labels ...Label) value {
	return value{prometheus.NewDesc(name, help, s.declare(name, kind, help, labels), nil), valueTypes[kind]}
}

// is tells what the metric is now.
func (v value) is(ch chan<- prometheus.Metric, now float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(v.desc, v.kind, now, labels...)
}

// reader tells values. What it reads is looked at in one piece, and a panic in it keeps back its own values alone.
type reader struct {
	values []value
	read   func(ch chan<- prometheus.Metric)
}

// reads has the values told by read.
func (s section) reads(read func(ch chan<- prometheus.Metric), values ...value) {
	s.tell(reader{values, read})
}

// Describe is prometheus.Collector's.
func (r reader) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range r.values {
		ch <- v.desc
	}
}

// Collect is prometheus.Collector's.
func (r reader) Collect(ch chan<- prometheus.Metric) { r.read(ch) }

// oneOf says in words which values a label has.
func oneOf[S ~string](values ...S) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = "`" + string(v) + "`"
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
