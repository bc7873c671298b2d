package main

import (
	"os"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
)

const withheldNode = `{"id": %ID%, "state": "pending", "withheld": [
	{"resource": {"type": "listeners", "name": "edge"}, "by": {"type": "routes", "name": "r\u001b[2J"}, "reason": "missing"},
	{"resource": {"type": "clusters", "name": "c"}, "by": {"type": "secrets", "name": "s"}, "reason": "refused"}],
	"withheld_by": [{"type": "routes", "name": "r"}], "warming": [{"type": "clusters", "name": "w"}], "more_waits": 2}`

func withheld(ids ...string) string {
	var nodes []string
	for _, id := range ids {
		nodes = append(nodes, strings.ReplaceAll(withheldNode, "%ID%", `"`+id+`"`))
	}
	return "[" + strings.Join(nodes, ", ") + "]"
}

// blockedReply is a receipt whose pending nodes all wait for what is withheld.
func blockedReply(nodes string) reply {
	return ok(`{"revision": 7, "state": "pending", "counts": {"acked": 0, "nacked": 0, "pending": 2, "offline": 0, "withheld": 2, "unaffected": 0},
		"nodes": ` + nodes + `, "committed_at": "2026-01-02T03:04:05Z"}`)
}

// SEMANTICS 5.5: what waits for somebody to write something is told at once, with what to write.
func TestReceiptTellsWhatIsWithheld(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/revisions/7/receipt", blockedReply(withheld("a", "b")))
	w.run("receipt", "7", "--wait", "--state=nacked").want(t, exitUsage, "", "fairlead: --state lists what is known now: leave out --wait, or --state\n")
	w.run("receipt", "7", "--wait=10m").want(t, exitPending, `revision 7 pending: 0/2 nodes ACKed; pending: a, b
  a, b: listeners/edge waits for routes/r[2J, which does not exist: write it
  a, b: clusters/c waits for secrets/s, which this node refuses: fix it
  a, b: clusters/w is sent and not answered: something that it needs is still open, or the node is stuck
  a, b: and 2 more
`, "")
	if len(w.pauses) > 0 {
		t.Errorf("it waited for nothing: %v", w.pauses)
	}
}

// TestReceiptTellsThatNoEnvoyServes: a node of files that no Envoy reads is pending, and says why; so do the nodes.
func TestReceiptTellsThatNoEnvoyServes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const node = `{"id": "edge", "state": "pending", "no_envoy": true}`
	w.on("GET", "/revisions/7/receipt", ok(`{"revision": 7, "state": "pending", "counts": {"acked": 0, "nacked": 0, "pending": 1, "offline": 0, "withheld": 0, "unaffected": 0},
		"nodes": [`+node+`], "committed_at": "2026-01-02T03:04:05Z"}`), ok(`{"nodes": [`+node+`]}`))
	const says = "no Envoy serves there: its files are written, and nothing is confirmed until one does"
	w.run("receipt", "7").want(t, exitPending, "revision 7 pending: 0/1 nodes ACKed; pending: edge\n  edge: "+says+"\n", "")
	w.run("receipt", "7", "--state", "pending").want(t, exitOK, "NODE  STATE    AT  WHY\nedge  pending  -   "+says+"\n", "")
	seen := time.Unix(0, 0).UTC().Format(time.RFC3339)
	for state, want := range map[string]bool{"live": true, "offline": false} {
		w.on("GET", "/nodes/edge", ok(`{"id": "edge", "state": "`+state+`", "settled": 0, "first_seen": "`+seen+`", "last_seen": "`+seen+`", "refusals": [], "user_agent": "fairlead-sync-no-envoy"}`))
		if r := w.run("nodes", "edge"); r.code != exitOK || strings.HasSuffix(r.out, "edge: "+says+"\n") != want {
			t.Errorf("%s: %+v", state, r)
		}
	}
}

