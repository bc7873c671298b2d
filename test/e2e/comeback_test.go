package e2e

import (
	"context"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// BenchmarkComeback is a server that dies with 10,000 clients, a connection each, which all come to another one, up to date, on
// the one processor that the servers have. Measured is until all are served, and two other fleets of that server from PUT to ACK:
// quiet, and beside the storm. again is how many resources were sent to clients that had them. The clients share that processor
// with the server, and get what it leaves: how long they take is theirs. `make bench-grid` has the time of a crowd with a processor of its own.
func BenchmarkComeback(b *testing.B) {
	const nodes = 10_000
	for b.Loop() {
		w, _ := setupSoak(b, true)
		e := w.found("large", "crowd", nil)
		s := &storm{estate: e}
		s.write(static("c0", "1s"), world.EDSCluster("e0", "1s", world.ADS), world.Endpoints("e0", "127.0.0.1:80"))
		dies, lives := s.server(replaced), s.server(servers)
		shop, bank := w.found("shop", "shop", nil), w.found("bank", "bank", nil)
		there := &site{}
		there.move(lives.Address)
		others := []*bustle{shop.bustle(5, 50*time.Millisecond, there), bank.bustle(5, 50*time.Millisecond, there)}
		ctx, stop := context.WithCancel(b.Context())
		var running sync.WaitGroup
		for _, o := range others {
			running.Go(func() { o.run(ctx) })
		}
		order := swarmOrder{Nodes: nodes, Prefix: "node-", Token: s.nodeToken, Within: 5 * time.Second, Alone: true,
			Sites: []string{dies.Address}, Asks: []subscription{{Type: fleet.Cluster}, {fleet.Endpoint, []string{"e0"}}}}
		var crowd *swarmProcess
		s.on(clients, func() { crowd = s.swarm(order) })
		world.Eventually(b, 2*time.Minute, "not all have all", func() bool { return crowd.now().Acks >= 2*nodes })
		s.restful(5 * time.Second)
		sinceThen(b, "while all connect", others)
		s.restful(10 * time.Second)
		quiet := sinceThen(b, "quiet", others)

		before := crowd.now()
		began := time.Now()
		dies.Kill()
		crowd.move(0, lives.Address)
		// Each gets one answer, which is empty: see rule 13 of docs/protocol.md.
		world.Eventually(b, 2*time.Minute, "not all are served", func() bool { return crowd.now().Acks >= before.Acks+nodes })
		served := time.Since(began)
		storm := sinceThen(b, "beside the storm", others)
		b.ReportMetric(quiet.p99, "quiet-p99-ms")
		b.ReportMetric(storm.p99, "storm-p99-ms")
		b.ReportMetric(storm.p99/quiet.p99, "times")
		b.ReportMetric(served.Seconds(), "served-s")
		b.ReportMetric(float64(crowd.now().Resources-before.Resources), "again")
		b.ReportMetric(0, "ns/op")
		stop()
		running.Wait()
	}
}

// restful is a time in which nothing but the other fleets' changes happens.
func (s *storm) restful(d time.Duration) { s.T.Helper(); <-time.After(d) }
