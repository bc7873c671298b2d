package xds_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// measured is a world whose server counts.
func measured(t *testing.T) (*xdstest.World, *metrics.Registry) {
	t.Helper()
	r := metrics.New(metrics.XDS, metrics.Config{Fleets: 10})
	return xdstest.New(t, func(c *xds.Config) { c.Metrics = r.Streams }), r
}

// TestWhatAStreamDoesIsCounted: each message once, where it belongs, and the stream while it lives.
func TestWhatAStreamDoesIsCounted(t *testing.T) {
	for v, protocol := range map[xdstest.Protocol]string{xdstest.DeltaADS: "delta", xdstest.SotWADS: "sotw"} {
		t.Run(v.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, r := measured(t)
				of := func(metric, typ string) string { return fmt.Sprintf("%s{protocol=%q,type=%q}", metric, protocol, typ) }
				open := fmt.Sprintf("fairlead_xds_streams{client=%q,protocol=%q}", "envoy", protocol)
				metricstest.Want(t, r, map[string]float64{open: 0})
				w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
				s := w.Open(v, "n1")
				s.Subscribe(fleet.Cluster)
				s.Ack(s.Want("clusters a@1"))
				w.Publish(xdstest.Put(fleet.Cluster, "a", "2"))
				s.Nack(s.Want("clusters a@2"), "no")
				s.Ack(s.Want("clusters a@1"))
				s.Send(xdstest.Request{TypeURL: "type.googleapis.com/example.Unserved"})
				synctest.Wait()
				want := map[string]float64{
					open: 1,
					of("fairlead_xds_requests_total", "clusters"):  4,
					of("fairlead_xds_requests_total", "other"):     1,
					of("fairlead_xds_responses_total", "clusters"): 3,
					of("fairlead_xds_acks_total", "clusters"):      2,
					of("fairlead_xds_nacks_total", "clusters"):     1,
					of("fairlead_xds_acks_total", "listeners"):     0,
					"fairlead_xds_unserved_types_total":            1,
				}
				metricstest.Want(t, r, want)
				if n := metricstest.Value(t, r, of("fairlead_xds_response_bytes_total", "clusters")); n < 30 || n > 3000 {
					t.Errorf("three responses took %v bytes", n)
				}
				s.Close()
				synctest.Wait()
				want[open] = 0
				for _, reason := range []string{"internal", "unavailable", "invalid_argument"} {
					want[fmt.Sprintf("fairlead_xds_refused_total{reason=%q}", reason)] = 0 // its client ended it
				}
				metricstest.Want(t, r, want)
				text := metricstest.Text(t, r)
				for _, secret := range []string{"n1", "example.Unserved", `"a"`} {
					if strings.Contains(text, secret) {
						t.Errorf("the metrics tell of %s", secret)
					}
				}
			})
		})
	}
}

// TestRefusedCallsAreCountedByReason: those that did not begin, and those that were ended.
func TestRefusedCallsAreCountedByReason(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, r := measured(t)
		refused := func(reason string) string { return fmt.Sprintf("fairlead_xds_refused_total{reason=%q}", reason) }
		stranger := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy("n1"), "")
		stranger.Subscribe(fleet.Cluster)
		_ = stranger.End()
		nameless := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy(""))
		nameless.Subscribe(fleet.Cluster)
		_ = nameless.End()
		synctest.Wait()
		metricstest.Want(t, r, map[string]float64{refused("unauthenticated"): 1, refused("invalid_argument"): 1, refused("permission_denied"): 0})
		w.Away(fmt.Errorf("away: %w", fleet.ErrUnavailable))
		late := w.Open(xdstest.DeltaADS, "n2")
		late.Subscribe(fleet.Cluster)
		_ = late.End()
		synctest.Wait()
		metricstest.Want(t, r, map[string]float64{refused("unavailable"): 1, refused("internal"): 0})
	})
}

// TestPollsAreCounted: a poll is a request, its answer's bytes are counted with each answer, and one that is refused by its reason.
func TestPollsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, r := measured(t)
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
		p := w.Poller("n1", fleet.Cluster)
		body := p.Want("200 clusters a@1").Body
		p.Want("304")
		synctest.Wait()
		metricstest.Want(t, r, map[string]float64{
			`fairlead_xds_streams{client="envoy",protocol="rest"}`:                1,
			`fairlead_xds_responses_total{protocol="rest",type="clusters"}`:       1,
			`fairlead_xds_acks_total{protocol="rest",type="clusters"}`:            1,
			`fairlead_xds_response_bytes_total{protocol="rest",type="clusters"}`:  float64(len(body)),
			`fairlead_xds_response_bytes_total{protocol="delta",type="clusters"}`: 0,
			`fairlead_xds_refused_total{reason="unimplemented"}`:                  0,
		})
		bad := w.Poller("n2", fleet.Cluster)
		bad.Header = http.Header{"Authorization": {"nonsense"}}
		bad.Poll()
		synctest.Wait()
		metricstest.Want(t, r, map[string]float64{`fairlead_xds_refused_total{reason="unauthenticated"}`: 1})
		w.Server.Drain()
	})
}
