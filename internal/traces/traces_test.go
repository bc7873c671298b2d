package traces_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/traces"
	"fairlead/internal/traces/tracestest"
)

// server is a process that tells traces, with what it says of that.
type server struct {
	*traces.Tracer
	metrics *metrics.Registry
	log     *bytes.Buffer
	stop    func() // returns when it has
}

func start(t *testing.T, ratio float64, c *tracestest.Collector) server {
	t.Helper()
	to, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.URL+"/v1/traces"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		t.Fatal(err)
	}
	s := server{metrics: metrics.New(metrics.XDS, metrics.Config{}), log: &bytes.Buffer{}}
	if s.Tracer, err = traces.New(t.Context(), traces.Config{Ratio: ratio, Service: "test", Exporter: to, Metrics: s.metrics.Traces, Logger: slog.New(slog.NewTextHandler(s.log, nil))}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	s.stop = func() { cancel(); running.Wait() }
	t.Cleanup(s.stop)
	return s
}

func (s server) spans(t *testing.T, result string) float64 {
	t.Helper()
	return metricstest.Value(t, s.metrics, `fairlead_traces_spans_total{result="`+result+`"}`)
}

// add tells two spans of a revision, if it is traced.
func add(tr *traces.Trace) {
	if tr != nil {
		now := time.Now()
		tr.Add(traces.Span{Parent: tr.Commit(), ID: tr.CatchUp(), Name: "catch-up", Begin: now, End: now})
		tr.Add(traces.Span{Parent: tr.CatchUp(), Name: "deliver", Begin: now, End: now})
	}
}

// TestARevisionIsTracedWhollyOrNotAtAll: by two servers that know nothing of each other.
func TestARevisionIsTracedWhollyOrNotAtAll(t *testing.T) {
	t.Parallel()
	const revisions = 400
	key := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
	for ratio, want := range map[float64][2]int{0.25: {50, 150}, 1: {revisions, revisions}} {
		c := tracestest.New(t)
		a, b := start(t, ratio, c), start(t, ratio, c)
		for rev := fleet.Revision(1); rev <= revisions; rev++ {
			add(a.Of(key, rev))
			add(b.Of(key, rev))
		}
		a.stop()
		b.stop()
		spans, _ := c.Spans()
		of, traced := map[string]int{}, map[string]string{}
		for _, s := range spans {
			of[s.Trace()]++
			if id := traced[s.Attr("fairlead.revision")]; id != "" && id != s.Trace() {
				t.Errorf("revision %s has two traces", s.Attr("fairlead.revision"))
			}
			traced[s.Attr("fairlead.revision")] = s.Trace()
		}
		if len(of) < want[0] || len(of) > want[1] {
			t.Errorf("with a ratio of %v, %d of %d revisions are traced", ratio, len(of), revisions)
		}
		for id, n := range of {
			if n != 4 {
				t.Errorf("trace %s has %d spans of 4", id, n)
			}
		}
	}
	other := fleet.Key{Tenant: key.Tenant, Fleet: fleet.NewID()}
	c := tracestest.New(t)
	s := start(t, 1, c)
	if s.Of(key, 1).String() == s.Of(other, 1).String() || s.Of(key, 1).String() == s.Of(key, 2).String() {
		t.Error("two revisions share a trace")
	}
}

// TestNobodyTraces: what is called all the same costs no memory.
func TestNobodyTraces(t *testing.T) {
	var none *traces.Tracer
	key := fleet.Key{Fleet: fleet.NewID()}
	if n := testing.AllocsPerRun(100, func() {
		if none.Of(key, 7) != nil {
			t.Error("it is traced")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, ratio := range []float64{0, -1, 1.5} {
		if _, err := traces.New(t.Context(), traces.Config{Ratio: ratio, Exporter: nothing{}}); err == nil {
			t.Errorf("a ratio of %v is taken", ratio)
		}
	}
}

// TestTheCollectorIsAway: spans are lost, and counted, and said once; nobody waits. It comes back.
func TestTheCollectorIsAway(t *testing.T) {
	t.Parallel()
	c := tracestest.New(t)
	c.Answer(http.StatusInternalServerError)
	s := start(t, 1, c)
	key := fleet.Key{Fleet: fleet.NewID()}
	const many = 20_000 // ten times what there is room for, and more
	rev := fleet.Revision(0)
	for range many / 2 {
		rev++
		add(s.Of(key, rev))
	}
	if s.spans(t, "dropped") == 0 {
		t.Error("nothing was dropped")
	}
	for begun := time.Now(); s.spans(t, "dropped")+s.spans(t, "failed") < many; {
		if time.Since(begun) > time.Minute {
			t.Fatal("not all are counted as lost")
		}
	}
	c.Answer(http.StatusOK)
	add(s.Of(key, rev+1))
	c.Await(t, "what comes after", func(spans []tracestest.Span) bool { return len(spans) == 2 })
	s.stop()
	if n := strings.Count(s.log.String(), "traces are not sent"); n != 1 || !strings.Contains(s.log.String(), "traces are sent again") {
		t.Errorf("%d lines:\n%s", n, s.log)
	}
	if got := s.spans(t, "sent"); got != 2 {
		t.Errorf("%v spans are counted as sent", got)
	}
}

// TestTheCallersTraceIsALink, and decides nothing else.
func TestTheCallersTraceIsALink(t *testing.T) {
	t.Parallel()
	c := tracestest.New(t)
	s := start(t, 1, c)
	tr := s.Of(fleet.Key{}, 7)
	for _, parent := range []string{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f-00f067aa0ba902b7-01", ""} {
		tr.Add(traces.Span{Name: parent, Caller: traces.CallerOf(http.Header{"Traceparent": {parent}})})
	}
	s.stop()
	spans, _ := c.Spans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for _, span := range spans {
		if span.Trace() != tr.String() {
			t.Errorf("the caller %q has moved the trace to %s", span.Name, span.Trace())
		}
		if want := strings.HasSuffix(span.Name, "4736-00f067aa0ba902b7-01"); want != (len(span.Links) == 1) {
			t.Errorf("of %q: links %v", span.Name, span.Links)
		}
	}
}

func TestTheEnvironment(t *testing.T) {
	for _, c := range []struct{ name, value, wants string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf alone"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "no address of a collector"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://me:secret@collector", "without a password"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example.com:4318", "in the clear"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example.com:4318", ""},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20canary")
			t.Setenv(c.name, c.value)
			_, err := traces.OTLP(t.Context())
			switch {
			case c.wants == "" && err != nil:
				t.Error(err)
			case c.wants != "" && (err == nil || !strings.Contains(err.Error(), c.wants) || !strings.Contains(err.Error(), c.name)):
				t.Errorf("%v, want %q of %s", err, c.wants, c.name)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "secret@")) {
				t.Errorf("a secret is told: %v", err)
			}
		})
	}
}

type nothing struct{ traces.Exporter }
