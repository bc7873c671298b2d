package run

import (
	"fmt"
	"log/slog"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// Series says of what /metrics has series of its own.
type Series struct {
	Fleets int `name:"metrics-fleets" env:"FAIRLEAD_METRICS_FLEETS" default:"200" help:"How many fleets have metrics of their own on /metrics: those that come first. What is of any other is told as of \"other\"."`
}

// How many fleets and clusters may have metrics of their own at most: a fleet has some series, a cluster up to a hundred.
const mostFleets, mostClusters = 10_000, 1000

// Open declares what a program tells. cells: of several databases.
func (s Series) Open(of metrics.Program, cells bool, log *slog.Logger) (*metrics.Registry, error) {
	return StreamSeries{Series: s}.Open(of, cells, log)
}

// StreamSeries is Series of a program that serves streams.
type StreamSeries struct {
	Series
	LoadClusters int `name:"metrics-load-clusters" env:"FAIRLEAD_METRICS_LOAD_CLUSTERS" default:"0" help:"How many clusters have metrics of the load that proxies report: those that come first. They tell the names of clusters and localities. 0 for none."`
}

// Open declares what a program tells. cells: of several databases.
func (s StreamSeries) Open(of metrics.Program, cells bool, log *slog.Logger) (*metrics.Registry, error) {
	for _, x := range []struct {
		flag    string
		n, most int
	}{{"--metrics-fleets", s.Fleets, mostFleets}, {"--metrics-load-clusters", s.LoadClusters, mostClusters}} {
		if x.n < 0 || x.n > x.most {
			return nil, fmt.Errorf("%s is %d: give 0 to %d: %w", x.flag, x.n, x.most, fleet.ErrInvalid)
		}
	}
	return metrics.New(of, metrics.Config{Version: Version(), Fleets: s.Fleets, Cells: cells, LoadClusters: s.LoadClusters, Logger: log}), nil
}
