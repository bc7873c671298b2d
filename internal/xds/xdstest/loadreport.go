package xdstest

import (
	"fmt"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	loadv3 "github.com/envoyproxy/go-control-plane/envoy/service/load_stats/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// LoadReports are the method and the stream of load reports.
const LoadReports = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats"

// LoadStream describes a client's side of it.
func LoadStream() *grpc.StreamDesc {
	return &grpc.StreamDesc{StreamName: "StreamLoadStats", ServerStreams: true, ClientStreams: true}
}

// LoadReport encodes what an Envoy sends, which has its node in each report, of 61 kB: the first request of a stream, and a report of so many clusters in three localities, to each of which so many
// requests were issued, one of which failed.
func LoadReport(t testing.TB, id string, clusters int, issued uint64, interval time.Duration) (first, report []byte) {
	t.Helper()
	n := Envoy(id)
	for i := range 516 {
		n.Extensions = append(n.Extensions, &corev3.Extension{Name: fmt.Sprint("envoy.filters.http.something.", i), Category: "envoy.filters.http", TypeUrls: []string{fmt.Sprint("envoy.extensions.filters.http.something.v3.Something", i)}})
	}
	all := &loadv3.LoadStatsRequest{Node: n}
	for i := range clusters {
		c := &endpointv3.ClusterStats{ClusterName: fmt.Sprint("cluster-", i), ClusterServiceName: fmt.Sprint("service-", i), LoadReportInterval: durationpb.New(interval)}
		for _, zone := range []string{"a", "b", "c"} {
			c.UpstreamLocalityStats = append(c.UpstreamLocalityStats, &endpointv3.UpstreamLocalityStats{
				Locality:            &corev3.Locality{Region: "eu-west-1", Zone: "eu-west-1" + zone},
				TotalIssuedRequests: issued, TotalSuccessfulRequests: issued - 1, TotalErrorRequests: 1, TotalRequestsInProgress: 3,
			})
		}
		all.ClusterStats = append(all.ClusterStats, c)
	}
	first, err := proto.Marshal(&loadv3.LoadStatsRequest{Node: n})
	if err == nil {
		report, err = proto.Marshal(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return first, report
}

// Bytes is a codec that passes on messages that are encoded already ([]byte), and what comes as it is (*[]byte).
type Bytes struct{}

// Name is "proto": what goes over the wire is ordinary protobuf.
func (Bytes) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (Bytes) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("a %T is not encoded", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (Bytes) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a %T has no place for bytes", v)
	}
	*b = data.Materialize()
	return nil
}
