package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
)

// measured is a recorder that tells what it measures. It does not run.
func measured(t *testing.T) (*world, *metrics.Registry) {
	t.Helper()
	m := metrics.New(metrics.XDS, metrics.Config{Fleets: 10})
	s := newSink()
	r, err := New(Config{Server: fleet.NewServerID(), Name: "here", Sink: s, Logger: slog.New(slog.DiscardHandler), Metrics: m.Delivery})
	if err != nil {
		t.Fatal(err)
	}
	m.Delivery.Watch(r.State)
	return &world{Recorder: r, t: t, sink: s, key: fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}}, m
}

// ways are how many were measured on each part of the way, and how long they took in all, in seconds.
func ways(t *testing.T, m *metrics.Registry) string {
	t.Helper()
	text := ""
	for _, way := range []string{"commit_to_sent", "sent_to_ack", "commit_to_ack"} {
		name := "fairlead_revision_" + way + "_seconds"
		text += fmt.Sprintf("%s %v in %.3v; ", way, metricstest.Value(t, m, name+"_count"), metricstest.Value(t, m, name+"_sum"))
	}
	return text
}

// TestAWayIsMeasuredOnceForEachRevisionAndNode that something was sent to, by the database's clock from the commit on.
func TestAWayIsMeasuredOnceForEachRevisionAndNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m := measured(t)
		w.SetClockOffset(time.Hour)
		commit := func(rev fleet.Revision) { w.Head(w.key, mark(rev), time.Now().Add(time.Hour)) }
		want := func(when, want string) {
			t.Helper()
			if got := ways(t, m); got != want {
				t.Errorf("%s:\n%s, want\n%s", when, got, want)
			}
		}
		commit(5)
		a, b := w.connect("a"), w.connect("b")
		for _, s := range []*Stream{a, b} {
			s.Sent(5, Planning{})
			s.Settled(5)
		}
		want("of a revision from before they came", "commit_to_sent 0 in 0; sent_to_ack 0 in 0; commit_to_ack 0 in 0; ")
		commit(6)
		time.Sleep(time.Second)
		a.Sent(6, Planning{})
		a.Sent(6, Planning{}) // another type of the same target
		b.Settled(6)
		want("sent, and confirmed by one to whom nothing was sent", "commit_to_sent 1 in 1; sent_to_ack 0 in 0; commit_to_ack 0 in 0; ")
		time.Sleep(2 * time.Second)
		a.Settled(6)
		a.Settled(6)
		want("confirmed", "commit_to_sent 1 in 1; sent_to_ack 1 in 2; commit_to_ack 1 in 3; ")
		commit(7)
		a.Sent(7, Planning{})
		time.Sleep(time.Second)
		commit(8)
		a.Sent(8, Planning{})
		time.Sleep(time.Second)
		a.Settled(8) // 7 after 2 s, 8 after 1 s
		want("two at once", "commit_to_sent 3 in 1; sent_to_ack 3 in 5; commit_to_ack 3 in 6; ")
		w.SetClockOffset(0)
		commit(9) // an hour ahead: the clocks disagree
		a.Sent(9, Planning{})
		a.Settled(9)
		want("before its commit", "commit_to_sent 4 in 1; sent_to_ack 4 in 5; commit_to_ack 4 in 6; ")
		w.Restart(w.key, mark(3), time.Now())
		a.Sent(3, Planning{})
		a.Settled(3)
		want("of a history that was cut", "commit_to_sent 5 in 1; sent_to_ack 5 in 5; commit_to_ack 5 in 6; ")
		if n := len(a.node.sends); n > 0 {
			t.Errorf("%d responses are remembered", n)
		}
	})
}

// A node that does not settle has no more remembered than so much, and is measured all the same.
func TestWhatIsSentIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m := measured(t)
		w.Head(w.key, mark(1), time.Now())
		a := w.connect("a")
		a.Settled(1)
		for rev := fleet.Revision(2); rev <= 21; rev++ {
			w.Head(w.key, mark(rev), time.Now())
			a.Sent(rev, Planning{})
			time.Sleep(time.Second)
		}
		if n := len(a.node.sends); n != mostSends {
			t.Errorf("%d responses are remembered, want %d", n, mostSends)
		}
		a.Settled(21)
		metricstest.Want(t, m, map[string]float64{
			"fairlead_revision_sent_to_ack_seconds_count": 20, "fairlead_revision_commit_to_ack_seconds_count": 20,
			"fairlead_revision_commit_to_ack_seconds_sum": 210,
		})
	})
}

