package grpcclients

import (
	"testing"

	"fairlead/internal/bootstrap"
	"fairlead/test/world"
)

// installation is a world and what these tests alone do with it.
type installation struct{ *world.World }

func setup(t testing.TB) *installation {
	t.Helper()
	return &installation{world.New(t)}
}

// tapped starts an xDS server with a tap before it that adds the token.
func (w *installation) tapped() *world.Tap {
	w.T.Helper()
	tap := world.NewTap(w.T, w.XDS().Address)
	tap.AddToken(w.NodeToken)
	return tap
}

// plaintext is the bootstrap of a gRPC client that connects without a credential.
func plaintext(t testing.TB, node, address string) []byte {
	t.Helper()
	text, err := bootstrap.GRPC(bootstrap.Config{NodeID: node, NodeCluster: "edge", XDSAddresses: []string{address}, Plaintext: true, Region: "here"})
	world.Must(t, err)
	return text
}
