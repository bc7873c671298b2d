package xds_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	loadv3 "github.com/envoyproxy/go-control-plane/envoy/service/load_stats/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// reporting is a world that takes load reports, and what it sums them in.
func reporting(t *testing.T, edit ...func(*xds.Config)) (*xdstest.World, *load.Recorder) {
	t.Helper()
	r := load.New(load.Bounds{})
	return xdstest.New(t, append([]func(*xds.Config){func(c *xds.Config) {
		c.Load = xds.LoadReports{Add: addTo(r), Interval: 10 * time.Second}
	}}, edit...)...), r
}

func addTo(r *load.Recorder) func(xds.Identity, load.Report, time.Duration) {
	return func(id xds.Identity, report load.Report, interval time.Duration) { r.Add(id.Key, report, interval) }
}

// reporter is a client of load reports.
type reporter struct {
	loadv3.LoadReportingService_StreamLoadStatsClient
	t *testing.T
}

func report(t *testing.T, w *xdstest.World, token string) reporter {
	t.Helper()
	return reportOver(t, w.Conn(), token)
}

func reportOver(t *testing.T, conn *grpc.ClientConn, token string) reporter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	ss, err := loadv3.NewLoadReportingServiceClient(conn).StreamLoadStats(xdstest.As(ctx, token))
	if err != nil {
		t.Fatal(err)
	}
	return reporter{ss, t}
}

func (r reporter) send(node *corev3.Node, stats ...*endpointv3.ClusterStats) {
	r.t.Helper()
	if err := r.Send(&loadv3.LoadStatsRequest{Node: node, ClusterStats: stats}); err != nil && !errors.Is(err, io.EOF) {
		r.t.Fatal(err)
	}
}

