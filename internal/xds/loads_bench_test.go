package xds_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// BenchmarkReportingNodes is what an interval of 1,000 nodes costs that report a hundred clusters each, in three localities, with the node that Envoy sends each time. The floor is a server that reads the bytes and drops
// them: both have the clients' part in their figures, which is the same.
func BenchmarkReportingNodes(b *testing.B) {
	const nodes, clusters, perConnection = 1000, 100, 50
	var left atomic.Int64
	done := make(chan struct{}, 1)
	took := func() {
		if left.Add(-1) == 0 {
			done <- struct{}{}
		}
	}
	servers := map[string]func(*testing.B) func() *grpc.ClientConn{
		"fairlead": func(b *testing.B) func() *grpc.ClientConn {
			w := xdstest.New(b, func(c *xds.Config) {
				c.Load = xds.LoadReports{Add: addTo(load.New(load.Bounds{})), Interval: 10 * time.Second, Settings: func(context.Context, xds.Identity) *fleet.LoadSettings {
					took() // with the first answer, and after each report
					return &usualLoad
				}}
			})
			left.Store(2 * nodes)
			return func() *grpc.ClientConn {
				return w.Dial(grpc.WithDefaultCallOptions(grpc.ForceCodecV2(xdstest.Bytes{})))
			}
		},
		"floor": func(b *testing.B) func() *grpc.ClientConn {
			line := xdstest.Serve(b, func(r grpc.ServiceRegistrar) {
				r.RegisterService(&grpc.ServiceDesc{
					ServiceName: "envoy.service.load_stats.v3.LoadReportingService",
					Streams: []grpc.StreamDesc{{StreamName: "StreamLoadStats", ServerStreams: true, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
						for first := true; ; first = false {
							var data []byte
							if err := s.RecvMsg(&data); err != nil {
								return err
							}
							if first {
								if err := s.SendMsg([]byte{}); err != nil {
									return err
								}
							}
							took()
						}
					}}},
				}, nil)
			}, grpc.ForceServerCodecV2(xdstest.Bytes{}))
			left.Store(nodes)
			return func() *grpc.ClientConn {
				return line.Dial(grpc.WithDefaultCallOptions(grpc.ForceCodecV2(xdstest.Bytes{})))
			}
		},
	}
	for _, name := range []string{"fairlead", "floor"} {
		b.Run(name, func(b *testing.B) {
			dial := servers[name](b)
			ctx, cancel := context.WithCancel(xdstest.As(b.Context(), "*"))
			defer cancel()
			streams, reports := make([]grpc.ClientStream, nodes), make([][]byte, nodes)
			var conn *grpc.ClientConn
			for i := range nodes {
				if i%perConnection == 0 {
					conn = dial()
				}
				var first []byte
				first, reports[i] = xdstest.LoadReport(b, fmt.Sprint("n", i), clusters, 100, 10*time.Second)
				s, err := conn.NewStream(ctx, xdstest.LoadStream(), xdstest.LoadReports)
				if err == nil {
					err = s.SendMsg(first)
				}
				var answer []byte
				if err == nil {
					err = s.RecvMsg(&answer)
				}
				if err != nil {
					b.Fatal(err)
				}
				streams[i] = s
			}
			<-done
			b.ReportAllocs()
			b.ResetTimer()
			cpu, intervals := cpuTime(), 0
			for ; b.Loop(); intervals++ {
				left.Store(nodes)
				for i, s := range streams {
					if err := s.SendMsg(reports[i]); err != nil {
						b.Fatal(err)
					}
				}
				<-done
			}
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(intervals*nodes), "µs-cpu/node")
		})
	}
}

var usualLoad fleet.LoadSettings
