package traces

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
)

// Exporter takes spans to a collector.
type Exporter = sdk.SpanExporter

// Config is what a Tracer needs.
type Config struct {
	// Ratio is the share of revisions that are traced, above 0 and at most 1. It has to be the same on all servers: then a trace is whole or absent.
	Ratio    float64
	Service  string // what the process is, such as "fairlead-api"; OTEL_SERVICE_NAME names it otherwise
	Version  string // of the build
	Exporter Exporter
	Metrics  *metrics.Traces // nil: nobody is told
	Logger   *slog.Logger    // nil: slog.Default()
}

// Tracer makes spans, and sends them while it runs. It is safe for concurrent use, and nothing in it waits for the collector. A nil Tracer traces
// nothing, and costs a comparison.
type Tracer struct {
	bound uint64 // traces whose id is below it are told
	here  [16]byte
	spans trace.Tracer
	queue *queue
}

// New checks the configuration and starts nothing.
func New(ctx context.Context, c Config) (*Tracer, error) {
	if c.Exporter == nil || !(c.Ratio > 0 && c.Ratio <= 1) {
		return nil, fmt.Errorf("a tracer needs an exporter, and a ratio above 0 and at most 1: %w", fleet.ErrInvalid)
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = metrics.Discard().Traces
	}
	server := fleet.NewServerID()
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", c.Service), attribute.String("service.version", c.Version), attribute.String("service.instance.id", server.String()),
	), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w: %w", fleet.ErrInvalid, err)
	}
	t := &Tracer{bound: boundOf(c.Ratio), here: server, queue: newQueue(c)}
	t.spans = sdk.NewTracerProvider(sdk.WithResource(of), sdk.WithIDGenerator(given{}), sdk.WithSampler(sdk.AlwaysSample()),
		sdk.WithSpanProcessor(t.queue)).Tracer("fairlead")
	return t, nil
}

// boundOf is the rule of OpenTelemetry's TraceIDRatioBased, so that whoever samples by that with a lower ratio keeps some of these traces.
func boundOf(ratio float64) uint64 {
	if ratio >= 1 {
		return math.MaxUint64
	}
	return uint64(ratio * (1 << 63))
}

// Run sends what is told until ctx ends, and then what is left, for some seconds at most.
func (t *Tracer) Run(ctx context.Context) error { return t.queue.run(ctx) }

// stopWait is how long what is left may take when the process ends.
const stopWait = 3 * time.Second