// begin opens with a node, and returns what it is answered.
func (r reporter) begin(id string) *loadv3.LoadStatsResponse {
	r.t.Helper()
	r.send(xdstest.Envoy(id))
	a, err := r.Recv()
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// stats are of a cluster in one locality.
func stats(name string, issued, failed uint64) *endpointv3.ClusterStats {
	return &endpointv3.ClusterStats{ClusterName: name, UpstreamLocalityStats: []*endpointv3.UpstreamLocalityStats{{
		Locality: &corev3.Locality{Region: "eu", Zone: "a"}, TotalIssuedRequests: issued, TotalSuccessfulRequests: issued - failed, TotalErrorRequests: failed,
	}}}
}

// taken is what was summed, in few words.
func taken(r *load.Recorder) (out []string) {
	synctest.Wait()
	ls, _ := r.Take()
	for _, l := range ls {
		place := strings.TrimRight(l.Region+"/"+l.Zone+"/"+l.SubZone, "/")
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s%s: %d %d %d, %d %v", l.Cluster, l.Kind, l.Of, place, l.Issued, l.Succeeded, l.Failed, l.Count, l.Total)))
	}
	slices.Sort(out)
	return out
}

// TestLoadReports: the first request is answered with the interval, and what comes after is summed, also where the node is left out or sent again.
func TestLoadReports(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, sums := reporting(t)
		s, other := report(t, w, "*"), report(t, w, "*")
		a := s.begin("n1")
		if !a.GetSendAllClusters() || a.GetLoadReportingInterval().AsDuration() != 10*time.Second || a.GetReportEndpointGranularity() || len(a.GetClusters()) > 0 {
			t.Errorf("answered %v", a)
		}
		other.send(xdstest.Envoy("n2"), stats("b", 4, 0)) // what an Envoy has done since its last stream
		if _, err := other.Recv(); err != nil {
			t.Fatal(err)
		}
		s.send(xdstest.Envoy("n1"), stats("a", 10, 1), stats("b", 1, 0))
		full := stats("a", 5, 5)
		full.TotalDroppedRequests = 7
		full.DroppedRequests = []*endpointv3.ClusterStats_DroppedRequests{{Category: "overload", DroppedCount: 3}}
		full.UpstreamLocalityStats[0].LoadMetricStats = []*endpointv3.EndpointLoadMetricStats{{MetricName: "queue", NumRequestsFinishedWithMetric: 2, TotalMetricValue: 0.5}}
		full.UpstreamLocalityStats[0].CpuUtilization = &endpointv3.UnnamedEndpointLoadMetricStats{NumRequestsFinishedWithMetric: 5, TotalMetricValue: 2.5}
		other.send(nil, full, &endpointv3.ClusterStats{ClusterName: "quiet", UpstreamLocalityStats: []*endpointv3.UpstreamLocalityStats{{Locality: &corev3.Locality{Region: "eu"}}}})
		want := []string{
			"a drops : 0 0 0, 4 0", "a drops overload: 0 0 0, 3 0", "a metric cpu_utilization: 0 0 0, 5 2.5", "a metric queue: 0 0 0, 2 0.5",
			"a requests eu/a: 15 9 6, 0 0", "b requests eu/a: 5 5 0, 0 0",
		}
		if d := cmp.Diff(want, taken(sums)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// sightings is what was noted of clusters and nodes, in few words.
func sightings(r *load.Recorder) (out []string) {
	synctest.Wait()
	seen := r.TakeSeen()
	for _, c := range seen.Clusters {
		word := "idle"
		if c.Called {
			word = "called"
		}
		out = append(out, c.Cluster+" "+word)
	}
	for _, n := range seen.Nodes {
		out = append(out, "node "+n.Node)
	}
	slices.Sort(out)
	return out
}

// TestLoadReportsOfIdleClusters: what was called is noted of each report, what is idle once in ten minutes and where clusters have come, and that a node reports all it has of an Envoy alone.
func TestLoadReportsOfIdleClusters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, sums := reporting(t)
		envoy, client, old := report(t, w, "*"), report(t, w, "*"), report(t, w, "*")
		envoy.begin("n1")
		of36 := xdstest.Envoy("n3")
		of36.UserAgentVersionType = &corev3.Node_UserAgentVersion{UserAgentVersion: "1.36.4"}
		old.send(of36)
		if _, err := old.Recv(); err != nil {
			t.Fatal(err)
		}
		client.send(xdstest.GRPC("n2"))
		if _, err := client.Recv(); err != nil {
			t.Fatal(err)
		}
		idle := func(name string) *endpointv3.ClusterStats {
			return &endpointv3.ClusterStats{ClusterName: name, UpstreamLocalityStats: []*endpointv3.UpstreamLocalityStats{{Locality: &corev3.Locality{Region: "eu"}}}}
		}
		others := []*endpointv3.ClusterStats{idle(""), idle(strings.Repeat("x", load.MaxName+1))}
		envoy.send(nil, append(others, stats("b", 1, 0))...)
		envoy.send(nil, append(others, idle("b"), idle("a"))...) // it has one more by now, so the next one is looked through, too
		envoy.send(nil, append(others, idle("b"), idle("a"))...)
		client.send(nil, stats("c", 1, 0))
		old.send(nil, idle("a"))
		if d := cmp.Diff([]string{"a idle", "b called", "c called", "node n1"}, sightings(sums)); d != "" {
			t.Errorf("at first (-want +got):\n%s", d)
		}
		time.Sleep(9 * time.Minute)
		envoy.send(nil, append(others, idle("b"), idle("a"))...)
		if d := cmp.Diff([]string(nil), sightings(sums)); d != "" {
			t.Errorf("soon after (-want +got):\n%s", d)
		}
		time.Sleep(time.Minute)
		envoy.send(nil, append(others, idle("b"), idle("a"))...) // the next one is looked through
		envoy.send(nil, append(others, stats("a", 1, 0), idle("b"))...)
		if d := cmp.Diff([]string{"a called", "b idle", "node n1"}, sightings(sums)); d != "" {
			t.Errorf("later (-want +got):\n%s", d)
		}
		lost := stats("d", 1, 0)
		lost.UpstreamLocalityStats[0].Locality.Region = "\x00"
		envoy.send(nil, lost, stats(strings.Repeat("x", load.MaxName+1), 1, 0))
		if d := cmp.Diff([]string{" idle", "d called"}, sightings(sums)); d != "" {
			t.Errorf("of what is left out (-want +got):\n%s", d)
		}
	})
}

