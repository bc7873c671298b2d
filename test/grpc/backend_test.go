package grpcclients

import (
	"net"
	"testing"

	"google.golang.org/grpc"

	"fairlead/test/world"
)

// backend is a gRPC server that answers every call with its name.
func backend(t testing.TB, name string) (address string) {
	t.Helper()
	lis, err := net.Listen("tcp", world.AnyPort)
	world.Must(t, err)
	gs := grpc.NewServer(grpc.ForceServerCodecV2(world.Raw{}), grpc.UnknownServiceHandler(func(_ any, ss grpc.ServerStream) error {
		var request []byte
		if err := ss.RecvMsg(&request); err != nil {
			return err
		}
		return ss.SendMsg([]byte(name))
	}))
	served := make(chan error, 1)
	go func() { served <- gs.Serve(lis) }()
	t.Cleanup(func() {
		gs.Stop()
		<-served
	})
	return lis.Addr().String()
}
