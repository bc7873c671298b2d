package store_test

import (
	"context"
	"errors"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/store"
)

// TestCallsAreMeasured, and why those failed that did. That there is no such row is no failure.
func TestCallsAreMeasured(t *testing.T) {
	w := setup(t)
	m := metrics.New(metrics.API, metrics.Config{})
	s := w.db.Open(t, store.Config{URL: w.db.App, Metrics: m.Database(metrics.API)})
	write := func(ctx context.Context, f fleet.ID) error {
		_, err := s.Apply(ctx, w.tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", "1")}})
		return err
	}
	failed := func(reason string) string {
		return `fairlead_database_failures_total{program="api",reason="` + reason + `"}`
	}
	w.ok(write(t.Context(), w.fleet))
	if calls := metricstest.Value(t, m, `fairlead_database_call_seconds_count{lane="request",program="api"}`); calls < 1 || calls != metricstest.Value(t, m, `fairlead_database_wait_seconds_count{lane="request",program="api"}`) {
		t.Errorf("%v calls are counted", calls)
	}
	none := map[string]float64{failed("refused"): 0, failed("given_up"): 0, failed("timeout"): 0, failed("unavailable"): 0, failed("full"): 0}
	metricstest.Want(t, m, none)
	if _, err := s.FleetByName(t.Context(), w.tenant, "no-such-fleet"); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("a fleet that is not there: %v", err)
	}
	metricstest.Want(t, m, none)
	if err := write(t.Context(), fleet.NewID()); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("into a fleet that is not there: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := write(gone, w.fleet); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("of a caller that has gone: %v", err)
	}
	hasty := metrics.New(metrics.API, metrics.Config{})
	s = w.db.Open(t, store.Config{URL: w.db.App, Metrics: hasty.Database(metrics.API), Patience: 1})
	release := w.headLocked()
	defer release()
	waitedFor(t, write(t.Context(), w.fleet), store.WaitHead)
	metricstest.Want(t, hasty, map[string]float64{failed("timeout"): 1, failed("unavailable"): 0})
	metricstest.Want(t, m, map[string]float64{
		failed("refused"): 1, failed("given_up"): 1, failed("timeout"): 0, failed("unavailable"): 0,
		`fairlead_database_connections{pool="shared",program="api",state="acquired"}`: 0,
		`fairlead_database_connections_maximum{pool="shared",program="api"}`:          10,
	})
	if n := metricstest.Value(t, m, `fairlead_database_connections_opened_total{pool="shared",program="api"}`); n < 1 {
		t.Errorf("%v connections were opened", n)
	}
}
