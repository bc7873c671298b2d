package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"fairlead/internal/xds/xdstest"
	"fairlead/test/world"
)

// TestSoakManyNodesReport: many nodes of a hundred clusters report to one server, and the sums are what they said. With FAIRLEAD_SOAK they are a thousand, every ten seconds, and a node and
// interval cost a millisecond of a processor at most, with all that the server does.
func TestSoakManyNodesReport(t *testing.T) {
	if !full() {
		t.Parallel()
	}
	const clusters, issued, perConnection = 100, 40, 100
	nodes, intervals, every := 20, 3, time.Second
	if full() {
		nodes, intervals, every = 1000, 12, 10*time.Second
	}
	w := setup(t)
	s := w.XDS("--load-report-interval", every.String())
	server := &measured{s.Program}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+w.NodeToken)
	streams, reports := make([]grpc.ClientStream, nodes), make([][]byte, nodes)
	var opened sync.WaitGroup
	var conn *grpc.ClientConn
	for i := range nodes {
		if i%perConnection == 0 {
			var err error
			conn, err = grpc.NewClient("passthrough:///"+s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(xdstest.Bytes{})))
			world.Must(t, err)
			defer conn.Close() //nolint:errcheck // nothing is pending
		}
		var first []byte
		first, reports[i] = xdstest.LoadReport(t, fmt.Sprint("n", i), clusters, issued, every)
		opened.Go(func() { streams[i] = openReports(ctx, t, conn, first) })
	}
	opened.Wait()
	if t.Failed() {
		return
	}
	begun := server.processor(t)
	tick := time.NewTicker(every / time.Duration(nodes))
	defer tick.Stop()
	for range intervals {
		for i, stream := range streams {
			world.Must(t, stream.SendMsg(reports[i]))
			<-tick.C
		}
	}
	want := strconv.Itoa(nodes * intervals * clusters * 3 * issued)
	sum := func() string { return w.text(`SELECT coalesce(sum(issued), 0)::text FROM load_minutes`) }
	world.Eventually(t, world.Soon+2*every, "the sums are not what was said", func() bool { return sum() == want })
	each := (server.processor(t) - begun) / time.Duration(nodes*intervals)
	t.Logf("%d nodes of %d clusters, %d reports each every %s: %s of a processor for a node and interval, %s rows, memory %d MiB at most", nodes, clusters, intervals, every, each,
		w.text(`SELECT count(*)::text FROM load_minutes`), server.memory(t, "VmHWM")>>10)
	if full() && each > time.Millisecond {
		t.Errorf("a node and interval cost %s", each)
	}
	if left := w.text(`SELECT count(*)::text FROM load_minutes WHERE kind = 'left_out'`); left != "0" {
		t.Errorf("%s minutes have what was left out", left)
	}
}

// openReports opens a stream of reports, and waits for its answer.
func openReports(ctx context.Context, t testing.TB, conn *grpc.ClientConn, first []byte) grpc.ClientStream {
	s, err := conn.NewStream(ctx, xdstest.LoadStream(), xdstest.LoadReports)
	if err == nil {
		err = s.SendMsg(first)
	}
	var answer []byte
	if err == nil {
		err = s.RecvMsg(&answer)
	}
	if err != nil {
		t.Errorf("open a stream of reports: %v", err)
	}
	return s
}

// TestSoakLoadOfAnEnvoyUnderLoad: a real Envoy sends what sixteen clients ask for as fast as they can, a seventh of which fails, to two clusters; the sums are what was sent, at most one in a hundred off.
func TestSoakLoadOfAnEnvoyUnderLoad(t *testing.T) {
	t.Parallel()
	const clients = 16
	each := 250
	if full() {
		each = 20_000
	}
	w := setup(t)
	s := w.XDS("--load-report-interval", "1s")
	backend := failsSometimes(t)
	addresses := map[string]string{"a": world.FreePort(t), "b": world.FreePort(t)}
	var resources []world.Resource
	for name, address := range addresses {
		resources = append(resources, world.Listener("l"+name, address, "r"+name), world.Route("r"+name, name), world.Cluster(name, "1s"),
			world.NewResource("endpoints", name, fmt.Sprintf(`{cluster_name: %s, endpoints: [{locality: {region: eu}, lb_endpoints: [{endpoint: {address: %s}}]}]}`, name, world.Socket(backend))))
	}
	w.Apply(world.Together(resources...))
	e := w.reporting("n", s.Address)
	begun := reportsOf(t, e)
	world.Eventually(t, world.Soon, "Envoy does not report", func() bool { return reportsOf(t, e) >= begun+2 })
	type tally struct{ good, bad atomic.Int64 }
	sent := map[string]*tally{"a": {}, "b": {}}
	var running sync.WaitGroup
	client := http.Client{Timeout: world.Soon, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	for i := range clients {
		name := string("ab"[i%2])
		running.Go(func() {
			for k := range each {
				path, want, count := "/", http.StatusOK, &sent[name].good
				if k%7 == 0 {
					path, want, count = "/fail", http.StatusServiceUnavailable, &sent[name].bad
				}
				if code := get(t.Context(), &client, "http://"+addresses[name]+path); code != want {
					t.Errorf("%s of %s is answered %d", path, name, code)
					return
				}
				count.Add(1)
			}
		})
	}
	running.Wait()
	for name, of := range sent {
		good, bad := of.good.Load(), of.bad.Load()
		var issued, ended, failed int64
		world.Eventually(t, world.Soon, "the sums are not what was sent", func() bool {
			issued, ended, failed = 0, 0, 0
			for _, m := range w.load(&name) {
				issued, ended, failed = issued+m.Issued, ended+m.Successful, failed+m.Errors
			}
			if issued > good+bad || ended > good || failed > bad {
				t.Fatalf("%s: told are %d, %d good and %d bad of %d good and %d bad", name, issued, ended, failed, good, bad)
			}
			return issued*100 >= (good+bad)*99 && ended*100 >= good*99 && failed*100 >= bad*99
		})
		t.Logf("%s: told are %d, %d good and %d bad of %d good and %d bad", name, issued, ended, failed, good, bad)
	}
}

// get returns the status of an answer, which is read to its end so that the connection can be used again; 0: there was none.
func get(ctx context.Context, c *http.Client, url string) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}
