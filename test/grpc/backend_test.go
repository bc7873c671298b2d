package grpcclients

import (
	"fmt"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// backend is a gRPC server that answers every call with its name.
func backend(t testing.TB, name string) (address string) {
	t.Helper()
	lis, err := net.Listen("tcp", anyPort)
	must(t, err)
	gs := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(func(_ any, ss grpc.ServerStream) error {
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

// raw is a codec that passes bytes on as they are.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("raw: %T is no []byte", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("raw: %T is no *[]byte", v)
	}
	*p = data.Materialize()
	return nil
}
