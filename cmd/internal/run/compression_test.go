package run

import (
	"io"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	plain "google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// TestT17_TheServerInflatesNothing: a compressor that any package of the server registers would let a
// message of 255 KiB become 256 MiB before its size is looked at.
func TestT17_TheServerInflatesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gzip", "deflate", "snappy", "zstd"} {
		c := encoding.GetCompressor(name)
		if c == nil {
			continue
		}
		if _, err := c.Decompress(strings.NewReader("")); err == nil {
			t.Errorf("a package of the server registers the compressor %s", name)
		}
		if _, err := c.Compress(io.Discard); err == nil {
			t.Errorf("the server compresses with %s for who asks for it", name)
		}
	}
}

// TestT17_ACompressedCallIsRefused by a server of this process, whatever its packages have registered.
func TestT17_ACompressedCallIsRefused(t *testing.T) {
	t.Parallel()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer()
	healthv1.RegisterHealthServer(srv, health.NewServer())
	go func() { _ = srv.Serve(lis) }()
	t.Cleanup(srv.Stop)
	conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(plain.NewCredentials()), grpc.WithCompressor(grpc.NewGZIPCompressor())) //nolint:staticcheck // of this client alone: what is registered is also the server's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	client := healthv1.NewHealthClient(conn)
	_, err = client.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "x"})
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "no compressed messages") {
		t.Errorf("a compressed call ends with %v", err)
	}
}
