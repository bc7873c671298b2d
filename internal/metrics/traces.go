package metrics

import "github.com/prometheus/client_golang/prometheus"

// Traces counts spans on their way to a collector.
type Traces struct{ sent, failed, dropped prometheus.Counter }

func newTraces(s section) *Traces {
	spans := s.counter("fairlead_traces_spans_total", "Spans of traces that were sent to the collector, and those that were lost: there was no room in the queue (`dropped`), or the collector did not take them (`failed`). 0 without `--traces-ratio`.",
		Label{"result", "`sent`, `dropped` or `failed`"})
	return &Traces{spans.WithLabelValues("sent"), spans.WithLabelValues("failed"), spans.WithLabelValues("dropped")}
}

// Sent counts spans that the collector has taken.
func (m *Traces) Sent(n int) { m.sent.Add(float64(n)) }

// Failed counts spans that it has not.
func (m *Traces) Failed(n int) { m.failed.Add(float64(n)) }

// Dropped counts spans for which there was no room.
func (m *Traces) Dropped(n int) { m.dropped.Add(float64(n)) }
