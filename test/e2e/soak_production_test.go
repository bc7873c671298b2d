package e2e

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/test/world"
)

// production is how large TestSoakProductionSize is.
type production struct {
	nodes, restarts, history int
	within                   time.Duration // of its commit, a receipt is complete
	patience                 time.Duration // how long a receipt is looked at that is late
	quiet                    time.Duration // how long the other fleets are measured without the crowd's storms
	judged                   bool          // other fleets' times are judged too, and programs run as if each had a machine
}

func productionSize(t testing.TB) production {
	if !full() {
		return production{nodes: 200, restarts: 1, history: 100, within: 30 * time.Second, patience: 30 * time.Second, quiet: time.Second / 2}
	}
	history := 200_000
	if v := os.Getenv("FAIRLEAD_SOAK_HISTORY"); v != "" {
		n, err := strconv.Atoi(v)
		world.Must(t, err)
		history = n
	}
	return production{nodes: 10_000, restarts: 20, history: history, within: 10 * time.Second, patience: 30 * time.Second, quiet: 20 * time.Second, judged: true}
}

// storm is a fleet of many nodes on two xDS servers, the first of which dies again and again.
type storm struct {
	*estate
	size  production
	first *world.XDS
	lease string     // the id under which first has its lease
	last  *world.XDS // the server that lives to the end
	nodes *swarmProcess

	n        int
	late     []string
	receipts []int64
	answers  []time.Duration // to receipts
	most     int64           // bytes of history, after the squeeze

	compactions []time.Duration // the compacting goroutine's, until it has ended
}

// TestSoakProductionSize: 10,000 nodes, a server that dies 20 times, a burst of two refusals by each node, a history of
// 200,000 revisions that compaction goes through meanwhile, and two other fleets that are busy. Every receipt is complete soon
// after its commit, the other fleets hardly notice, and dead servers leave no rows.
func TestSoakProductionSize(t *testing.T) {
	size := productionSize(t)
	w, _ := setupSoak(t, size.judged)
	s := &storm{estate: w.found("large", "crowd", nil), size: size}
	s.makeHistory()
	s.last = s.server(servers)
	s.replaceFirst()

	shop, bank := w.found("shop", "shop", nil), w.found("bank", "bank", nil)
	there := &site{}
	there.move(s.last.Address)
	others := []*bustle{shop.bustle(5, 50*time.Millisecond, there), bank.bustle(5, 50*time.Millisecond, there)}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	for _, b := range others {
		running.Go(func() { b.run(ctx) })
	}
	measured := func(when string) quantiles { return sinceThen(t, when, others) }

	s.connect()
	measured("while all connect")
	<-time.After(s.size.quiet) // what is measured is time that passes
	quiet := measured("quiet")

	s.squeeze()
	running.Go(func() { s.compact(ctx) })
	for s.n < s.size.restarts {
		if s.n == s.size.restarts/2 {
			s.refusals()
		}
		s.restart()
		if s.n == s.size.restarts/2+max(1, s.size.restarts/4) {
			s.endRefusals()
		}
	}
	busy := measured("beside the storms")
	stop()
	running.Wait()
	t.Logf("other fleets' writes sent again: %d and %d", shop.again, bank.again)
	if s.size.judged && busy.p99 > 2*quiet.p99 {
		t.Errorf("other fleets' PUT to ACK: p99 %.1f ms, %.1f times that of the quiet run", busy.p99, busy.p99/quiet.p99)
	}
	s.end()
	t.Logf("receipts answered: %v; compactions: %v", quantilesOf(s.answers), quantilesOf(s.compactions))
	t.Logf("swarm: %+v", s.nodes.now())
	for _, l := range s.late {
		t.Error(l)
	}
}

