package run

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// Traces says which revisions are traced. Where traces go is OpenTelemetry's to say, in the environment.
type Traces struct {
	Ratio float64 `name:"traces-ratio" env:"FAIRLEAD_TRACES_RATIO" default:"0" help:"Share of the revisions that are traced with OpenTelemetry, 0 to 1: the same on all servers. OTEL_EXPORTER_OTLP_ENDPOINT says where traces go (OTLP over HTTP). 0 for none."`
}

// Open returns what traces the revisions of a process, and what has to run for that; nil and nothing where none are to be. It runs before whatever
// uses it, and ends after that.
func (c Traces) Open(ctx context.Context, service string, m *metrics.Registry, log *slog.Logger) (*traces.Tracer, []lifecycle.Component, error) {
	if c.Ratio == 0 {
		return nil, nil, nil
	}
	if !(c.Ratio > 0 && c.Ratio <= 1) {
		return nil, nil, fmt.Errorf("--traces-ratio is %v: give 0 to 1: %w", c.Ratio, fleet.ErrInvalid)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Debug("OpenTelemetry says", "error", err) }))
	to, err := traces.OTLP(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := traces.New(ctx, traces.Config{Ratio: c.Ratio, Service: service, Version: Version(), Exporter: to, Metrics: m.Traces, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	return t, []lifecycle.Component{{Name: "traces", Run: t.Run}}, nil
}
