package traces

import (
	"context"
	"log/slog"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
)

// Bounds of what is kept for a collector. A span is about 1 KiB.
const (
	queued    = 4096             // spans that wait; more are dropped
	batch     = 512              // spans of one request
	gatherFor = time.Second      // how long a batch is waited for
	sendWait  = 10 * time.Second // of one request, repeats included
	mostError = 300              // bytes of a collector's answer in the log
)

// queue keeps spans until they are sent. Whoever ends a span never waits.
type queue struct {
	spans   chan sdk.ReadOnlySpan
	to      Exporter
	metrics *metrics.Traces
	log     *slog.Logger
	failing bool // run's
}

func newQueue(c Config) *queue {
	return &queue{spans: make(chan sdk.ReadOnlySpan, queued), to: c.Exporter, metrics: c.Metrics, log: c.Logger}
}

// OnEnd is sdk.SpanProcessor's.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	select {
	case q.spans <- s:
	default:
		q.metrics.Dropped(1)
	}
}

// OnStart is sdk.SpanProcessor's, like the two below.
func (*queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// Shutdown does nothing: the end of run does.
func (*queue) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (*queue) ForceFlush(context.Context) error { return nil }

// run sends batches until ctx ends, and then what is left.
func (q *queue) run(ctx context.Context) error {
	var left []sdk.ReadOnlySpan // what was under way when ctx ended
	err := lifecycle.PersistThrough(ctx, q.log, "the traces", func(ctx context.Context) error {
		for ctx.Err() == nil {
			if spans := q.gather(ctx); !q.send(ctx, spans) {
				left = spans
			}
		}
		return nil
	})
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	for left = q.take(left); len(left) > 0; left = q.take(nil) {
		if !q.send(end, left) {
			q.metrics.Failed(len(left))
		}
	}
	_ = q.to.Shutdown(end) // it has nothing of its own to send
	return err
}

// gather waits for a batch that is full, or for as long as one may wait.
func (q *queue) gather(ctx context.Context) (spans []sdk.ReadOnlySpan) {
	select {
	case s := <-q.spans:
		spans = append(spans, s)
	case <-ctx.Done():
		return nil
	}
	full := time.NewTimer(gatherFor)
	defer full.Stop()
	for len(spans) < batch {
		select {
		case s := <-q.spans:
			spans = append(spans, s)
		case <-full.C:
			return spans
		case <-ctx.Done():
			return spans
		}
	}
	return spans
}

// take adds what is there, up to a batch.
func (q *queue) take(spans []sdk.ReadOnlySpan) []sdk.ReadOnlySpan {
	for len(spans) < batch {
		select {
		case s := <-q.spans:
			spans = append(spans, s)
		default:
			return spans
		}
	}
	return spans
}

// send sends a batch once; the exporter repeats what may be repeated. What is not taken is lost, counted, and told once. false: ctx ended before
// that was known.
func (q *queue) send(ctx context.Context, spans []sdk.ReadOnlySpan) bool {
	if len(spans) == 0 {
		return true
	}
	call, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	err := q.to.ExportSpans(call, spans)
	switch {
	case err == nil:
		q.metrics.Sent(len(spans))
		if q.failing {
			q.log.Info("traces are sent again")
		}
	case ctx.Err() != nil:
		return false
	default:
		q.metrics.Failed(len(spans))
		if !q.failing {
			q.log.Warn("traces are not sent, and those of meanwhile are lost: look at the collector and at OTEL_EXPORTER_OTLP_ENDPOINT", "error", shortened(err.Error()))
		}
	}
	q.failing = err != nil
	return true
}

func shortened(s string) string { return s[:min(len(s), mostError)] }