// makeHistory makes revisions as fast as the API takes them: of endpoints that no node asks for.
func (s *storm) makeHistory() {
	s.T.Helper()
	began := time.Now()
	for i := range 5 {
		s.write(static(fmt.Sprint("c", i), "1s"), world.Endpoints(fmt.Sprint("e", i), "127.0.0.1:80"))
	}
	const writers = 4
	var writing errgroup.Group
	var again [writers]int
	for i := range writers {
		writing.Go(func() error {
			for k := i; k < s.size.history; k += writers {
				_, n, err := s.try(s.T.Context(), world.Endpoints(sprintf("history-%d", k%20), sprintf("127.0.0.%d:%d", 1+k/20%250, 1+k/5000)))
				if again[i] += n; err != nil {
					return err
				}
			}
			return nil
		})
	}
	world.Must(s.T, writing.Wait())
	took := time.Since(began)
	s.T.Logf("%d revisions in %s, %.0f a second, writes sent again by writer: %v", s.size.history, took.Round(time.Millisecond), float64(s.size.history)/took.Seconds(), again)
}

// server starts an xDS server.
func (s *storm) server(m machine) (x *world.XDS) {
	s.T.Helper()
	s.on(m, func() {
		x = s.XDS("--max-streams", "30000", "--max-streams-per-tenant", "30000", "--max-streams-per-credential", "30000",
			"--max-unauthenticated-connections", "30000", "--max-unauthenticated-connections-per-address", "30000")
	})
	return x
}

// connect has all nodes connect, half of them to each server.
func (s *storm) connect() {
	s.T.Helper()
	order := swarmOrder{Nodes: s.size.nodes, Prefix: "node-", Token: s.nodeToken, Within: time.Second,
		Sites: []string{s.first.Address, s.last.Address},
		Asks:  []subscription{{Type: fleet.Cluster}, {fleet.Endpoint, []string{"e0", "e1"}}}}
	s.on(clients, func() { s.nodes = s.swarm(order) })
	began := time.Now()
	world.Eventually(s.T, time.Minute, "not all nodes are known", func() bool { return s.rows("nodes") >= int64(s.size.nodes+10) })
	s.T.Logf("all nodes are known after %.1f s", time.Since(began).Seconds())
	s.taken("all connect", s.write(static("c0", "2s")), false)
}

// taken looks at a receipt until each node is in it: as acked, or all as refusing it. A node that is offline for a moment is in it
// when it is back.
func (s *storm) taken(what string, w *client.WriteResult, refused bool) {
	s.T.Helper()
	s.receipts = append(s.receipts, w.Revision)
	var r *client.Receipt
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		var took time.Duration
		if r, took = s.receiptNow(w.Revision); r != nil {
			if (r.Counts.Acked+r.Counts.Nacked == s.size.nodes) && r.Counts.Pending == 0 && (r.Counts.Nacked == s.size.nodes) == refused {
				break
			}
		}
		s.answers = append(s.answers, took)
		if time.Since(w.CommittedAt) > s.size.patience {
			break
		}
		<-tick.C
	}
	took := time.Since(w.CommittedAt)
	counts := "none"
	if r != nil {
		counts = sprintf("%s %+v", r.State, r.Counts)
	}
	n := s.nodes.now()
	s.T.Logf("%s: revision %d after %.1f s: %s; streams opened %d, broken %d, NACKs %d", what, w.Revision, took.Seconds(), counts, n.Opened, n.Ended, n.Nacks)
	if took > s.size.within {
		s.late = append(s.late, sprintf("%s: the receipt of revision %d is not complete %.1f s after its commit: %s", what, w.Revision, took.Seconds(), counts))
	}
}

// replaceFirst starts a server at the first site.
func (s *storm) replaceFirst() {
	s.T.Helper()
	had := s.rows("xds_servers")
	s.first = s.server(replaced)
	world.Eventually(s.T, time.Minute, "the server has no lease", func() bool { return s.rows("xds_servers") > had })
	s.lease = s.text(`SELECT server_id::text FROM xds_servers ORDER BY started_at DESC LIMIT 1`)
	if s.nodes != nil {
		s.nodes.move(0, s.first.Address)
	}
}

