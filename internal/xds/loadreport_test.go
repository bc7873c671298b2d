package xds

import (
	"fmt"
	"math"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	loadv3 "github.com/envoyproxy/go-control-plane/envoy/service/load_stats/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

// envoyReport is a report as Envoy sends it each time: with its node, and with every cluster.
func envoyReport(clusters int) *loadv3.LoadStatsRequest {
	r := &loadv3.LoadStatsRequest{Node: &corev3.Node{Id: "n1", Cluster: "edge", UserAgentName: "envoy"}}
	for i := range 516 {
		r.Node.Extensions = append(r.Node.Extensions, &corev3.Extension{Name: fmt.Sprint("envoy.filters.http.something.", i), Category: "envoy.filters.http", TypeUrls: []string{fmt.Sprint("envoy.extensions.filters.http.something.v3.Something", i)}})
	}
	for i := range clusters {
		c := &endpointv3.ClusterStats{ClusterName: fmt.Sprint("cluster-", i), ClusterServiceName: fmt.Sprint("service-", i), LoadReportInterval: durationpb.New(10 * time.Second)}
		for _, zone := range []string{"a", "b", "c"} {
			c.UpstreamLocalityStats = append(c.UpstreamLocalityStats, &endpointv3.UpstreamLocalityStats{
				Locality: &corev3.Locality{Region: "eu-west-1", Zone: "eu-west-1" + zone}, TotalIssuedRequests: 100, TotalSuccessfulRequests: 98, TotalErrorRequests: 2, TotalRequestsInProgress: 3,
			})
		}
		r.ClusterStats = append(r.ClusterStats, c)
	}
	return r
}

// BenchmarkLoadReport is what one report costs the server from its bytes to its sums, its node included: once for a node and an interval.
func BenchmarkLoadReport(b *testing.B) {
	for _, clusters := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(clusters, " clusters"), func(b *testing.B) {
			encoded, err := proto.Marshal(envoyReport(clusters))
			if err != nil {
				b.Fatal(err)
			}
			sums, key := load.New(load.Bounds{}), fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
			var node pinnedNode
			b.ReportAllocs()
			b.SetBytes(int64(len(encoded)))
			for i := 0; b.Loop(); i++ {
				r := &loadReport{}
				if i > 0 {
					r.pinned = &node
				}
				err := r.receive(mem.BufferSlice{mem.SliceBuffer(encoded)})
				if err == nil && i == 0 {
					node, err = pin(r.node)
				}
				if err != nil || len(r.Clusters) != clusters {
					b.Fatal(err, len(r.Clusters))
				}
				sums.Add(key, r.Report, 10*time.Second)
				r.leave()
			}
		})
	}
}

// FuzzT49_LoadReport compares with protobuf's own decoder: the same is refused, and the sums of what is within the bounds are the same.
func FuzzT49_LoadReport(f *testing.F) {
	for _, r := range []*loadv3.LoadStatsRequest{
		{}, envoyReport(2),
		{ClusterStats: []*endpointv3.ClusterStats{{
			ClusterName: "a", TotalDroppedRequests: 5, DroppedRequests: []*endpointv3.ClusterStats_DroppedRequests{{Category: "x", DroppedCount: 3}},
			UpstreamLocalityStats: []*endpointv3.UpstreamLocalityStats{{
				TotalErrorRequests: math.MaxUint64, LoadMetricStats: []*endpointv3.EndpointLoadMetricStats{{MetricName: "m", NumRequestsFinishedWithMetric: 1, TotalMetricValue: math.Inf(1)}},
				CpuUtilization: &endpointv3.UnnamedEndpointLoadMetricStats{NumRequestsFinishedWithMetric: 1, TotalMetricValue: 0.5},
			}},
		}}},
	} {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0x12, 0x02, 0x08, 0x01}) // a name that is a number
	f.Add([]byte{0x12, 0x03, 0x12, 0x01}) // it ends too early
	f.Fuzz(func(t *testing.T, b []byte) {
		got := &loadReport{idle: true, endpoints: true}
		err := got.receive(mem.BufferSlice{mem.SliceBuffer(b)})
		want := &loadv3.LoadStatsRequest{}
		if proto.Unmarshal(b, want) != nil {
			return // that one looks into every message, and at every text
		}
		if err != nil {
			t.Fatalf("refused %v: %v", want, err)
		}
		if n := len(got.Clusters) + len(got.Idle); n > len(want.GetClusterStats()) {
			t.Fatalf("%d clusters of %v", n, want)
		}
		if len(want.GetClusterStats()) > load.MaxClusters || got.LeftOut > 0 {
			return
		}
		var issued, failed, dropped [2]uint64
		for _, c := range want.GetClusterStats() {
			told := uint64(0)
			for _, d := range c.GetDroppedRequests() {
				dropped[0] += d.GetDroppedCount()
				told = together(told, d.GetDroppedCount())
			}
			if all := c.GetTotalDroppedRequests(); all > told {
				dropped[0] += all - told
			}
			for _, l := range c.GetUpstreamLocalityStats() {
				issued[0] += l.GetTotalIssuedRequests()
				failed[0] += l.GetTotalErrorRequests()
			}
		}
		for _, c := range got.Clusters {
			for _, d := range c.Drops {
				dropped[1] += d.Count
			}
			for _, l := range c.Localities {
				issued[1] += l.Issued
				failed[1] += l.Failed
			}
		}
		if issued[0] != issued[1] || failed[0] != failed[1] || dropped[0] != dropped[1] {
			t.Fatalf("issued %v, failed %v, dropped %v of %v", issued, failed, dropped, want)
		}
	})
}