// TestLoadReportsFollowTheFleetsSettings: the first answer has what the fleet says, and what it says later comes after the next report, once.
func TestLoadReportsFollowTheFleetsSettings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var set atomic.Pointer[fleet.LoadSettings]
		set.Store(&fleet.LoadSettings{Interval: 30 * time.Second, Clusters: []string{"a", "b"}})
		w, sums := reporting(t, func(c *xds.Config) {
			c.Load.Least, c.Load.Settings = 2*time.Second, func(context.Context, xds.Identity) *fleet.LoadSettings { return set.Load() }
		})
		s := report(t, w, "*")
		is := func(a *loadv3.LoadStatsResponse, interval time.Duration, all bool, clusters ...string) {
			t.Helper()
			if a.GetSendAllClusters() != all || a.GetLoadReportingInterval().AsDuration() != interval || !slices.Equal(a.GetClusters(), clusters) {
				t.Errorf("answered %v", a)
			}
		}
		is(s.begin("n1"), 30*time.Second, false, "a", "b")
		var answers atomic.Int32
		var last atomic.Pointer[loadv3.LoadStatsResponse]
		go func() { // it ends with the stream
			for a, err := s.Recv(); err == nil; a, err = s.Recv() {
				last.Store(a)
				answers.Add(1)
			}
		}()
		s.send(nil, stats("a", 1, 0))
		taken(sums)
		if n := answers.Load(); n != 0 {
			t.Fatalf("%d answers without a change", n)
		}
		set.Store(&fleet.LoadSettings{})
		s.send(nil, stats("a", 1, 0))
		s.send(nil, stats("a", 1, 0))
		taken(sums)
		if n := answers.Load(); n != 1 {
			t.Fatalf("%d answers to a change", n)
		}
		is(last.Load(), 10*time.Second, true)
		set.Store(&fleet.LoadSettings{Interval: time.Second})
		s.send(nil, stats("a", 1, 0))
		taken(sums)
		is(last.Load(), 2*time.Second, true) // as often as the operator allows
	})
}

// TestLoadReportsOfEndpoints: where the fleet asks for them they are counted by address, of at most so many; else they are passed over.
func TestLoadReportsOfEndpoints(t *testing.T) {
	socket := func(host string, port uint32) *corev3.Address {
		return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{Address: host, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port}}}}
	}
	full := func() *endpointv3.ClusterStats {
		c := stats("a", 10, 1)
		for _, a := range []*corev3.Address{
			socket("10.0.0.7", 8080), socket("2001:db8::1", 80), {Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: "/run/a.sock"}}},
			{Address: &corev3.Address_EnvoyInternalAddress{EnvoyInternalAddress: &corev3.EnvoyInternalAddress{AddressNameSpecifier: &corev3.EnvoyInternalAddress_ServerListenerName{ServerListenerName: "l"}, EndpointId: "e"}}},
			nil, {Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: strings.Repeat("x", load.MaxText+1)}}},
		} {
			c.UpstreamLocalityStats[0].UpstreamEndpointStats = append(c.UpstreamLocalityStats[0].UpstreamEndpointStats,
				&endpointv3.UpstreamEndpointStats{Address: a, TotalIssuedRequests: 3, TotalSuccessfulRequests: 2, TotalErrorRequests: 1})
		}
		c.UpstreamLocalityStats[0].UpstreamEndpointStats = append(c.UpstreamLocalityStats[0].UpstreamEndpointStats, &endpointv3.UpstreamEndpointStats{Address: socket("10.0.0.8", 8080)}) // nothing happened
		return c
	}
	requests := "a requests eu/a: 10 9 1, 0 0"
	for _, x := range []struct {
		set  fleet.LoadSettings
		want []string
	}{
		{fleet.LoadSettings{}, []string{requests}},
		{fleet.LoadSettings{Endpoints: true}, []string{
			"a endpoint /run/a.sockeu/a: 3 2 1, 0 0", "a endpoint 10.0.0.7:8080eu/a: 3 2 1, 0 0", "a endpoint [2001:db8::1]:80eu/a: 3 2 1, 0 0", "a endpoint envoy://l/eeu/a: 3 2 1, 0 0",
			requests, "left_out : 0 0 0, 2 0",
		}},
	} {
		t.Run(fmt.Sprint("asked for ", x.set.Endpoints), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, sums := reporting(t, func(c *xds.Config) {
					c.Load.Settings = func(context.Context, xds.Identity) *fleet.LoadSettings { return &x.set }
				})
				s := report(t, w, "*")
				if a := s.begin("n1"); a.GetReportEndpointGranularity() != x.set.Endpoints {
					t.Errorf("answered %v", a)
				}
				s.send(nil, full())
				if d := cmp.Diff(x.want, taken(sums)); d != "" {
					t.Errorf("%+v (-want +got):\n%s", x.set, d)
				}
				many := stats("b", 1, 0)
				for i := range load.MaxEndpoints + 2 {
					many.UpstreamLocalityStats[0].UpstreamEndpointStats = append(many.UpstreamLocalityStats[0].UpstreamEndpointStats, &endpointv3.UpstreamEndpointStats{Address: socket("10.0.0.7", uint32(i+1)), TotalIssuedRequests: 1}) //nolint:gosec // small
				}
				s.send(nil, many)
				if got := taken(sums); x.set.Endpoints && (len(got) != load.MaxEndpoints+2 || !slices.Contains(got, "left_out : 0 0 0, 2 0")) {
					t.Errorf("%d sums", len(got))
				}
			})
		})
	}
}

