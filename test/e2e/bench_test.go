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

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
