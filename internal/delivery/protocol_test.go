package delivery

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestTheProtocolOfANodeWithSeveralStreams is that of the stream which says most of how it is configured: of ADS before all, of clusters and listeners before what these
// name, of several alike the newest, and a stream before polls.
func TestTheProtocolOfANodeWithSeveralStreams(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.Head(w.key, mark(1), time.Now())
		streams := map[string]*Stream{}
		for _, step := range []struct{ comes, goes, want string }{
			{"REST EDS", "", "REST EDS"}, {"REST CDS", "", "REST CDS"}, {"REST RDS", "", "REST CDS"}, {"REST LDS", "", "REST LDS"}, {"delta EDS", "", "REST LDS"},
			{"SotW CDS", "", "SotW CDS"}, {"delta ADS", "", "delta ADS"}, {"SotW LDS", "", "delta ADS"},
			{"", "delta ADS", "SotW LDS"}, {"", "SotW LDS", "SotW CDS"}, {"", "SotW CDS", "REST LDS"}, {"", "REST LDS", "REST CDS"}, {"", "REST CDS", "delta EDS"},
			{"", "delta EDS", "REST RDS"}, {"", "REST EDS", "REST RDS"}, {"", "REST RDS", "REST RDS"},
		} {
			if step.comes != "" {
				streams[step.comes] = w.Connect(w.key, fleet.Node{ID: "n"}, StreamInfo{Protocol: step.comes})
			} else {
				streams[step.goes].Close(true)
			}
			time.Sleep(10 * time.Second)
			if got := w.sink.model(w.key).nodes["n"].Protocol; got != step.want {
				t.Errorf("after %+v it is told as %q", step, got)
			}
		}
	})
}
