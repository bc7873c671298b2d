package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/metrics/metricstest"
)

// Each request counts for its operation, by how it was answered. What is no operation is told of as one, whatever its path says.
func TestRequestsAreCountedByOperation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodGet, w.at(), "").is(200, nil)
	w.do(http.MethodHead, w.at(), "").is(200, nil)
	w.do(http.MethodGet, "/v1/tenants/acme/fleets/of-nobody", "").is(404, nil)
	w.do(http.MethodGet, w.at(), "", "Authorization", "Bearer fla_wrong").is(401, nil)
	w.do(http.MethodGet, "/of-nobody", "").is(404, nil)
	w.do(http.MethodTrace, w.at(), "").is(405, nil)
	w.do(http.MethodGet, "/healthz", "").is(200, nil)
	metricstest.Want(t, w.registry, map[string]float64{
		`fairlead_api_requests_total{operation="getFleet",status="200"}`:    2,
		`fairlead_api_requests_total{operation="getFleet",status="404"}`:    1,
		`fairlead_api_requests_total{operation="getFleet",status="401"}`:    1,
		`fairlead_api_requests_total{operation="other",status="404"}`:       1,
		`fairlead_api_requests_total{operation="other",status="405"}`:       1,
		`fairlead_api_requests_total{operation="other",status="200"}`:       1,
		`fairlead_api_request_duration_seconds_count{operation="getFleet"}`: 4,
		`fairlead_api_problems_total{code="not_found"}`:                     2,
		`fairlead_api_problems_total{code="unauthenticated"}`:               1,
		`fairlead_api_problems_total{code="method_not_allowed"}`:            1,
		"fairlead_api_requests_in_flight":                                   0,
	})
	for _, name := range []string{"of-nobody", "acme", w.owner} {
		if strings.Contains(metricstest.Text(t, w.registry), name) {
			t.Errorf("the metrics tell of %s", name)
		}
	}
}

// A stream counts while it goes on, and its time counts for nothing.
func TestStreamsOfEventsAreCounted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := w.follow("")
	metricstest.Want(t, w.registry, map[string]float64{"fairlead_api_event_streams": 1, "fairlead_api_requests_in_flight": 1})
	w.api.Drain()
	if s.end() == "" {
		t.Error("the stream did not say why it has ended")
	}
	metricstest.Want(t, w.registry, map[string]float64{
		"fairlead_api_event_streams": 0, "fairlead_api_requests_in_flight": 0, `fairlead_api_requests_total{operation="listEvents",status="200"}`: 1,
	})
	if strings.Contains(metricstest.Text(t, w.registry), "fairlead_api_request_duration_seconds") {
		t.Error("a stream has a time")
	}
}
