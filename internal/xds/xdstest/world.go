package xdstest

import (
	"context"
	"net"
	"net/http"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"

	"fairlead/internal/xds"
)

// World is one server with a fleet in memory.
type World struct {
	*Source
	Server *xds.Server
	t      testing.TB
	line   *Line
	polls  *http.Client // nil: nothing polls
}

// New starts a server; it ends with the test. edit may change the configuration.
func New(t testing.TB, edit ...func(*xds.Config)) *World {
	t.Helper()
	src := NewSource()
	cfg := xds.Config{Authenticator: src, Source: src}
	for _, e := range edit {
		e(&cfg)
	}
	srv, err := xds.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Source: src, Server: srv, t: t, line: Serve(t, srv.Register, srv.Options()...)}
	t.Cleanup(srv.Drain)
	return w
}

// Conn is the connection to the server.
func (w *World) Conn() *grpc.ClientConn { return w.line.Conn() }

// Dial is one more connection, of its own options.
func (w *World) Dial(opts ...grpc.DialOption) *grpc.ClientConn { return w.line.Dial(opts...) }

// Open starts an Envoy of the protocol.
func (w *World) Open(v Protocol, id string) *Client {
	w.t.Helper()
	return Open(w.t, w.Conn(), v, Envoy(id))
}

// Line leads to a gRPC server in memory.
type Line struct {
	t    testing.TB
	lis  *bufconn.Listener
	conn *grpc.ClientConn
}

// Serve starts a gRPC server that ends with the test.
func Serve(t testing.TB, register func(grpc.ServiceRegistrar), opts ...grpc.ServerOption) *Line {
	t.Helper()
	l := &Line{t: t, lis: bufconn.Listen(1 << 20)}
	gs := grpc.NewServer(opts...)
	register(gs)
	served := make(chan error, 1)
	go func() { served <- gs.Serve(l.lis) }()
	t.Cleanup(func() {
		gs.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	l.conn = l.Dial()
	return l
}

// Conn is the connection that there is from the beginning.
func (l *Line) Conn() *grpc.ClientConn { return l.conn }

// Dial opens one more connection, which ends with the test.
func (l *Line) Dial(opts ...grpc.DialOption) *grpc.ClientConn {
	l.t.Helper()
	conn, err := grpc.NewClient("passthrough:///bufconn", append(opts,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.lis.DialContext(ctx) }))...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// As returns a context that carries a token; "" carries none.
func As(ctx context.Context, token string) context.Context {
	if token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// Envoy is a node that says of itself what Envoy says.
func Envoy(id string) *corev3.Node {
	return &corev3.Node{Id: id, Cluster: "edge", UserAgentName: "envoy",
		UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.40.0"}}
}

// The client features of resources with a TTL.
const (
	FeatureTTL    = "xds.config.supports-resource-ttl"
	FeatureInSotW = "xds.config.supports-resource-in-sotw"
)

// GRPC is a node that says of itself what a gRPC client says.
func GRPC(id string, features ...string) *corev3.Node {
	return &corev3.Node{Id: id, UserAgentName: "gRPC Go", ClientFeatures: features,
		UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.85.0"}}
}
