package delivery

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// spansKept are the spans that a tracer sends.
type spansKept struct{ spans []sdk.ReadOnlySpan }

// ExportSpans is traces.Exporter's, like the one below.
func (k *spansKept) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	k.spans = append(k.spans, spans...)
	return nil
}

// Shutdown does nothing.
func (k *spansKept) Shutdown(context.Context) error { return nil }

// journeys has do done with a recorder that traces each revision, and returns the spans by name, and what the one of deliver says.
func journeys(t *testing.T, do func(w *world)) (names map[string]int, deliver map[string]string) {
	t.Helper()
	names, deliver = map[string]int{}, map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		k := &spansKept{}
		tracer, err := traces.New(t.Context(), traces.Config{Ratio: 1, Exporter: k})
		if err != nil {
			t.Fatal(err)
		}
		w, _ := measured(t)
		w.cfg.Traces = tracer
		do(w)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = tracer.Run(ctx)
		for _, s := range k.spans {
			if names[s.Name()]++; s.Name() == "deliver" {
				for _, a := range s.Attributes() {
					deliver[strings.TrimPrefix(string(a.Key), "fairlead.")] = a.Value.String()
				}
			}
		}
	})
	return names, deliver
}

// look is what a report does first.
func (w *world) look() {
	f := w.lock(w.key)
	defer f.mu.Unlock()
	f.lookAtJourneys(time.Now())
}

// TestAJourneyCostsTheSameForManyNodes: of a thousand nodes six have spans at most, and the times of all are told.
func TestAJourneyCostsTheSameForManyNodes(t *testing.T) {
	t.Parallel()
	const nodes = 1000
	names, deliver := journeys(t, func(w *world) {
		w.Head(w.key, mark(5), time.Now())
		var ss []*Stream
		for i := range nodes {
			ss = append(ss, w.connect(fmt.Sprint("n", i)))
			ss[i].Settled(5)
		}
		w.Head(w.key, mark(6), time.Now())
		for _, s := range ss {
			s.Sent(6, Planning{time.Now(), time.Now()})
		}
		for _, s := range ss[:nodes-3] {
			time.Sleep(time.Millisecond)
			s.Settled(6)
		}
		w.look()
		time.Sleep(journeyFor)
		w.look()
	})
	if got := fmt.Sprint(names); got != "map[ack:6 deliver:1 plan:6 send:6]" {
		t.Error(got)
	}
	for key, want := range map[string]string{"ended": "behind", "nodes": "1000", "nodes.sent": "1000", "nodes.confirmed": "997", "nodes.behind": "3", "confirmed.first_ms": "1", "confirmed.last_ms": "997"} {
		if deliver[key] != want {
			t.Errorf("%s is %q, want %q", key, deliver[key], want)
		}
	}
	for key, about := range map[string]float64{"confirmed.p50_ms": 500, "confirmed.p90_ms": 900} {
		if v, err := strconv.ParseFloat(deliver[key], 64); err != nil || v < about-50 || v > about+50 {
			t.Errorf("%s is %q, want about %v", key, deliver[key], about)
		}
	}
}

// TestAJourneyEnds when all have confirmed it, when too many later ones are under way, and when the history is cut.
func TestAJourneyEnds(t *testing.T) {
	t.Parallel()
	for want, then := range map[string]func(w *world, s *Stream){
		journeyConfirmed: func(w *world, s *Stream) { s.Settled(6); w.look() },
		journeyCut:       func(w *world, _ *Stream) { w.Restart(w.key, mark(2), time.Now()) },
		journeyMany: func(w *world, _ *Stream) {
			for rev := range fleet.Revision(mostJourneys) {
				w.Head(w.key, mark(7+rev), time.Now())
			}
		},
		journeyStopped: func(w *world, _ *Stream) { w.lock(w.key).mu.Unlock(); w.all()[0].close() },
	} {
		names, deliver := journeys(t, func(w *world) {
			w.Head(w.key, mark(5), time.Now())
			s := w.connect("n")
			s.Settled(5)
			w.Head(w.key, mark(6), time.Now())
			s.Sent(6, Planning{time.Now(), time.Now()})
			then(w, s)
		})
		if names["deliver"] != 1 || deliver["ended"] != want || deliver["revision"] != "6" {
			t.Errorf("%v of revision %s ended by %q, want %q", names, deliver["revision"], deliver["ended"], want)
		}
	}
}

// TestNoJourneyCostsNothing: of a revision that is not traced, what is measured allocates nothing more.
func TestNoJourneyCostsNothing(t *testing.T) {
	var none *journey
	s, n := &sending{}, &node{}
	if got := testing.AllocsPerRun(100, func() {
		if none.sending(time.Time{}) != (*metrics.Exemplar)(nil) || none.confirmed(n, s, time.Time{}) != nil {
			t.Error("there is an exemplar")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
