package xds

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	loadv3 "github.com/envoyproxy/go-control-plane/envoy/service/load_stats/v3"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
	"fairlead/internal/metrics"
)

// LoadReports is what a Server does with load reports (LRS).
type LoadReports struct {
	Recorder *load.Recorder
	Metrics  *metrics.Loads // nil: nobody is told
	Interval time.Duration  // at which clients are to report
}

const (
	// reportsPerSecond is how many reports of a stream are read, and reportsAtOnce how many at once. Clients report once in an interval.
	reportsPerSecond, reportsAtOnce = 2, 10
)

// registerLoad offers the load reporting service: a talk whose requests are reports, and whose one answer says how often to report.
func (s *Server) registerLoad(r grpc.ServiceRegistrar) {
	if s.cfg.Load.Recorder == nil {
		return
	}
	r.RegisterService(&grpc.ServiceDesc{
		ServiceName: "envoy.service.load_stats.v3.LoadReportingService", Metadata: "envoy/service/load_stats/v3/lrs.proto",
		Streams: []grpc.StreamDesc{{StreamName: "StreamLoadStats", ServerStreams: true, ClientStreams: true, Handler: s.talks(s.takeReports, false, s.enterReports)}},
	}, nil)
}

// enterReports counts a stream of reports until its leave is called, once.
func (s *Server) enterReports(id Identity) (leave func(), err error) {
	l := s.cfg.Limits
	return s.streams.report(id, l.Reports, l.ReportsPerTenant, l.ReportsPerCredential)
}

// takeReports takes in the reports of one node.
func (s *Server) takeReports(t *talk) error {
	t.pace = rate.NewLimiter(reportsPerSecond, reportsAtOnce)
	var node pinnedNode
	for first := true; ; first = false {
		r := &loadReport{}
		err := t.RecvMsg(r)
		switch {
		case err != nil:
		case first:
			node, err = s.admitReports(t, r)
		case r.node != nil: // later ones may leave it out
			err = node.check(r.node)
		}
		if errors.Is(err, fleet.ErrLimit) || errors.Is(err, fleet.ErrInvalid) {
			s.denyReports(t, node.node.ID, fleet.DeniedRequest, err)
		}
		if err != nil {
			return err
		}
		s.cfg.Load.Recorder.Add(t.id.Key, r.Report, s.cfg.Load.Interval)
		s.cfg.Load.Metrics.Add(t.id.Key, &r.Report, s.cfg.Load.Interval)
	}
}

// admitReports takes in the first report of a stream, and answers it.
func (s *Server) admitReports(t *talk, r *loadReport) (node pinnedNode, err error) {
	if node, err = pin(r.node); err != nil {
		return node, err
	}
	if id := node.node.ID; !t.id.Nodes.Match(id) {
		err := fmt.Errorf("the node credential is for nodes %q and not for %q: %w", t.id.Nodes, id, fleet.ErrForbidden)
		s.denyReports(t, id, fleet.DeniedNodeID, err)
		return node, err
	}
	connOf(t.ctx).arrived()
	// Who does not know send_all_clusters reports nothing: Envoy and the gRPC clients of today do.
	return node, t.SendMsg(&loadv3.LoadStatsResponse{SendAllClusters: true, LoadReportingInterval: durationpb.New(s.cfg.Load.Interval)})
}

// denyReports tells the fleet of a stream that ends for what it is, or for what it says.
func (s *Server) denyReports(t *talk, node string, reason fleet.DeniedReason, err error) {
	s.say(slog.LevelInfo, addressOf(t.ctx), "a stream of load reports was ended", slog.Any("tenant", t.id.Key.Tenant), slog.Any("fleet", t.id.Key.Fleet), slog.Any("reason", err))
	if tell := s.cfg.Denied; tell != nil {
		note := ""
		if reason == fleet.DeniedRequest {
			note = shortened(fleet.Sentence(err), maxNote)
		}
		tell(t.id, reason, node, remote(t.ctx), note)
	}
}