// What a report says in parts is no small number where it is too large: of a metric that a cluster's localities tell, and of drops that their categories tell.
func TestT49_PartsOfAReportDoNotBeginAnew(t *testing.T) {
	t.Parallel()
	c := &endpointv3.ClusterStats{ClusterName: "c", TotalDroppedRequests: 2}
	for range 3 {
		c.DroppedRequests = append(c.DroppedRequests, &endpointv3.ClusterStats_DroppedRequests{Category: "x", DroppedCount: math.MaxUint64/2 + 1})
		c.UpstreamLocalityStats = append(c.UpstreamLocalityStats, &endpointv3.UpstreamLocalityStats{LoadMetricStats: []*endpointv3.EndpointLoadMetricStats{{MetricName: "m", NumRequestsFinishedWithMetric: math.MaxUint64/2 + 1, TotalMetricValue: 1}}})
	}
	many := &endpointv3.ClusterStats{ClusterName: "many"}
	for range 2049 {
		many.UpstreamLocalityStats = append(many.UpstreamLocalityStats, &endpointv3.UpstreamLocalityStats{LoadMetricStats: []*endpointv3.EndpointLoadMetricStats{{MetricName: "m", NumRequestsFinishedWithMetric: fleet.MostLoad}}})
	}
	b, err := proto.Marshal(&loadv3.LoadStatsRequest{ClusterStats: []*endpointv3.ClusterStats{c, many}})
	if err != nil {
		t.Fatal(err)
	}
	got := &loadReport{}
	if err := got.receive(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Clusters {
		if len(c.Metrics) != 1 || c.Metrics[0].Count < fleet.MostLoad {
			t.Errorf("the metrics of %s are %v", c.Name, c.Metrics)
		}
		for _, d := range c.Drops {
			if d.Category == "" {
				t.Errorf("%d drops of no category beside %v", d.Count, c.Drops)
			}
		}
	}
}

// A cluster that is left out takes no room, be it for its name or for those that stand before it: a locality is four bytes on the wire, and 72 here.
func TestT49_WhatIsLeftOutOfAReportTakesNoRoom(t *testing.T) {
	t.Parallel()
	for name, cluster := range map[string][]byte{"without a name": nil, "too many": protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "c")} {
		for range load.MaxLocalities {
			cluster = protowire.AppendBytes(protowire.AppendTag(cluster, 2, protowire.BytesType), []byte{byte(localityIssued >> 3 << 3), 0, 0x10, 1})
		}
		var b []byte
		for len(b)+len(cluster)+8 < largeMessage {
			b = protowire.AppendBytes(protowire.AppendTag(b, reportClusters, protowire.BytesType), cluster)
		}
		r := &loadReport{endpoints: true}
		if err := r.receive(mem.BufferSlice{mem.SliceBuffer(b)}); err != nil {
			t.Fatal(err)
		}
		if most := (load.MaxClusters + 1) * load.MaxLocalities; len(r.Clusters) > load.MaxClusters || r.LeftOut == 0 || cap(r.localities) > 2*most {
			t.Errorf("%s: %d clusters are kept, with room for %d localities, %d left out", name, len(r.Clusters), cap(r.localities), r.LeftOut)
		}
		r.leave()
	}
}