// TestT49_LoadReportsOfANodeThatMayNot: who may not say so is refused, and the fleet is told.
func TestT49_LoadReportsOfANodeThatMayNot(t *testing.T) {
	for _, x := range []struct {
		name  string
		token string
		first *loadv3.LoadStatsRequest
		then  *loadv3.LoadStatsRequest
		code  codes.Code
		told  fleet.DeniedReason
	}{
		{"another's id", "edge-*", &loadv3.LoadStatsRequest{Node: xdstest.Envoy("core-1")}, nil, codes.PermissionDenied, fleet.DeniedNodeID},
		{"no node", "*", &loadv3.LoadStatsRequest{}, nil, codes.InvalidArgument, fleet.DeniedRequest},
		{"no id", "*", &loadv3.LoadStatsRequest{Node: xdstest.Envoy("")}, nil, codes.InvalidArgument, fleet.DeniedRequest},
		{"a node too large", "*", &loadv3.LoadStatsRequest{Node: heavyNode()}, nil, codes.ResourceExhausted, fleet.DeniedRequest},
		{"another node later", "*", &loadv3.LoadStatsRequest{Node: xdstest.Envoy("n1")}, &loadv3.LoadStatsRequest{Node: xdstest.Envoy("n2")}, codes.PermissionDenied, ""},
		{"a report too large", "*", &loadv3.LoadStatsRequest{Node: xdstest.Envoy("n1")}, &loadv3.LoadStatsRequest{ClusterStats: []*endpointv3.ClusterStats{{ClusterName: strings.Repeat("x", 5<<20)}}}, codes.ResourceExhausted, fleet.DeniedRequest},
		{"no token", "", &loadv3.LoadStatsRequest{Node: xdstest.Envoy("n1")}, nil, codes.Unauthenticated, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told fleet.DeniedReason
				w, sums := reporting(t, func(c *xds.Config) {
					c.Denied = func(_ xds.Identity, reason fleet.DeniedReason, _, _, _ string) { told = reason }
				})
				s := report(t, w, x.token)
				x.first.ClusterStats = append(x.first.ClusterStats, stats("a", 1, 0))
				_ = s.Send(x.first) // may come too late: the reason comes with Recv
				_, err := s.Recv()
				if x.then != nil {
					taken(sums)
					_ = s.Send(x.then) // likewise
					_, err = s.Recv()
				}
				synctest.Wait()
				if status.Code(err) != x.code || told != x.told {
					t.Errorf("ended with %v, told as %q, want %v and %q", err, told, x.code, x.told)
				}
				if got := taken(sums); len(got) > 0 {
					t.Errorf("summed %v", got)
				}
			})
		})
	}
}

// TestT49_LoadReportsAreBounded: what one report says too much of is left out and counted, and the stream goes on; nobody else's is left out.
func TestT49_LoadReportsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, sums := reporting(t)
		s := report(t, w, "*")
		s.begin("n1")
		var all []*endpointv3.ClusterStats
		for i := range load.MaxClusters + 10 {
			all = append(all, stats(fmt.Sprint("c", i), 1, 0))
		}
		s.send(nil, all...)
		if got := taken(sums); len(got) != load.MaxClusters+1 || !slices.Contains(got, "left_out : 0 0 0, 10 0") {
			t.Errorf("%d sums, the last is %q", len(got), got[len(got)-1])
		}
		wide := stats("a", 1, 0)
		for i := range load.MaxLocalities + 3 {
			wide.UpstreamLocalityStats = append(wide.UpstreamLocalityStats, &endpointv3.UpstreamLocalityStats{Locality: &corev3.Locality{Region: fmt.Sprint("r", i)}, TotalIssuedRequests: 1})
			wide.DroppedRequests = append(wide.DroppedRequests, &endpointv3.ClusterStats_DroppedRequests{Category: fmt.Sprint("d", i), DroppedCount: 1})
			wide.UpstreamLocalityStats[0].LoadMetricStats = append(wide.UpstreamLocalityStats[0].LoadMetricStats, &endpointv3.EndpointLoadMetricStats{MetricName: fmt.Sprint("m", i), NumRequestsFinishedWithMetric: 1})
		}
		s.send(nil, wide)
		over := 1 + 3 + load.MaxLocalities + 3 - load.MaxCategories + load.MaxLocalities + 3 - load.MaxMetrics
		if got := taken(sums); len(got) != load.MaxLocalities+load.MaxCategories+load.MaxMetrics+1 || !slices.Contains(got, fmt.Sprintf("left_out : 0 0 0, %d 0", over)) {
			t.Errorf("%d sums, %v; want %d over", len(got), got, over)
		}
		long, control, broken := stats(strings.Repeat("x", load.MaxName+1), 1, 0), stats("a\x00b", 1, 0), stats("a", 1, 0)
		broken.UpstreamLocalityStats[0].Locality.Region = strings.Repeat("x", load.MaxText+1)
		s.send(nil, long, control, stats("", 1, 0), broken, stats("good", 1, 0))
		if d := cmp.Diff([]string{"good requests eu/a: 1 1 0, 0 0", "left_out : 0 0 0, 4 0"}, taken(sums)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestT49_LoadReportsArePaced: what comes faster waits unread.
func TestT49_LoadReportsArePaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, sums := reporting(t)
		s := report(t, w, "*")
		s.begin("n1")
		for range 30 {
			s.send(nil, stats("a", 1, 0))
		}
		if d := cmp.Diff([]string{"a requests eu/a: 9 9 0, 0 0"}, taken(sums)); d != "" { // the first report is one of ten
			t.Errorf("at once (-want +got):\n%s", d)
		}
		time.Sleep(5*time.Second + time.Millisecond)
		if d := cmp.Diff([]string{"a requests eu/a: 10 10 0, 0 0"}, taken(sums)); d != "" {
			t.Errorf("in 5 s (-want +got):\n%s", d)
		}
	})
}

