package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
)

// TestReadingsAreMeasured: those that found something, by what they were, and those that failed.
func TestReadingsAreMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(metrics.XDS, metrics.Config{})
		f := newFeed()
		w := setupMeasured(t, f, f, m.Held)
		synctest.Wait()
		reads := func(when string, loads, catchUps, failures float64) {
			t.Helper()
			t.Log(when)
			metricstest.Want(t, m, map[string]float64{
				`fairlead_fleet_read_duration_seconds_count{kind="load"}`: loads, `fairlead_fleet_read_duration_seconds_count{kind="catch_up"}`: catchUps,
				"fairlead_fleet_read_failures_total": failures,
			})
		}
		reads("at first", 0, 0, 0)
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "a")
		synctest.Wait()
		reads("loaded", 1, 0, 0)
		w.change(key, cluster("c", "2"))
		reads("changed", 1, 1, 0)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		reads("rung for nothing", 1, 1, 0)
		w.feed.fail(fleet.ErrUnavailable)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		reads("the database is away", 1, 1, 1)
		w.stop()
	})
}

// TestDeniedClientsAreCounted by reason.
func TestDeniedClientsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(metrics.XDS, metrics.Config{})
		f := newFeed()
		w := setupMeasured(t, f, f, m.Held)
		synctest.Wait()
		_, id, _ := w.newFleet(cluster("c", "1"))
		w.Denied(id, fleet.DeniedRouted, "", "10.0.0.7:1", "")
		w.Denied(id, fleet.DeniedRouted, "", "10.0.0.8:1", "")
		w.Denied(id, fleet.DeniedReason("another"), "", "", "")
		metricstest.Want(t, m, map[string]float64{`fairlead_xds_denied_total{reason="routed"}`: 2, `fairlead_xds_denied_total{reason="token_wrong"}`: 0})
		w.stop()
	})
}

// TestTheNextCredentialToExpireIsKnown, of those that are not revoked.
func TestTheNextCredentialToExpireIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		next := time.Now().Add(2 * time.Hour).Truncate(time.Second)
		w.newCredential(key, "*", next.Add(time.Hour))
		w.newCredential(key, "*", next)
		w.attach(id, "a")
		if ends := w.Load().Ends; !ends.Equal(next) {
			t.Errorf("the next one ends at %v, want %v", ends, next)
		}
		time.Sleep(2*time.Hour + time.Minute)
		if ends := w.Load().Ends; !ends.Equal(next.Add(time.Hour)) {
			t.Errorf("then one ends at %v, want %v", ends, next.Add(time.Hour))
		}
		time.Sleep(time.Hour)
		if ends := w.Load().Ends; !ends.IsZero() {
			t.Errorf("in the end one ends at %v", ends)
		}
	})
}
