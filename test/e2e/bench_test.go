package e2e

import (
	"slices"
	"testing"
	"time"

	"fairlead/test/world"
)

// BenchmarkReceipt is what a person waits for: from the answer of a PUT to the receipt
// that says that a real Envoy has ACKed the change.
func BenchmarkReceipt(b *testing.B) {
	for name, delta := range map[string]bool{"delta": true, "SotW": false} {
		b.Run(name, func(b *testing.B) {
			r := setupRouted(b, setup(b), delta)
			r.AwaitState(r.Apply(world.Together(world.Cluster("b", "1s"), world.Endpoints("b", world.Backend(b, "b")))), "delivered")
			var waits, acks []float64
			for i := 0; b.Loop(); i++ {
				revision := r.Put(world.Route("r", []string{"b", "a"}[i%2]))
				answered := time.Now()
				receipt := r.Receipt(revision)
				waits = append(waits, time.Since(answered).Seconds()*1000)
				if receipt.State != "delivered" || receipt.Counts.Acked != 1 || receipt.LastAckMs == nil {
					b.Fatalf("receipt %+v, want delivered to 1", receipt)
				}
				acks = append(acks, float64(*receipt.LastAckMs))
			}
			b.ReportMetric(median(waits), "ms-to-receipt")
			b.ReportMetric(median(acks), "ms-to-ack")
		})
	}
}

// BenchmarkPolledChange is a change of a route to a real Envoy that polls for all, and whose poll for it waits: from the answer to the write
// until requests go elsewhere.
func BenchmarkPolledChange(b *testing.B) {
	w := setup(b)
	r := &routed{installation: w, xds: w.XDS()}
	address := world.FreePort(b)
	r.proxy = "http://" + address
	w.Apply(world.Together(
		world.HTTPListener{Name: "l", Address: address, Routes: world.RDS("r", fromREST)}.Resource(), world.Route("r", "a"),
		world.EDSCluster("a", "1s", fromREST), world.Endpoints("a", world.Backend(b, "a")), world.EDSCluster("b", "1s", fromREST), world.Endpoints("b", world.Backend(b, "b")),
	))
	w.polling("n1", r.xds.Address, func(s string) string { return s })
	r.awaitBody("a")
	r.AwaitState(r.Put(world.Route("r", "b")), "delivered")
	var waits []float64 // ms
	for i := 0; b.Loop(); i++ {
		want := []string{"a", "b"}[i%2]
		revision := r.Put(world.Route("r", want))
		answered := time.Now()
		for {
			if _, body := world.Get(r.proxy); body == want {
				break
			}
			if time.Since(answered) > world.Soon {
				b.Fatalf("it is not routed to %s", want)
			}
		}
		waits = append(waits, time.Since(answered).Seconds()*1000)
		r.AwaitState(revision, "delivered") // the next poll has come
	}
	b.ReportMetric(median(waits), "p50-ms")
	b.ReportMetric(waits[len(waits)-1], "max-ms")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