// restart kills the first server, as a crash does, makes a revision, and starts another server in its place. Where times are not
// judged the dead one's lease ends with it.
func (s *storm) restart() {
	s.T.Helper()
	s.n++
	s.first.Kill()
	if !s.size.judged {
		s.text(`UPDATE xds_servers SET lease_until = clock_timestamp() WHERE server_id = $1 RETURNING ''`, s.lease)
	}
	w := s.write(static("c1", sprintf("%ds", 1+s.n)))
	s.replaceFirst()
	s.taken(sprintf("restart %d", s.n), w, false)
}

// refusals has each node refuse two new clusters of one revision. The receipt has a node as soon as one of them is told; the others
// have as long: what a server has told is offered nobody again, whoever dies later.
func (s *storm) refusals() {
	s.T.Helper()
	s.nodes.refuse("bad-1", "bad-2")
	s.taken("two refusals by each node", s.write(static("bad-1", "1s"), static("bad-2", "1s")), true)
	began := time.Now()
	world.Eventually(s.T, s.size.within, "not all refusals are told", func() bool { return s.rows("refusals") >= int64(2*s.size.nodes) })
	s.T.Logf("all %d refusals are told %.1f s later", 2*s.size.nodes, time.Since(began).Seconds())
}

// endRefusals replaces what was refused.
func (s *storm) endRefusals() {
	s.T.Helper()
	s.nodes.refuse()
	s.taken("what was refused is fixed", s.write(static("bad-1", "2s"), static("bad-2", "2s")), false)
}

// squeeze leaves the fleet room for two thirds of its history, so that compaction has to drop a third.
func (s *storm) squeeze() {
	s.T.Helper()
	s.most = s.used("history_bytes") * 2 / 3
	s.limit(s.tenant, client.LimitsUpdate{"history_bytes": &s.most})
}

// compact is what an API server does once an hour, every ten seconds.
func (s *storm) compact(ctx context.Context) {
	st, err := store.Open(ctx, store.Config{URL: s.DB.App})
	if err != nil {
		s.Whole.Error(err)
		return
	}
	defer st.Close()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		done, err := st.CompactDue(ctx)
		if ctx.Err() != nil {
			return
		}
		took := time.Since(began)
		s.compactions = append(s.compactions, took)
		if err != nil || done.Forgot > 0 && took > time.Second {
			s.Whole.Logf("compaction: %+v in %s, %v", done, took.Round(time.Millisecond), err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// end looks at what is left: receipts that stay complete, history that was dropped, no rows of dead servers.
func (s *storm) end() {
	s.T.Helper()
	for _, revision := range s.receipts {
		r, took := s.receiptNow(revision)
		s.answers = append(s.answers, took)
		if r == nil || r.Counts.Acked+r.Counts.Nacked != s.size.nodes {
			s.late = append(s.late, sprintf("at the end the receipt of revision %d is %+v, not of %d nodes", revision, r, s.size.nodes))
		}
	}
	st, err := store.Open(s.T.Context(), store.Config{URL: s.DB.App})
	world.Must(s.T, err)
	defer st.Close()
	if _, err = st.CompactDue(s.T.Context()); err != nil {
		s.late = append(s.late, "compaction at the end: "+err.Error())
	}
	// The minute that servers are kept which have died passes at once.
	s.text(`WITH d AS (UPDATE xds_servers SET lease_until = lease_until - interval '1 minute' WHERE lease_until < clock_timestamp() RETURNING *) SELECT count(*)::text FROM d`)
	_, err = st.SweepServers(s.T.Context())
	world.Must(s.T, err)
	live := int64(s.size.nodes + 10)
	ts := s.tables()
	s.T.Logf("tables:%v", ts)
	if n := ts["node_status"].rows; n > live {
		s.late = append(s.late, sprintf("%d rows of node_status for %d nodes, all of them connected: dead servers leave theirs", n, live))
	}
	if n := s.nodes.now().Nacks; n != int64(2*s.size.nodes) {
		s.late = append(s.late, sprintf("%d NACKs of %d nodes that refused two names: some were offered them again", n, s.size.nodes))
	}
	if n := s.used("history_bytes"); n > s.most {
		s.late = append(s.late, sprintf("the history has %d bytes, and its limit is %d", n, s.most))
	}
}
