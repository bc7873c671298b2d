package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"fairlead/internal/fleet"
	"fairlead/internal/traces"
)

// nowhere is a collector.
type nowhere struct{ traces.Exporter }

// ExportSpans takes all.
func (nowhere) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return nil }

// TestEachLineOfARequestHasItsIDs, each under one name and once: the line of the request, and what is said within it. Without traces there is no
// trace_id, and a write that changes nothing has no revision. A write that is repeated under its key leads to the trace of the first.
func TestEachLineOfARequestHasItsIDs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := asDocument(cluster("a"))
	put := func(key string) answer {
		return w.do(http.MethodPut, w.at("resources", "clusters", "a"), body, "Idempotency-Key", key)
	}
	if a := put("first"); a.status != http.StatusCreated || a.header.Get("Traceresponse") != "" {
		t.Fatalf("%d, trace %q", a.status, a.header.Get("Traceresponse"))
	}
	tracer, err := traces.New(t.Context(), traces.Config{Ratio: 1, Exporter: nowhere{}})
	must(t, err)
	w.api.traces = tracer
	body = strings.Replace(body, "1s", "2s", 1)
	made, again, same := put("second"), put("second"), put("third")
	told := strings.Split(made.header.Get("Traceresponse"), "-")
	if len(told) != 4 || again.header.Get("Traceresponse") != made.header.Get("Traceresponse") || same.header.Get("Traceresponse") != "" {
		t.Errorf("traces %q, repeated %q, without a change %q", told, again.header.Get("Traceresponse"), same.header.Get("Traceresponse"))
	}
	key := fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}
	ctx := context.WithValue(t.Context(), noteKey{}, &requestNote{id: "within"})
	noteIn(ctx).made.Store(&revisionMade{revision: 9, trace: tracer.Of(key, 9)})
	w.api.log.With("a", 1).WarnContext(ctx, "something within a request")
	w.api.log.Warn("something of none", slog.Int("b", 1))

	var requests []map[string]any
	for line := range strings.Lines(w.logs.String()) {
		var l map[string]any
		must(t, json.Unmarshal([]byte(line), &l))
		for _, id := range []string{"request_id", "trace_id", "revision"} {
			if strings.Count(line, `"`+id+`"`) > 1 {
				t.Errorf("%s twice: %s", id, line)
			}
		}
		switch l["msg"] {
		case "request":
			requests = append(requests, l)
		case "something within a request":
			if l["request_id"] != "within" || l["revision"] != 9.0 || l["trace_id"] != tracer.Of(key, 9).String() {
				t.Error(line)
			}
		case "something of none":
			if l["request_id"] != nil {
				t.Error(line)
			}
		}
	}
	if len(requests) != 4 {
		t.Fatalf("%d requests in the log:\n%s", len(requests), w.logs)
	}
	for i, want := range []struct{ revision, trace any }{{1.0, nil}, {2.0, told[1]}, {2.0, told[1]}, {nil, nil}} {
		if l := requests[i]; l["revision"] != want.revision || l["trace_id"] != want.trace || l["request_id"] == nil {
			t.Errorf("request %d: %v, want revision %v and trace %v", i, l, want.revision, want.trace)
		}
	}
}
