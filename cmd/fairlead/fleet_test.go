package main

import (
	"strings"
	"testing"
)

func TestFleetSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const fleet = `{"id": "x", "name": "edge", "description": "", "references": "strict", "node_ids": "exclusive", "receipt_window": "12h", "forget_nodes_after": "14d", "static_clusters": ["a", "b"], "private_clusters": ["v"], "local_ports": [8080, 9000], "values": {}, "revision": 7, "created_at": "2026-01-02T03:04:05Z"}`
	const shown = `fleet               edge
revision            7
references          strict
node-ids            exclusive
receipt-window      12h
forget-nodes-after  14d
static-clusters     a,b
private-clusters    v
local-ports         8080,9000
`
	w.on("GET", "", ok(fleet))
	w.on("PATCH", "", ok(fleet), ok(fleet), ok(fleet), problemReply(400, "invalid_request", "no"))
	w.run("fleet").want(t, exitOK, shown, "")
	w.run("fleet", "--receipt-window=12h").want(t, exitOK, shown, "")
	w.run("fleet", "--references=strict", "--node-ids=exclusive", "--forget-nodes-after", "14d").want(t, exitOK, shown, "")
	w.run("fleet", "--static-clusters=").want(t, exitOK, shown, "")
	if r := w.run("fleet", "--receipt-window=1y"); r.code != exitFailed || r.out != "" {
		t.Errorf("%+v", r)
	}
	if r := w.run("fleet", "--references=perhaps"); r.code != exitUsage || !strings.Contains(r.err, "warn") {
		t.Errorf("%+v", r)
	}
	if got := w.requests(); len(got) != 5 {
		t.Errorf("asked %v", got)
	}
}

// TestT22_FleetLocalPorts: the ports are sent as they are given, and who opens that of the admin interface is warned.
func TestT22_FleetLocalPorts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const open = `{"name": "edge", "local_ports": [8080, 9901]}`
	const warning = "warning: 9901 is where Envoy's admin interface listens by default, which shows all that a proxy knows and ends it: everybody who writes to this fleet may send to it now\n"
	w.on("PATCH", "", ok(open), ok(`{"name": "edge", "local_ports": []}`))
	w.on("GET", "", ok(open))
	if r := w.run("fleet", "--local-ports=8080, 9901"); r.code != exitOK || r.err != warning || !strings.Contains(r.out, "local-ports         8080,9901\n") {
		t.Errorf("%+v", r)
	}
	if r := w.run("fleet", "--local-ports="); r.code != exitOK || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := w.run("fleet"); r.code != exitOK || r.err != "" { // nothing was opened
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"0", "65536", "http", "8080,-1"} {
		if r := w.run("fleet", "--local-ports="+bad); r.code != exitUsage || !strings.Contains(r.err, "is no port") {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.sent; len(got) != 3 || got[0].body != `{"local_ports":[8080,9901]}` || got[1].body != `{"local_ports":[]}` {
		t.Errorf("asked %v", got)
	}
}

// The settings of load reports are sent as they are given, and shown where there are any.
func TestFleetLoadReports(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("PATCH", "", ok(`{"name": "edge", "load_report_interval": "30s", "load_report_clusters": ["a", "b"], "load_report_endpoints": true}`), ok(`{"name": "edge"}`))
	if r := w.run("fleet", "--load-report-interval=30s", "--load-report-clusters=b,a", "--load-report-endpoints=on"); r.code != exitOK ||
		!strings.Contains(r.out, "load-report-interval   30s\nload-report-clusters   a,b\nload-report-endpoints  on\n") {
		t.Errorf("%+v", r)
	}
	if r := w.run("fleet", "--load-report-interval=", "--load-report-clusters=", "--load-report-endpoints=off"); r.code != exitOK || strings.Contains(r.out, "load-report") {
		t.Errorf("%+v", r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.sent; len(got) != 2 || got[0].body != `{"load_report_clusters":["b","a"],"load_report_endpoints":true,"load_report_interval":"30s"}` || got[1].body != `{"load_report_clusters":[],"load_report_endpoints":false,"load_report_interval":""}` {
		t.Errorf("asked %v", got)
	}
}
