package world

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// Dial connects to an xDS server in plaintext, until the test ends.
func (w *World) Dial(address string) *grpc.ClientConn {
	w.T.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	Must(w.T, err)
	w.Whole.Cleanup(func() { _ = conn.Close() })
	return conn
}

// WithToken is ctx for streams of who has this token.
func WithToken(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}
