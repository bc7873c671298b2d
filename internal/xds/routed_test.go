package xds_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

const adsDelta = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources"

// secretsOf is an Envoy's request for a Secret, as gRPC frames it.
func secretsOf(t *testing.T, name string) []byte {
	t.Helper()
	b, err := proto.Marshal(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy("node"), TypeUrl: fleet.Secret.URL(), ResourceNamesSubscribe: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return xdstest.Message(len(b), b)
}

// TestT46_ARoutedCallIsRefused: a call with a good credential that has a header which routers add is refused before anything of
// it is read, and told; the credential's own calls on the same connection neither wait for that nor end.
func TestT46_ARoutedCallIsRefused(t *testing.T) {
	for _, header := range [][2]string{
		{"x-request-id", "6f7c"}, {"x-forwarded-proto", "http"}, {"x-forwarded-host", "a"}, {"x-forwarded-port", "80"}, {"x-forwarded-client-cert", "Hash=1"}, {"x-real-ip", "10.0.0.1"},
		{"forwarded", "for=a"}, {"via", "1.1 a"}, {"cookie", "a=b"}, {"x-envoy-expected-rq-timeout-ms", "15000"}, {"x-envoy-attempt-count", "1"}, {"x-envoy-original-path", "/"},
		{"x-envoy-original-host", "a"}, {"x-envoy-decorator-operation", "a"}, {"x-envoy-external-address", "10.0.0.1"}, {":authority", "fairlead-shadow"}, {":authority", "fairlead-shadow:443"},
	} {
		t.Run(header[0], func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				told := make(chan string, 100)
				w := xdstest.New(t, func(c *xds.Config) {
					c.Denied = func(_ xds.Identity, reason fleet.DeniedReason, node, address, _ string) {
						told <- fmt.Sprint(reason, " ", node, " ", address)
					}
				})
				w.Publish(xdstest.Put(fleet.Secret, "a", "1"))
				own := w.Raw()
				first := own.Call(adsDelta, "*", "x-forwarded-for", "10.0.0.1", "x-envoy-internal", "true")
				own.Send(first, secretsOf(t, "a"), false)
				for range 20 {
					id := routed(own, header)
					own.Send(id, secretsOf(t, "a"), false)
					if code, err := own.End(id); code != codes.PermissionDenied || err != nil {
						t.Fatalf("with %s: %v, %v", header, code, err)
					}
				}
				if len(told) != 20 {
					t.Fatalf("told %d times", len(told))
				}
				if got := <-told; got != "routed  bufconn" {
					t.Errorf("told %q", got)
				}
				begun := time.Now()
				again := own.Call(adsDelta, "*")
				own.Send(again, secretsOf(t, "a"), true)
				if code, err := own.End(again); code != codes.OK || err != nil || time.Since(begun) > 0 {
					t.Errorf("a call of its own ended with %v, %v after %s", code, err, time.Since(begun))
				}
				own.Send(first, nil, true)
				if code, err := own.End(first); code != codes.OK || err != nil {
					t.Errorf("the first stream ended with %v, %v", code, err)
				}
			})
		})
	}
}

func routed(r *xdstest.Raw, header [2]string) uint32 {
	if header[0] == ":authority" {
		return r.CallTo(header[1], adsDelta, "*")
	}
	return r.Call(adsDelta, "*", "user-agent", "envoy/1.40", header[0], header[1]) // no gRPC client's
}

// TestT46_ARelayedClientGetsWhatGRPCAsksFor: behind a relay the calls of gRPC clients are routed by design. They get what a gRPC client
// asks for, and no Secret, by no service.
func TestT46_ARelayedClientGetsWhatGRPCAsksFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		told := make(chan string, 100)
		w := xdstest.New(t, func(c *xds.Config) {
			c.Denied = func(_ xds.Identity, reason fleet.DeniedReason, node, _, _ string) {
				told <- fmt.Sprint(reason, " ", node)
			}
		})
		w.Publish(xdstest.Put(fleet.Secret, "a", "1"), xdstest.Put(fleet.Cluster, "c", "1"))
		ctx := metadata.AppendToOutgoingContext(xdstest.As(t.Context(), "*"), "x-request-id", "6f7c")
		ask := func(call func(context.Context) (grpc.BidiStreamingClient[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse], error), kind fleet.Type) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			s, err := call(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "node"}, TypeUrl: kind.URL(), ResourceNamesSubscribe: []string{"c", "a"}})
			_, err = s.Recv()
			return err
		}
		ads := func(ctx context.Context) (grpc.BidiStreamingClient[discoveryv3.DeltaDiscoveryRequest, discoveryv3.DeltaDiscoveryResponse], error) {
			return discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(ctx)
		}
		for range 10 { // its refusals make nobody wait
			if err := ask(ads, fleet.Secret); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "x-request-id") || !strings.Contains(err.Error(), "--allow-proxied") {
				t.Errorf("a Secret: %v", err)
			}
		}
		begun := time.Now()
		if err := ask(ads, fleet.Cluster); err != nil || time.Since(begun) > 0 {
			t.Errorf("a cluster: %v after %s", err, time.Since(begun))
		}
		if got := <-told; got != "routed node" {
			t.Errorf("told %q", got)
		}
		for _, method := range []string{"/envoy.service.secret.v3.SecretDiscoveryService/DeltaSecrets", "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus", "/envoy.service.cluster.v3.ClusterDiscoveryService/DeltaClusters"} {
			s, err := w.Conn().NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.RecvMsg(&discoveryv3.DeltaDiscoveryResponse{}); status.Code(err) != codes.PermissionDenied {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

// TestT46_AProxyBeforeTheServerIsAllowed where the operator says so.
func TestT46_AProxyBeforeTheServerIsAllowed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.AllowProxied = true })
		w.Publish(xdstest.Put(fleet.Secret, "a", "1"))
		r := w.Raw()
		id := r.Call(adsDelta, "*", "x-request-id", "6f7c")
		r.Send(id, secretsOf(t, "a"), true)
		if code, err := r.End(id); code != codes.OK || err != nil {
			t.Errorf("ended with %v, %v", code, err)
		}
	})
}

// TestT46_RoutedCallsAreLoggedALineASecond of each address, whoever makes how many; the last line counts those before it.
func TestT46_RoutedCallsAreLoggedALineASecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		w := xdstest.New(t, func(c *xds.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		for range 50 {
			r := w.Raw()
			_, _ = r.End(r.Call(adsDelta, "*", "via", "1.1 a"))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if lines := strings.Count(log.String(), "lent it its credential"); lines != 2 || !strings.Contains(log.String(), "more=48") || !strings.Contains(log.String(), "header=via") {
			t.Errorf("%d lines: %s", lines, log.String())
		}
	})
}
