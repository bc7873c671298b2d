package xds

import (
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// registerHealth offers gRPC's health check to whoever asks: whether this server takes
// streams, and nothing more. The request's body is not read, so that a caller without a
// credential makes the server decode nothing: every service has the server's health. Watch
// and List are answered with Unimplemented, as the protocol has it for servers without
// them.
func (s *Server) registerHealth(r grpc.ServiceRegistrar) {
	r.RegisterService(&grpc.ServiceDesc{
		ServiceName: "grpc.health.v1.Health", Metadata: "grpc/health/v1/health.proto",
		Streams: []grpc.StreamDesc{{StreamName: "Check", ServerStreams: true, Handler: s.checkHealth}},
	}, nil)
}

func (s *Server) checkHealth(_ any, ss grpc.ServerStream) error {
	answer := &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}
	select {
	case <-s.drain:
		answer.Status = healthpb.HealthCheckResponse_NOT_SERVING
	default:
	}
	return ss.SendMsg(answer)
}
