package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"fairlead/internal/traces/tracestest"
	"fairlead/test/world"
)

// named are the spans of a trace that have this name.
func named(spans []tracestest.Span, trace, name string) (found []tracestest.Span) {
	for _, s := range spans {
		if s.Trace() == trace && (s.Name == name || name == "PUT" && strings.HasPrefix(s.Name, "PUT ")) {
			found = append(found, s)
		}
	}
	return found
}

// TestTraces: one change, from the request to the ACKs of two Envoys of two servers, is one trace with one root; nothing that was written or that lets
// somebody in is in it. The lines of the log carry its id, and so do exemplars.
func TestTraces(t *testing.T) {
	c := tracestest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20collector-canary")
	t.Setenv("FAIRLEAD_TRACES_RATIO", "1")
	w := setup(t)
	r := setupRouted(t, w, true)
	second := w.XDS()
	w.Envoy("n2", second.Address, false)
	w.AwaitLive("n2")

	const caller = "4bf92f3577b34da6a3ce929d0e0e4736"
	body := `{"body": {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "type": "EDS", "connect_timeout": "3.141s", "eds_cluster_config": {"eds_config": {"ads": {}}}, "alt_stat_name": "body-canary"}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.API+"/v1/tenants/acme/fleets/edge/resources/clusters/a?message=message-canary", strings.NewReader(body))
	world.Must(t, err)
	req.Header = http.Header{"Authorization": {"Bearer " + w.Token}, "Content-Type": {"application/json"}, "Traceparent": {"00-" + caller + "-00f067aa0ba902b7-00"}}
	resp, err := http.DefaultClient.Do(req)
	world.Must(t, err)
	var written struct{ Revision int64 }
	world.Must(t, json.NewDecoder(resp.Body).Decode(&written))
	world.Must(t, resp.Body.Close())
	told := strings.Split(resp.Header.Get("Traceresponse"), "-")
	if resp.StatusCode != http.StatusOK || written.Revision == 0 || len(told) != 4 {
		t.Fatalf("%s, revision %d, trace %q", resp.Status, written.Revision, told)
	}
	trace := told[1]
	spans := c.Await(t, "the whole trace", func(spans []tracestest.Span) bool {
		return len(named(spans, trace, "deliver")) == 2 && len(named(spans, trace, "ack")) == 2 && len(named(spans, trace, "PUT")) == 1
	})

	byID, instances := map[string]tracestest.Span{}, map[string]bool{}
	for _, s := range spans {
		if s.Trace() == trace {
			byID[string(s.SpanId)] = s
			instances[s.Instance] = true
		}
	}
	if len(instances) != 3 {
		t.Errorf("%d processes have a part in it, want 3", len(instances))
	}
	for _, ack := range named(spans, trace, "ack") {
		var way []string
		for s, ok := ack, true; ok; s, ok = byID[string(s.ParentSpanId)] {
			way = append(way, strings.Fields(s.Name)[0])
			if s.EndTimeUnixNano < s.StartTimeUnixNano || s.Attr("fairlead.revision") != fmt.Sprint(written.Revision) {
				t.Errorf("%s ends before it begins, or is of revision %s", s.Name, s.Attr("fairlead.revision"))
			}
		}
		if got, want := strings.Join(way, " "), "ack send plan deliver catch-up commit PUT"; got != want {
			t.Errorf("of node %s: %s, want %s", ack.Attr("fairlead.node.id"), got, want)
		}
	}
	root := named(spans, trace, "PUT")[0]
	if hex.EncodeToString(root.SpanId) != told[2] || len(root.ParentSpanId) > 0 || len(root.Links) != 1 || hex.EncodeToString(root.Links[0].TraceId) != caller {
		t.Errorf("the root %x of parent %x has the links %v", root.SpanId, root.ParentSpanId, root.Links)
	}
	if got := root.Attr("http.route") + " " + root.Attr("http.response.status_code"); got != "/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name} 200" {
		t.Error(got)
	}
	if bells := named(spans, trace, "bell"); len(bells) == 0 || !slices.Contains([]string{"notify", "poll"}, bells[0].Attr("fairlead.bell")) {
		t.Errorf("bells: %v", bells)
	}

	for what, secret := range map[string]string{"the token": w.Token, "the operator's": w.Operator, "the nodes'": w.NodeToken, "the collector's": "collector-canary", "the body": "body-canary", "the message": "message-canary", "a password": "postgres://"} {
		if bytes.Contains(c.Raw(), []byte(secret)) {
			t.Errorf("%s is in a span", what)
		}
	}
	line := lineOf(t, w.Server, func(l map[string]any) bool {
		return l["msg"] == "request" && l["revision"] == float64(written.Revision)
	})
	if line["trace_id"] != trace || line["request_id"] != root.Attr("fairlead.request_id") {
		t.Errorf("the log says %v", line)
	}
	if text := openMetrics(t, "http://"+r.xds.Logged("the ports are open", "health_address")+"/metrics"); !strings.Contains(text, `trace_id="`+trace+`"`) || !strings.Contains(text, `revision="`+strconv.FormatInt(written.Revision, 10)+`"`) {
		t.Error("no exemplar names the trace")
	}
}

// openMetrics is a scrape as a Prometheus asks that takes exemplars.
func openMetrics(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	world.Must(t, err)
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	resp, err := http.DefaultClient.Do(req)
	world.Must(t, err)
	defer resp.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(resp.Body)
	world.Must(t, err)
	return text.String()
}

// lineOf waits for a line of a program's log.
func lineOf(t *testing.T, p *world.Program, is func(map[string]any) bool) (found map[string]any) {
	t.Helper()
	world.Eventually(t, 2*world.Soon, "no such line in the log", func() bool {
		for line := range bytes.Lines(world.Read(t, p.Log)) {
			var l map[string]any
			if json.Unmarshal(line, &l) == nil && is(l) {
				found = l
				return true
			}
		}
		return false
	})
	return found
}

// TestTheLogsLevelIsChangedBySignals, on a server that runs, and nothing ends by them.
func TestTheLogsLevelIsChangedBySignals(t *testing.T) {
	t.Parallel()
	w := setup(t)
	x := w.XDS()
	for _, p := range []*world.Program{w.Server, x.Program} {
		world.Must(t, syscall.Kill(p.PID(), syscall.SIGUSR1))
		lineOf(t, p, func(l map[string]any) bool { return l["msg"] == "the log level is debug" })
	}
	w.Put(world.Cluster("a", "1s"))
	w.Envoy("n1", x.Address, true)
	w.AwaitLive("n1")
	lineOf(t, x.Program, func(l map[string]any) bool { return l["msg"] == "stream opened" })
	for _, p := range []*world.Program{w.Server, x.Program} {
		world.Must(t, syscall.Kill(p.PID(), syscall.SIGUSR2))
		lineOf(t, p, func(l map[string]any) bool { return l["msg"] == "the log level is what it was" })
	}
}
