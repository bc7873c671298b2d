// Package tracestest is a collector of traces for tests: it takes OTLP over HTTP as any other one does.
package tracestest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one as it came, with what sent it.
type Span struct {
	*otlp.Span
	Service, Instance string
}

// Trace is the span's trace id, as people write it.
func (s Span) Trace() string { return hex.EncodeToString(s.TraceId) }

// Attr is an attribute as text; "" if there is none.
func (s Span) Attr(key string) string { return attr(s.Attributes, key) }

func attr(of []*common.KeyValue, key string) string {
	for _, a := range of {
		if a.Key == key {
			if v, ok := a.Value.Value.(*common.AnyValue_IntValue); ok {
				return strconv.FormatInt(v.IntValue, 10)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// Collector keeps what it is sent.
type Collector struct {
	URL string

	mu      sync.Mutex // guards what follows
	spans   []Span
	raw     []byte // all requests, as they came
	headers []http.Header
	more    chan struct{} // closed when something comes
	answer  int
}

// New starts one, for as long as the test lasts.
func New(t testing.TB) *Collector {
	c := &Collector{more: make(chan struct{}), answer: http.StatusOK}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	c.URL = srv.URL
	return c
}

// Answer has it answer with this status, and keep nothing unless that is 200.
func (c *Collector) Answer(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = status
}

// ServeHTTP takes a request of POST /v1/traces.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = z
	}
	b, err := io.ReadAll(in)
	var got collector.ExportTraceServiceRequest
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || proto.Unmarshal(b, &got) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answer != http.StatusOK {
		w.WriteHeader(c.answer)
		return
	}
	c.raw, c.headers = append(c.raw, b...), append(c.headers, r.Header.Clone())
	for _, rs := range got.ResourceSpans {
		of := rs.Resource.GetAttributes()
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				c.spans = append(c.spans, Span{s, attr(of, "service.name"), attr(of, "service.instance.id")})
			}
		}
	}
	close(c.more)
	c.more = make(chan struct{})
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans are all that came, and a channel that is closed when more do.
func (c *Collector) Spans() ([]Span, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...), c.more
}

// Raw is what came, in bytes.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]byte(nil), c.raw...)
}

// Await waits until enough says yes to all that came.
func (c *Collector) Await(t testing.TB, what string, enough func([]Span) bool) []Span {
	t.Helper()
	late := time.After(time.Minute)
	for {
		spans, more := c.Spans()
		if enough(spans) {
			return spans
		}
		select {
		case <-more:
		case <-late:
			for _, s := range spans {
				t.Logf("%s %s of %s, revision %s", s.Trace(), s.Name, s.Service, s.Attr("fairlead.revision"))
			}
			t.Fatalf("the collector waits for %s", what)
		}
	}
}