// TestWaitsAreSaidAlike: the page and the contract say of what a node waits for what the command line says.
func TestWaitsAreSaidAlike(t *testing.T) {
	t.Parallel()
	stuck := strings.TrimPrefix(waitsOf(nil, &[]client.ResourceRef{{Type: "clusters", Name: "w"}})[0], "clusters/w ")
	_, open, _ := strings.Cut(stuck, ": ")
	for file, want := range map[string][]string{
		"../../web/src/nodes/words.ts":       {`"` + stuck + `"`, `"` + noEnvoy + `"`},
		"../../openapi.yaml":                 {"and has not answered. S" + open[1:], "no Envoy serves there"},
		"../../internal/httpapi/node_why.go": {open},
		"../../docs/receipts.md":             {"no Envoy serves there"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range want {
			if !strings.Contains(string(text), words) {
				t.Errorf("%s does not say %q", file, words)
			}
		}
	}
}

func TestReceiptListsAState(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at := `"at": "2026-01-02T03:04:05Z"`
	w.on("GET", "/revisions/7/receipt",
		ok(`{"revision": 7, "state": "rejected", "counts": {}, "next_cursor": "more", "committed_at": "2026-01-02T03:04:05Z",
			"nodes": [{"id": "a", "state": "nacked", `+at+`, "detail": "no\u001b[2J", "resource": {"type": "listeners", "name": "l"}}]}`),
		blockedReply(withheld("b")), ok(`{"nodes": []}`))
	w.run("receipt", "7", "--state", "nacked").want(t, exitOK, `NODE  STATE    AT                    WHY
a     nacked   2026-01-02 03:04:05Z  listeners/l: no[2J
b     pending  -                     listeners/edge waits for routes/r[2J, which does not exist: write it
`, "")
	if got := w.requests(); len(got) != 2 || !strings.Contains(got[1], "cursor=more") || !strings.Contains(got[1], "state=nacked") {
		t.Errorf("asked %v", got)
	}
	w.run("receipt", "7", "--state", "acked").want(t, exitOK, "no node is acked at revision 7\n", "")
	if r := w.run("receipt", "7", "--state", "lost"); r.code != exitUsage || !strings.Contains(r.err, "acked, nacked, pending, offline, late") {
		t.Errorf("%+v", r)
	}
}

func TestNodesTellWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	seen := time.Unix(0, 0).UTC().Format(time.RFC3339)
	w.on("GET", "/nodes/n", ok(`{"id": "n", "state": "live", "settled": 1, "first_seen": "`+seen+`", "last_seen": "`+seen+`", "refusals": [],
		"waits": {"warming": [], "withheld": [{"resource": {"type": "listeners", "name": "edge"}, "by": {"type": "routes", "name": "r"}, "reason": "missing"}], "withheld_by": []}}`))
	if r := w.run("nodes", "n"); r.code != exitOK || !strings.HasSuffix(r.out, "n: listeners/edge waits for routes/r, which does not exist: write it\n") {
		t.Errorf("%+v", r)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/events", ok(`{"items": [
		{"at": "2026-01-02T03:04:06Z", "kind": "kept_back", "node": "a", "resource": {"type": "listeners", "name": "l"}, "revision": 7, "action": "kept the last known good version"},
		{"at": "2026-01-02T03:04:05Z", "kind": "refused", "node": "a\u001b[2J", "resource": {"type": "listeners", "name": "l"}, "revision": 7, "detail": "no\nsuch filter"},
		{"at": "2026-01-02T03:04:04Z", "kind": "duplicates", "node": "b", "action": "2 clients have this node id"}]}`), ok(`{"items": []}`))
	w.run("events", "--node", "a", "-n", "3").want(t, exitOK, `AT                    NODE  EVENT       RESOURCE     REVISION  WORDS
2026-01-02 03:04:06Z  a     kept_back   listeners/l  7         (kept the last known good version)
2026-01-02 03:04:05Z  a[2J  refused     listeners/l  7         no such filter
2026-01-02 03:04:04Z  b     duplicates  -            -         (2 clients have this node id)
`, "")
	if got := w.requests()[0]; !strings.Contains(got, "node=a") || !strings.Contains(got, "limit=3") {
		t.Errorf("asked %s", got)
	}
	w.run("events").want(t, exitOK, "nothing has happened\n", "")
	if r := w.run("events", "-n", "-1"); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
