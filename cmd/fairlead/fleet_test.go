package main

import (
	"strings"
	"testing"
)

func TestFleetSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const fleet = `{"id": "x", "name": "edge", "description": "", "references": "strict", "node_ids": "exclusive", "receipt_window": "12h", "forget_nodes_after": "14d", "static_clusters": ["a", "b"], "private_clusters": ["v"], "values": {}, "revision": 7, "created_at": "2026-01-02T03:04:05Z"}`
	const shown = `fleet               edge
revision            7
references          strict
node-ids            exclusive
receipt-window      12h
forget-nodes-after  14d
static-clusters     a,b
private-clusters    v
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
