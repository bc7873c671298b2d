package xds_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

func reflective(c *xds.Config) { c.Reflection = true }

type looker struct {
	reflectionpb.ServerReflection_ServerReflectionInfoClient
	t *testing.T
}

func look(t *testing.T, w *xdstest.World) looker {
	t.Helper()
	ctx, cancel := context.WithCancel(xdstest.As(t.Context(), "*"))
	t.Cleanup(cancel)
	s, err := reflectionpb.NewServerReflectionClient(w.Conn()).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return looker{s, t}
}

// ask returns how many services are listed.
func (l looker) ask(more string) (int, error) {
	l.t.Helper()
	r := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{ListServices: more}}
	if err := l.Send(r); err != nil && !errors.Is(err, io.EOF) {
		l.t.Fatal(err)
	}
	out, err := l.Recv()
	return len(out.GetListServicesResponse().GetService()), err
}

// TestT03_ReflectionIsOffByDefault: and in both of its versions a service as any when on.
func TestT03_ReflectionIsOffByDefault(t *testing.T) {
	bubble(t, func(t *testing.T) {
		if _, err := look(t, xdstest.New(t)).ask(""); status.Code(err) != codes.Unimplemented {
			t.Errorf("ended with %v, want Unimplemented", err)
		}
		w := xdstest.New(t, reflective)
		if n, err := look(t, w).ask(""); err != nil || n < 13 {
			t.Errorf("%d services are told (%v), want all", n, err)
		}
		old, err := w.Conn().NewStream(xdstest.As(t.Context(), "*"), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
		if err != nil {
			t.Fatal(err)
		}
		_ = old.SendMsg(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "envoy.config.cluster.v3.Cluster"}})
		r := new(reflectionpb.ServerReflectionResponse)
		if err := old.RecvMsg(r); err != nil || len(r.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
			t.Errorf("v1alpha: %v, %v", r, err)
		}
		_ = old.CloseSend()
	})
}

// TestT03_ReflectionIsCountedAndPaced as the client status service is, and with it.
func TestT03_ReflectionIsCountedAndPaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, reflective, func(c *xds.Config) { c.Limits.Requests, c.Limits.Burst = 1, 2 })
		began := time.Now()
		for i := range 4 {
			l := look(t, w)
			for range 5 {
				if _, err := l.ask(""); err != nil {
					t.Fatal(err)
				}
			}
			if took, want := time.Since(began), time.Duration(i+1)*3*time.Second; took < want || took > want+time.Second {
				t.Errorf("%d answers took %s, want %s", 5*(i+1), took, want)
			}
		}
		_, err := look(t, w).ask("")
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "4 calls of client status and reflection at once") {
			t.Errorf("the fifth ended with %v, want the limit", err)
		}
		if err := watch(t, w, "*").ask(); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("client status beside them ended with %v, want the limit", err)
		}
	})
}

// TestT03_TalksEnd with their credential, though their client is silent, with the server,
// with their connection's age, and with a client that asks nothing. A database that does
// not answer ends none.
func TestT03_TalksEnd(t *testing.T) {
	for name, c := range map[string]struct {
		judge  error // of the credential, after the first answer
		do     func(w *xdstest.World)
		silent bool
		want   codes.Code
		within time.Duration
	}{
		"revoked":   {judge: fleet.ErrUnauthenticated, want: codes.Unauthenticated, within: 5 * time.Second},
		"drained":   {do: func(w *xdstest.World) { w.Server.Drain() }, want: codes.OK},
		"of age":    {want: codes.OK, within: 44 * time.Second},
		"no answer": {judge: fleet.ErrUnavailable, want: codes.OK, within: 44 * time.Second},
		"silent":    {silent: true, want: codes.DeadlineExceeded, within: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var judge atomic.Pointer[error]
				w := xdstest.New(t, reflective, func(c *xds.Config) {
					good := c.Authenticator.Authenticate
					c.Authenticator = authenticate(func(ctx context.Context, token string) (xds.Identity, error) {
						if err := judge.Load(); err != nil {
							return xds.Identity{}, *err
						}
						return good(ctx, token)
					})
					c.MaxAge = 40 * time.Second
				})
				reflects, asks := look(t, w), watch(t, w, "*")
				if !c.silent {
					asks.mustAnswer()
					if _, err := reflects.ask(""); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				if c.judge != nil {
					judge.Store(&c.judge)
				}
				if c.do != nil {
					c.do(w)
				}
				began := time.Now()
				for what, recv := range map[string]func() error{
					"reflection":    func() error { _, err := reflects.Recv(); return err },
					"client status": func() error { _, err := asks.Recv(); return err },
				} {
					if err := recv(); status.Code(err) != c.want && !(c.want == codes.OK && errors.Is(err, io.EOF)) {
						t.Errorf("%s ended with %v, want %s", what, err, c.want)
					}
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("they ended after %s, want within %s", took, c.within)
				}
			})
		})
	}
}