// TestT49_LoadReportsAtOnce are bounded for the server, a tenant and a credential, and those that end give their places back.
func TestT49_LoadReportsAtOnce(t *testing.T) {
	for of, limit := range map[string]func(*xds.Limits){
		"server": func(l *xds.Limits) { l.Reports, l.ReportsPerTenant, l.ReportsPerCredential = 3, 9, 9 }, "tenant": func(l *xds.Limits) { l.ReportsPerTenant = 3 },
		"credential": func(l *xds.Limits) { l.ReportsPerCredential = 3 },
	} {
		t.Run(of, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, _ := reporting(t, func(c *xds.Config) {
					c.Authenticator = tenants{c.Authenticator}
					limit(&c.Limits)
				})
				streams := []reporter{report(t, w, "*"), report(t, w, "*"), report(t, w, "*")}
				for i, s := range streams {
					s.begin(fmt.Sprint("n", i))
				}
				s := report(t, w, "*")
				s.send(xdstest.Envoy("n4"))
				if _, err := s.Recv(); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "the "+of+" has 3 streams of load reports") {
					t.Errorf("ended with %v", err)
				}
				if of != "server" {
					report(t, w, "other-*").begin("other-1")
				}
				if err := streams[0].CloseSend(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				report(t, w, "*").begin("n5")
			})
		})
	}
}

// TestT49_LoadReportsEnd with the credential, the connection's age, the server's drain, and where nothing is said at first.
func TestT49_LoadReportsEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var revoked atomic.Bool
		w, sums := reporting(t, func(c *xds.Config) {
			good := c.Authenticator.Authenticate
			c.Authenticator = authenticate(func(ctx context.Context, token string) (xds.Identity, error) {
				if revoked.Load() && token == "edge-*" {
					return xds.Identity{}, fleet.ErrUnauthenticated
				}
				return good(ctx, token)
			})
		})
		silent := report(t, w, "*")
		if _, err := silent.Recv(); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("a silent one ended with %v", err)
		}
		ends, sends, stays := report(t, w, "edge-*"), report(t, w, "edge-*"), report(t, w, "*")
		ends.begin("edge-1")
		sends.begin("edge-2")
		stays.begin("n1")
		revoked.Store(true)
		sends.send(nil, stats("a", 1, 0))
		for _, s := range []reporter{ends, sends} {
			if _, err := s.Recv(); status.Code(err) != codes.Unauthenticated {
				t.Errorf("of a revoked credential one ended with %v", err)
			}
		}
		if got := taken(sums); len(got) > 0 {
			t.Errorf("of a revoked credential is summed %v", got)
		}
		w.Server.Drain()
		if _, err := stays.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("at the drain one ended with %v, want OK", err)
		}
	})
}

// TestT49_LoadReportsLeaveDiscoveryAlone: a stream of reports that is refused ends no stream of discovery on the same connection.
func TestT49_LoadReportsLeaveDiscoveryAlone(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"))
		s.Subscribe(fleet.Cluster)
		s.Settle()
		r := report(t, w, "*") // this world takes none
		r.send(xdstest.Envoy("n1"))
		if _, err := r.Recv(); status.Code(err) != codes.Unimplemented {
			t.Errorf("ended with %v", err)
		}
		w.Publish(xdstest.Put(fleet.Cluster, "a", "2"))
		s.Ack(s.Want("clusters a@2"))
	})
}
