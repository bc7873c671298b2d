package grpcclients

import (
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/test/world"
)

// backend is a gRPC server that answers every call with its name, but those of the method Fail, which fail.
func backend(t testing.TB, name string) (address string) {
	t.Helper()
	lis, err := net.Listen("tcp", world.AnyPort)
	world.Must(t, err)
	gs := grpc.NewServer(grpc.ForceServerCodecV2(world.Raw{}), grpc.UnknownServiceHandler(func(_ any, ss grpc.ServerStream) error {
		var request []byte
		if err := ss.RecvMsg(&request); err != nil {
			return err
		}
		if method, _ := grpc.MethodFromServerStream(ss); strings.HasSuffix(method, "/Fail") {
			return status.Error(codes.Internal, "it was asked to fail")
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
