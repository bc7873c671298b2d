package e2e

import (
	"fmt"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// firstDay is how large TestSoakFirstDay is.
type firstDay struct {
	nodes   int
	batch   int // resources in an apply
	applies int // of the first fleet
	large   int // of the second one
	judged  bool
	watch   time.Duration // how long receipts are asked for
}

func firstDaySize() firstDay {
	if !full() {
		return firstDay{nodes: 200, batch: 100, applies: 5, large: 10, watch: 2 * time.Second}
	}
	return firstDay{nodes: 10_000, batch: 1000, applies: 20, large: 100, judged: true, watch: 20 * time.Second}
}

// TestSoakFirstDay is everybody's: on a database that was never analysed and never will be, 20,000 resources come in applies of
// 1,000, and 100,000 into another fleet, the last apply like the first; then 10,000 nodes connect at once, and receipts
// are answered in an instant from the first second on.
func TestSoakFirstDay(t *testing.T) {
	size := firstDaySize()
	w, _ := setupSoak(t, size.judged)
	w.set(t, "autovacuum = off")
	plenty := int64(1 << 40)
	e := w.found("first", "first", client.LimitsUpdate{"resources": &plenty, "fleet_bytes": &plenty, "history_bytes": &plenty})
	firsts := e.bulk(size, size.applies)
	t.Logf("%d resources in applies of %d: %s; the first %s, the last %s", size.batch*size.applies, size.batch, total(firsts), firsts[0], firsts[len(firsts)-1])
	if size.judged {
		if all := total(firsts); all > 8*time.Second {
			t.Errorf("%d resources took %s, more than 8 s", size.batch*size.applies, all)
		}
		wantLevel(t, firsts)
	}
	other, err := e.api.CreateFleetWithResponse(t.Context(), e.tenant, client.FleetCreate{Name: "large"})
	w.Made(other, err)
	l := *e
	l.fleet = "large"
	larges := l.bulk(size, size.large)
	t.Logf("%d resources in applies of %d: %s; the first %s, the last %s", size.batch*size.large, size.batch, total(larges), larges[0], larges[len(larges)-1])
	if size.judged {
		wantLevel(t, larges)
	}

	e.crowdComes(size)
	if n := w.analysed(); n > 0 {
		t.Errorf("%d tables have statistics: this was not a first day", n)
	}
}

// bulk writes resources, none of them twice, and says how long each apply took.
func (e *estate) bulk(size firstDay, applies int) (took []time.Duration) {
	e.T.Helper()
	for i := range applies {
		rs := make([]world.Resource, 0, size.batch)
		for k := i * size.batch / 2; k < (i+1)*size.batch/2; k++ {
			name := fmt.Sprintf("service-%06d", k)
			rs = append(rs, world.Cluster(name, "1s"), world.Endpoints(name, "127.0.0.1:80"))
		}
		began := time.Now()
		e.write(rs...)
		took = append(took, time.Since(began).Round(time.Millisecond))
	}
	if e.again > 0 {
		e.T.Errorf("%d applies were refused for a moment", e.again)
	}
	return took
}

func total(ds []time.Duration) (sum time.Duration) {
	for _, d := range ds {
		sum += d
	}
	return sum
}

// wantLevel fails if the last tenth takes more than twice as long as the first.
func wantLevel(t *testing.T, took []time.Duration) {
	t.Helper()
	n := max(1, len(took)/10)
	if first, last := total(took[:n]), total(took[len(took)-n:]); last > 2*first {
		t.Errorf("the last %d of %d applies took %s, the first %s", n, len(took), last, first)
	}
}

// crowdComes has all nodes connect at once, while revisions are made of what all of them have, and asks for the receipt of each one
// time and again.
func (e *estate) crowdComes(size firstDay) {
	e.T.Helper()
	var x *world.XDS
	e.on(servers, func() {
		x = e.XDS("--max-streams", "30000", "--max-streams-per-tenant", "30000", "--max-streams-per-credential", "30000")
	})
	const name = "service-000000"
	var s *swarmProcess
	e.on(clients, func() {
		s = e.swarm(swarmOrder{Nodes: size.nodes, Prefix: "node-", Token: e.nodeToken, Sites: []string{x.Address},
			Asks: []subscription{{fleet.Cluster, []string{name}}, {fleet.Endpoint, []string{name}}}})
	})
	var answers []time.Duration
	slow := ""
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var r *client.Receipt
	revision := int64(0)
	for i := 0; time.Since(began) < size.watch || r == nil || r.Counts.Acked < size.nodes; i++ {
		if time.Since(began) > size.watch+time.Minute {
			e.T.Errorf("the last revision is not acked by all: %+v", r)
			break
		}
		if i%5 == 0 && time.Since(began) < size.watch || r != nil && r.Counts.Pending == 0 && r.Counts.Acked < size.nodes {
			revision = e.write(world.Cluster(name, fmt.Sprintf("%d.5s", i+1))).Revision
		}
		var took time.Duration
		r, took = e.receiptNow(revision)
		if answers = append(answers, took); r == nil || size.judged && took > 50*time.Millisecond {
			slow += fmt.Sprintf(" %.1f:%d", time.Since(began).Seconds(), took.Milliseconds())
			if r == nil {
				slow += "(503)"
			}
		}
		<-tick.C
	}
	e.T.Logf("all nodes have the last revision after %.1f s; %d receipts answered: %v; a stream broke: %s", time.Since(began).Seconds(), len(answers), quantilesOf(answers), s.now().Reason)
	if slow != "" {
		e.T.Errorf("receipts that took more than 50 ms to answer, as second:ms:%s", slow)
	}
}
