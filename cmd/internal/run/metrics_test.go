package run

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/forward"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
)

func TestHowManyFleetsHaveMetrics(t *testing.T) {
	t.Parallel()
	for n, good := range map[int]bool{-1: false, 0: true, 200: true, mostFleets: true, mostFleets + 1: false} {
		r, err := Series{Fleets: n}.Open(metrics.API, false, slog.New(slog.DiscardHandler))
		if good != (err == nil) || good != (r != nil) || !good && (!errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "--metrics-fleets is")) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestMetricsAreOnTheHealthAddress, whether or not the server is ready.
func TestMetricsAreOnTheHealthAddress(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	r, err := Series{Fleets: 1}.Open(metrics.XDS, false, quiet)
	if err != nil {
		t.Fatal(err)
	}
	lis, err := Listen("127.0.0.1:0", "--health-listen")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- lifecycle.Run(ctx, Health(lis, quiet, r, func(context.Context) error { return errors.New("not yet") }))
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(method, path string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+lis.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if code, _ := ask(http.MethodGet, "/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d", code)
	}
	code, text := ask(http.MethodGet, "/metrics")
	if code != http.StatusOK || !strings.Contains(text, `fairlead_build_info{go_version="go`) || !strings.Contains(text, "# TYPE fairlead_xds_streams gauge\n") {
		t.Errorf("/metrics: %d %s", code, text)
	}
	if code, _ := ask(http.MethodPost, "/metrics"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST /metrics: %d", code)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// moody is a collector that answers as it says.
type moody struct{ err error }

func (moody) Name() string { return "webhook" }

func (m *moody) Send(context.Context, forward.Batch) error { return m.err }

func TestDeliveriesOfTheAuditAreMeasured(t *testing.T) {
	t.Parallel()
	r := metrics.New(metrics.API, metrics.Config{})
	to := &moody{}
	f := newForwarder(nil, to, slog.New(slog.DiscardHandler), r.Audit)
	if err := f.sink.Send(t.Context(), forward.Batch{}); err != nil {
		t.Error(err)
	}
	to.err = errors.New("no")
	for range 2 {
		if err := f.sink.Send(t.Context(), forward.Batch{}); !errors.Is(err, to.err) {
			t.Errorf("it says %v", err)
		}
	}
	metricstest.Want(t, r, map[string]float64{
		`fairlead_audit_delivery_seconds_count{collector="webhook",result="taken"}`: 1, `fairlead_audit_delivery_seconds_count{collector="webhook",result="failed"}`: 2,
	})
}
