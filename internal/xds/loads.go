package xds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	loadv3 "github.com/envoyproxy/go-control-plane/envoy/service/load_stats/v3"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/internal/load"
	"fairlead/internal/metrics"
)

// LoadReports is what a Server does with load reports (LRS). Add takes one in.
type LoadReports struct {
	Add      func(id Identity, r load.Report, interval time.Duration)
	Metrics  *metrics.Loads // nil: nobody is told
	Interval time.Duration  // at which clients are to report whose fleet says nothing of it
	Least    time.Duration  // the shortest one that a fleet gets, whatever it says
	// Settings are those of a fleet, as long as they are the same by the same pointer. It may wait for the database, a second at most. nil: no fleet has any.
	Settings func(ctx context.Context, id Identity) *fleet.LoadSettings
}

const (
	// reportsPerSecond is how many reports of a stream are read, and reportsAtOnce how many at once. Clients report once in an interval.
	reportsPerSecond, reportsAtOnce = 2, 10
	// idleEvery is how often a stream's idle clusters are looked at, where it reports as many as before: their names cost more than to skip them.
	idleEvery = 10 * time.Minute
)

// registerLoad offers the load reporting service: a talk whose requests are reports, and whose answers say what to report and how often.
func (s *Server) registerLoad(r grpc.ServiceRegistrar) {
	if s.cfg.Load.Add == nil {
		return
	}
	r.RegisterService(&grpc.ServiceDesc{
		ServiceName: "envoy.service.load_stats.v3.LoadReportingService", Metadata: "envoy/service/load_stats/v3/lrs.proto",
		Streams: []grpc.StreamDesc{{StreamName: "StreamLoadStats", ServerStreams: true, ClientStreams: true, Handler: s.talks(s.takeReports, false, recheckReports, s.enterReports)}},
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
	var looked time.Time          // when idle clusters were looked at last
	look, before := true, 0       // whether they are the next time, and how many clusters the last report had
	var asked *fleet.LoadSettings // by what the client was told last
	for first := true; ; first = false {
		r := &loadReport{idle: look, endpoints: asked != nil && asked.Endpoints}
		if !first { // later ones may leave the node out
			r.pinned = &node
		}
		err := t.RecvMsg(r)
		if err == nil && first {
			if node, err = s.admitReports(t, r); err == nil {
				asked, err = s.askReports(t, nil)
			}
		}
		if errors.Is(err, fleet.ErrLimit) || errors.Is(err, fleet.ErrInvalid) {
			s.denyReports(t, node.node.ID, fleet.DeniedRequest, err)
		}
		if err != nil {
			return err
		}
		if look && r.clusters > 0 { // not the first one of a client that has just started
			looked = time.Now()
			r.Node = reportsAll(node.node)
		}
		look, before = r.clusters != before || time.Since(looked) >= idleEvery, r.clusters
		s.cfg.Load.Add(t.id, r.Report, s.reportEvery(asked))
		s.cfg.Load.Metrics.Add(t.id.Key, &r.Report, s.reportEvery(asked))
		r.leave()
		if asked, err = s.askReports(t, asked); err != nil {
			return err
		}
	}
}

// askReports tells the client what to report, and how often, unless it was told so. Envoy, and gRPC clients but that in Go, follow a later answer too: an Envoy begins
// its interval again, and goes on counting the clusters that it reported before.
func (s *Server) askReports(t *talk, asked *fleet.LoadSettings) (*fleet.LoadSettings, error) {
	now := &noSettings
	if s.cfg.Load.Settings != nil {
		now = s.cfg.Load.Settings(t.ctx, t.id)
	}
	if now == asked {
		return now, nil
	}
	// Who does not know send_all_clusters reports nothing: Envoy and the gRPC clients of today do.
	return now, t.SendMsg(&loadv3.LoadStatsResponse{
		SendAllClusters: len(now.Clusters) == 0, Clusters: now.Clusters, LoadReportingInterval: durationpb.New(s.reportEvery(now)), ReportEndpointGranularity: now.Endpoints,
	})
}

var noSettings fleet.LoadSettings

// reportEvery is how often clients report.
func (s *Server) reportEvery(set *fleet.LoadSettings) time.Duration {
	if set.Interval > 0 {
		return max(set.Interval, s.cfg.Load.Least)
	}
	return s.cfg.Load.Interval
}

// reportsAll is the id of a node that reports all its clusters, the idle ones too, else "". Envoy does, but an old one takes those for idle to which a request lasts. gRPC clients report
// clusters whose resource says so, while they send something there.
func reportsAll(n fleet.Node) string {
	if n.UserAgent == "envoy" && envoyversion.Has(n.Version, envoyversion.LastingLoad) {
		return n.ID
	}
	return ""
}

// admitReports looks who the first report of a stream is of.
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
	return node, nil
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
