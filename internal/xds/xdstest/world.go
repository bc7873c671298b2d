package xdstest

import (
	"context"
	"net"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
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
	conn   *grpc.ClientConn
}

// New starts a server; it ends with the test. edit may change the configuration.
func New(t testing.TB, edit ...func(*xds.Config)) *World {
	t.Helper()
	src := NewSource()
	cfg := xds.Config{Authenticator: src, Source: src, Limits: xds.Limits{Youth: time.Millisecond}}
	for _, e := range edit {
		e(&cfg)
	}
	srv, err := xds.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lis := bufconn.Listen(1 << 20)
	gs := grpc.NewServer(srv.Options()...)
	srv.Register(gs)
	served := make(chan error, 1)
	go func() { served <- gs.Serve(lis) }()
	conn, err := grpc.NewClient("passthrough:///bufconn",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		srv.Drain()
		gs.Stop()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &World{Source: src, Server: srv, conn: conn}
}

// Conn is the connection, for what the scripts do not cover.
func (w *World) Conn() *grpc.ClientConn { return w.conn }

// As returns a context that carries a token; "" carries none.
func As(ctx context.Context, token string) context.Context {
	if token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// Node is an Envoy by its user agent.
func Node(id string) *corev3.Node {
	return &corev3.Node{Id: id, Cluster: "edge", UserAgentName: "envoy",
		UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.40.0"}}
}

// Delta opens an incremental aggregated stream as an Envoy of that id.
func (w *World) Delta(t testing.TB, id string) *Stream { return w.DeltaAs(t, "*", id) }

// DeltaAs is Delta with a token of its own; "" sends none.
func (w *World) DeltaAs(t testing.TB, token, id string) *Stream {
	t.Helper()
	ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.conn).DeltaAggregatedResources(As(t.Context(), token))
	if err != nil {
		t.Fatal(err)
	}
	return newStream(t, Node(id), &deltaWire{ss})
}

// SotW opens a state-of-the-world aggregated stream as an Envoy of that id.
func (w *World) SotW(t testing.TB, id string) *Stream {
	t.Helper()
	ss, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.conn).StreamAggregatedResources(As(t.Context(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return newStream(t, Node(id), &sotwWire{ss})
}
