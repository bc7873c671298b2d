package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/internal/metrics"
)

// TestExemplars: one in each bucket for a revision, whatever the number of its nodes; none of a revision that is not traced.
func TestExemplars(t *testing.T) {
	r := metrics.New(metrics.XDS, metrics.Config{})
	e := metrics.NewExemplar(7, "4bf92f3577b34da6a3ce929d0e0e4736")
	for range 1000 {
		r.Delivery.Sent(2*time.Millisecond, e)
		r.Delivery.Acknowledged(time.Hour, 0, e)
		r.Delivery.Sent(2*time.Second, nil)
	}
	if n := testing.AllocsPerRun(100, func() { r.Delivery.Sent(2*time.Millisecond, e) }); n != 0 {
		t.Errorf("another node in the same bucket: %v allocations", n)
	}
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, req)
	var found []string
	for line := range strings.Lines(w.Body.String()) {
		if series, exemplar, ok := strings.Cut(line, " # "); ok {
			if !strings.Contains(exemplar, `revision="7"`) || !strings.Contains(exemplar, `trace_id="4bf92f3577b34da6a3ce929d0e0e4736"`) {
				t.Error(line)
			}
			found = append(found, strings.Fields(series)[0])
		}
	}
	want := `fairlead_revision_commit_to_ack_seconds_bucket{le="+Inf"} fairlead_revision_commit_to_sent_seconds_bucket{le="0.0025"} fairlead_revision_sent_to_ack_seconds_bucket{le="0.001"}`
	if got := strings.Join(found, " "); got != want {
		t.Errorf("exemplars of\n%s, want\n%s", got, want)
	}
}