// TestFleetsThatAreBehind, by how many nodes and for how long.
func TestFleetsThatAreBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m := measured(t)
		defer func(s metrics.Stream) { s.Close() }(m.Streams.Open(metrics.Delta, "envoy", w.key)) // it has series of its own by that
		own := func(name string) string {
			return fmt.Sprintf("%s{fleet=%q,tenant=%q}", name, w.key.Fleet, w.key.Tenant)
		}
		strangers := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
		w.Head(w.key, mark(1), time.Now())
		w.Head(strangers, mark(1), time.Now())
		a, b := w.connect("a"), w.connect("b")
		other := w.Connect(strangers, fleet.Node{ID: "x"}, StreamInfo{Protocol: "delta ADS", Resumed: true})
		for _, s := range []*Stream{a, b, other} {
			s.Settled(1)
		}
		behind := func(all, fleets, nodes, ownNodes, ownFor, otherFor float64) {
			t.Helper()
			metricstest.Want(t, m, map[string]float64{
				"fairlead_nodes": all, "fairlead_fleets_behind": fleets, "fairlead_nodes_behind": nodes,
				own("fairlead_fleet_nodes_behind"): ownNodes, own("fairlead_fleet_behind_seconds"): ownFor,
				`fairlead_fleet_nodes_behind{fleet="other",tenant="other"}`: nodes - ownNodes, `fairlead_fleet_behind_seconds{fleet="other",tenant="other"}`: otherFor,
			})
		}
		behind(3, 0, 0, 0, 0, 0)
		w.Head(w.key, mark(2), time.Now())
		time.Sleep(2 * time.Second)
		w.Head(w.key, mark(3), time.Now())
		a.Settled(2)
		time.Sleep(time.Second)
		behind(3, 1, 2, 2, 3, 0)
		b.Settled(3)
		behind(3, 1, 1, 1, 1, 0)
		a.Settled(3)
		w.Head(strangers, mark(2), time.Now())
		time.Sleep(time.Minute)
		late := w.connect("late") // it has come a moment ago
		behind(4, 2, 2, 1, 0, 60)
		late.Settled(3)
		behind(4, 1, 1, 0, 0, 60)
	})
}

// TestReportsAreMeasured, those that fail too, and what waits.
func TestReportsAreMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(metrics.XDS, metrics.Config{})
		w := setupMeasured(t, m.Delivery)
		m.Delivery.Watch(w.State)
		w.Head(w.key, mark(1), time.Now())
		a := w.connect("a")
		a.Settled(1)
		time.Sleep(time.Second)
		if n := metricstest.Value(t, m, `fairlead_report_duration_seconds_count{result="taken"}`); n < 1 {
			t.Errorf("%v reports are counted", n)
		}
		metricstest.Want(t, m, map[string]float64{`fairlead_report_duration_seconds_count{result="failed"}`: 0, "fairlead_report_queue_refusals": 0, `fairlead_lease_renewals_total{result="failed"}`: 0})
		w.sink.set(refused)
		done, cancel := context.WithCancel(t.Context())
		cancel() // nobody waits for the record
		a.Refused(done, []fleet.Refusal{{Type: fleet.Cluster, Name: "c", Version: "v", Revision: 1}})
		time.Sleep(3 * time.Second)
		metricstest.Want(t, m, map[string]float64{"fairlead_report_queue_refusals": 1})
		if n := metricstest.Value(t, m, `fairlead_lease_renewals_total{result="failed"}`); n < 1 {
			t.Errorf("%v renewals failed", n)
		}
		if n := metricstest.Value(t, m, `fairlead_report_duration_seconds_count{result="failed"}`); n < 1 {
			t.Errorf("%v reports failed", n)
		}
		if at, now := metricstest.Value(t, m, "fairlead_lease_last_renewed_timestamp_seconds"), float64(time.Now().Unix()); at > now-1 || at < now-6 {
			t.Errorf("the lease was renewed %v s ago", now-at)
		}
		w.sink.set(healthy)
		w.stop()
	})
}