// TestT39_CallsTakeLittle: 64 KiB of a request beside discovery, and a message.
func TestT39_CallsTakeLittle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, reflective)
		large := &statusv3.ClientStatusRequest{NodeMatchers: []*matcherv3.NodeMatcher{{NodeId: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_Exact{Exact: strings.Repeat("x", 64<<10)},
		}}}}
		client := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn())
		_, err := client.FetchClientStatus(xdstest.As(t.Context(), "*"), large)
		limited(t, "FetchClientStatus", err)
		s := watch(t, w, "*")
		if err := s.Send(large); err != nil {
			t.Fatal(err)
		}
		_, err = s.Recv()
		limited(t, "StreamClientStatus", err)
		_, err = look(t, w).ask(strings.Repeat("x", 64<<10))
		limited(t, "reflection", err)

		r := w.Raw()
		id := r.Call(fetchMethod, "*")
		r.Send(id, xdstest.Message(2, []byte{0xff, 0xff}), true)
		if code, err := r.End(id); code != codes.InvalidArgument {
			t.Errorf("what is no request ended with %v (%v), want InvalidArgument", code, err)
		}
	})
}

func limited(t *testing.T, what string, err error) {
	t.Helper()
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "65536 is the limit") {
		t.Errorf("%s: %v, want the limit", what, err)
	}
}

// TestT39_HealthReadsNothing: a check is answered whatever its body is, and when there is
// none; it says whether the server takes streams and nothing more.
func TestT39_HealthReadsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		r := w.Raw()
		for _, body := range [][]byte{nil, {0}, xdstest.Message(2, []byte{0xff, 0xff}), xdstest.Message(100, []byte("half")), xdstest.Message(16<<20, make([]byte, 16<<20))} {
			id := r.Call(checkMethod, "")
			sent := r.Send(id, body, false)
			if code, err := r.End(id); code != codes.OK {
				t.Errorf("with %d bytes: %v (%v), want OK", len(body), code, err)
			}
			if sent > 64<<10 {
				t.Errorf("%d bytes were taken", sent)
			}
		}
		client := healthpb.NewHealthClient(w.Conn())
		want := func(want healthpb.HealthCheckResponse_ServingStatus) {
			t.Helper()
			h, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "any"})
			if err != nil || h.GetStatus() != want {
				t.Errorf("Check answers %v, %v, want %s", h, err, want)
			}
		}
		want(healthpb.HealthCheckResponse_SERVING)
		s, err := client.Watch(t.Context(), &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); status.Code(err) != codes.Unimplemented {
			t.Errorf("Watch ended with %v, want Unimplemented", err)
		}
		if _, err := client.List(t.Context(), &healthpb.HealthListRequest{}); status.Code(err) != codes.Unimplemented {
			t.Errorf("List ended with %v, want Unimplemented", err)
		}
		w.Server.Drain()
		synctest.Wait()
		want(healthpb.HealthCheckResponse_NOT_SERVING)
	})
}

// TestT03_AUnaryMethodIsRefused: grpc would decode its request before it asks who calls.
func TestT03_AUnaryMethodIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		line := xdstest.Serve(t, func(r grpc.ServiceRegistrar) {
			statusv3.RegisterClientStatusDiscoveryServiceServer(r, unary{t: t})
		}, w.Server.Options()...)
		_, err := statusv3.NewClientStatusDiscoveryServiceClient(line.Conn()).FetchClientStatus(xdstest.As(t.Context(), "*"), &statusv3.ClientStatusRequest{})
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("ended with %v, want Unimplemented", err)
		}
	})
}

type unary struct {
	statusv3.UnimplementedClientStatusDiscoveryServiceServer
	t *testing.T
}

func (u unary) FetchClientStatus(context.Context, *statusv3.ClientStatusRequest) (*statusv3.ClientStatusResponse, error) {
	u.t.Error("the method was called")
	return nil, nil
}
