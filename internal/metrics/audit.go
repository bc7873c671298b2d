package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// deliveryBuckets are of the time that a collector takes, in seconds.
var deliveryBuckets = []float64{0.01, 0.05, 0.25, 1, 5, 15}

// Audit is what an API server measures of the audit on its way to collectors.
type Audit struct {
	deliveries *prometheus.HistogramVec
	failing    *prometheus.GaugeVec
}

func newAudit(s section) *Audit {
	collector := Label{"collector", "`webhook` or `syslog`"}
	return &Audit{
		deliveries: s.histogram("fairlead_audit_delivery_seconds", "Batches of the audit that were sent to a collector.", deliveryBuckets, collector, Label{"result", "`taken` or `failed`"}),
		failing:    s.gauge("fairlead_audit_failing_tenants", "Tenants of which the last batch that this server sent was not taken.", collector),
	}
}

// Delivered counts a batch.
func (m *Audit) Delivered(collector string, taken bool, took time.Duration) {
	result := "failed"
	if taken {
		result = "taken"
	}
	observe(m.deliveries.WithLabelValues(collector, result), took)
}

// Failing tells of how many tenants the last batch was not taken.
func (m *Audit) Failing(collector string, tenants int) {
	m.failing.WithLabelValues(collector).Set(float64(tenants))
}
