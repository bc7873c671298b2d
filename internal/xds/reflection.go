package xds

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
)

// registerReflection offers grpc's own reflection as a talk: if it was asked for and r can
// tell what it serves. Older tools call it v1alpha; the messages are the same.
func (s *Server) registerReflection(r grpc.ServiceRegistrar) {
	info, ok := r.(reflection.ServiceInfoProvider)
	if !ok || !s.cfg.Reflection {
		return
	}
	tell := reflection.NewServerV1(reflection.ServerOptions{Services: info})
	handler := s.converse(func(t *talk) error {
		return tell.ServerReflectionInfo(&grpc.GenericServerStream[reflectionpb.ServerReflectionRequest, reflectionpb.ServerReflectionResponse]{ServerStream: t})
	})
	for _, version := range []string{"v1", "v1alpha"} {
		r.RegisterService(&grpc.ServiceDesc{
			ServiceName: "grpc.reflection." + version + ".ServerReflection", Metadata: "grpc/reflection/" + version + "/reflection.proto",
			Streams: []grpc.StreamDesc{{StreamName: "ServerReflectionInfo", ServerStreams: true, ClientStreams: true, Handler: handler}},
		}, nil)
	}
}
