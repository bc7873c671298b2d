package xds_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// orders are where a client of state of the world puts a new name: Envoy before all others, other clients behind them, and one that keeps its
// names in a hash among them.
var orders = map[string]func(names []string, name string) []string{
	"before": func(names []string, name string) []string { return append([]string{name}, names...) },
	"behind": func(names []string, name string) []string { return append(slices.Clone(names), name) },
	"among": func(names []string, name string) []string {
		return slices.Insert(slices.Clone(names), len(names)/2, name)
	},
}

// BenchmarkNames is one more name that nothing accounts for, asked for by a client that asks for so many already.
func BenchmarkNames(b *testing.B) {
	for _, n := range []int{1000, 5000, 10_000} {
		base := make([]string, n)
		for i := range base {
			base[i] = fmt.Sprintf("r/%06d.outsiders.example", i)
		}
		for order, insert := range orders {
			for _, broken := range []bool{false, true} {
				name := fmt.Sprintf("SotW/%d/%s", n, order)
				if broken {
					name += "-beside-one-that-is-not-UTF-8"
				}
				b.Run(name, func(b *testing.B) { moreNames(b, base, insert, broken) })
			}
		}
		for _, typ := range []fleet.Type{fleet.Secret, fleet.Endpoint, fleet.Cluster, fleet.Route, fleet.VirtualHost} {
			b.Run(fmt.Sprintf("delta/%s/%d", typ.Slug(), n), func(b *testing.B) {
				requests := []proto.Message{&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typ.URL(), ResourceNamesSubscribe: base}}
				var more []string
				for i := range 50 {
					more = append(more, fmt.Sprintf("r/new-%02d.outsiders.example", i))
					requests = append(requests, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typ.URL(), ResourceNamesSubscribe: more[i:]})
				}
				requests[0] = &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typ.URL(), ResourceNamesUnsubscribe: more}
				requests = append(requests[1:], requests[0])
				nameRequests(b, xdstest.DeltaADS, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typ.URL(), ResourceNamesSubscribe: base}, requests)
			})
		}
	}
}

func moreNames(b *testing.B, base []string, insert func([]string, string) []string, broken bool) {
	if broken {
		base = slices.Insert(slices.Clone(base), len(base)/3, "b\xc3\x28")
	}
	var requests []proto.Message
	names := base
	for i := range 50 {
		names = insert(names, fmt.Sprintf("r/new-%02d.outsiders.example", i))
		requests = append(requests, asks(names))
	}
	nameRequests(b, xdstest.SotWADS, asks(base), requests)
}

// asks is a request of state of the world for secrets. Its names are encoded once, and need not be UTF-8, as those of Envoy's encoder need not.
func asks(names []string) *discoveryv3.DiscoveryRequest {
	var list []byte
	for _, name := range names {
		list = protowire.AppendString(protowire.AppendTag(list, 3, protowire.BytesType), name)
	}
	r := &discoveryv3.DiscoveryRequest{TypeUrl: fleet.Secret.URL()}
	r.ProtoReflect().SetUnknown(list)
	return r
}

func nameRequests(b *testing.B, v xdstest.Protocol, first proto.Message, requests []proto.Message) {
	w := xdstest.New(b, func(c *xds.Config) {
		c.Limits.Requests, c.Limits.Burst, c.Limits.Lookups, c.Limits.LookupBurst = 1_000_000, 1_000_000, 1_000_000, 1_000_000
	})
	w.Publish(xdstest.Put(fleet.VirtualHost, "r/known", "1", xdstest.Domains("known")))
	ss, err := w.Conn().NewStream(xdstest.As(b.Context(), "*"), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, v.Method(0))
	if err != nil {
		b.Fatal(err)
	}
	send := func(m proto.Message) {
		if err := ss.SendMsg(m); err != nil {
			b.Fatal(err)
		}
	}
	answered := make(chan error, 1)
	go func() {
		for {
			var m interface {
				proto.Message
				GetTypeUrl() string
			} = &discoveryv3.DiscoveryResponse{}
			if v.Delta {
				m = &discoveryv3.DeltaDiscoveryResponse{}
			}
			err := ss.RecvMsg(m)
			if err != nil || m.GetTypeUrl() == fleet.Listener.URL() {
				answered <- err
				return
			}
		}
	}()
	node := func(t fleet.Type) proto.Message {
		if v.Delta {
			return &discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("n1"), TypeUrl: t.URL()}
		}
		return &discoveryv3.DiscoveryRequest{Node: xdstest.Envoy("n1"), TypeUrl: t.URL()}
	}
	send(node(fleet.Runtime))
	send(first)
	b.ReportAllocs()
	b.ResetTimer()
	cpu := cpuTime()
	for i := range b.N {
		send(requests[i%len(requests)])
	}
	send(node(fleet.Listener)) // which is answered behind all these
	if err := <-answered; err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "µs-cpu/op")
}

// cpuTime is what the process has used of processors: beside it other benchmarks may run.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
