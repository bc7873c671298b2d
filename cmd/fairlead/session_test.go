package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func unavailable() reply {
	r := problemReply(http.StatusServiceUnavailable, "unavailable", "the database cannot be reached now; repeat the request")
	r.header["Retry-After"] = "1"
	return r
}

func TestUnavailableIsRepeatedWithTheSameKey(t *testing.T) {
	t.Parallel()
	inFlight := problemReply(http.StatusConflict, "in_flight", "a request with this Idempotency-Key is under way")
	inFlight.header["Retry-After"] = "2"
	w := setup(t)
	w.on("POST", "/apply", reply{drop: true}, unavailable(), inFlight, written(7, 1))
	w.run("apply", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK, "revision 7: 1 resource changed\n", "")
	if len(w.sent) != 4 {
		t.Fatalf("%d requests, want 4", len(w.sent))
	}
	for _, s := range w.sent {
		if s.key != w.sent[0].key || s.body != w.sent[0].body || s.key == "" {
			t.Errorf("a repeat differs: %+v", s)
		}
	}
	if diff := cmp.Diff([]time.Duration{retryDropped, time.Second, 2 * time.Second}, w.pauses); diff != "" {
		t.Error(diff)
	}
}

// always answers every request in one way and counts them.
type always struct {
	status, count int
}

func (a *always) Do(*http.Request) (*http.Response, error) {
	a.count++
	return &http.Response{StatusCode: a.status, Header: http.Header{"Retry-After": {"9"}}, Body: http.NoBody}, nil
}

func TestAWriteWithoutAKeyIsSentOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for method, want := range map[string]int{http.MethodGet: 2, http.MethodPost: 1, http.MethodDelete: 1, http.MethodPut: 1} {
		api := &always{status: http.StatusServiceUnavailable}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&retrier{next: api, now: w.now, pause: w.pause}).Do(req)
		if err != nil || resp.StatusCode != api.status || api.count != want {
			t.Errorf("%s was sent %d times, want %d (%v)", method, api.count, want, err)
		}
	}
}

func TestUnavailableForTooLong(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", unavailable())
	w.run("apply", "-f", w.file("a.yaml", oneCluster), "--idempotency-key", "k1").want(t, exitFailed, "",
		`fairlead: Service Unavailable: the database cannot be reached now; repeat the request
request id req-1
It is not known whether the change was stored. Repeat the command with --idempotency-key k1: it is then made once, not twice.
`)
	if len(w.sent) != 11 {
		t.Errorf("%d requests in 10 s, want 11", len(w.sent))
	}
	r := w.run("apply", "-f", w.file("a.yaml", oneCluster), "--idempotency-key", "k1", "--json")
	if want := indented(t, `{"error": {"code": "unavailable", "detail": "the database cannot be reached now; repeat the request", "idempotency_key": "k1", "request_id": "req-1", "status": 503, "title": "Service Unavailable", "type": "about:blank"}}`); r.out != want {
		t.Errorf("as JSON:\n%s\nwant\n%s", r.out, want)
	}
}

// After these answers nothing was done; what came before them may have been, and the last line says of which attempt that is.
func TestAnAnswerThatNothingWasDoneLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	const open = "It is not known whether the change was stored."
	const earlier = "That is of the last attempt. It is not known whether an earlier one stored the change. Repeat the command with --idempotency-key k1: it is then made once, not twice.\n"
	for code, detail := range map[string]string{
		"timeout": "other writes of the fleet took more than the 2s", "tenant_moving": "the tenant is being moved to another cell, and nothing was done: repeat the request",
		"tenant_elsewhere": "the tenant has moved to a cell that this server does not know", "database_full": "the database has no room on its disk, and nothing was done",
	} {
		nothing := problemReply(http.StatusServiceUnavailable, code, detail)
		nothing.header["Retry-After"] = "5"
		for _, c := range []struct {
			replies []reply
			open    bool
		}{{[]reply{nothing}, false}, {[]reply{nothing, nothing}, false}, {[]reply{unavailable(), nothing}, true}, {[]reply{{drop: true}, nothing}, true}} {
			w := setup(t)
			w.on("POST", "/apply", c.replies...)
			r := w.run("apply", "-f", w.file("a.yaml", oneCluster), "--idempotency-key", "k1")
			if r.code != exitFailed || strings.Contains(r.err, open) || strings.HasSuffix(r.err, earlier) != c.open {
				t.Errorf("%s after %d answers: %d, %s", code, len(c.replies), r.code, r.err)
			}
		}
	}
}

func TestWhatIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reply reply
		err   string
	}{
		{"refused", problemReply(http.StatusForbidden, "forbidden", "the token's role does not allow this"), "fairlead: Forbidden: the token's role does not allow this\nrequest id req-1\n"},
		{"conflict", problemReply(http.StatusConflict, "conflict", "no"), "fairlead: Conflict: no\nrequest id req-1\n"},
		{"not ours", reply{status: 404, body: "<html>\x1b", header: map[string]string{"Content-Type": "text/html"}}, "fairlead: URL answered 404 Not Found, not in the form of Fairlead's API: is the URL right, and is a proxy in between?\n"},
		{"redirect", reply{status: 302, header: map[string]string{"Location": "http://127.0.0.1:1/"}}, "fairlead: URL answered 302 Found, not in the form of Fairlead's API: is the URL right, and is a proxy in between?\n"},
		{"broken problem", reply{status: 400, body: "{", header: map[string]string{"Content-Type": "application/problem+json"}}, "fairlead: URL answered 400 Bad Request, not in the form of Fairlead's API: is the URL right, and is a proxy in between?\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.on("POST", "/apply", c.reply)
			r := w.run("apply", "-f", w.file("a.yaml", oneCluster))
			r.err = strings.ReplaceAll(r.err, w.server.URL, "URL")
			r.want(t, exitFailed, "", c.err)
			if len(w.sent) != 1 {
				t.Errorf("%d requests, want 1", len(w.sent))
			}
		})
	}
}

func TestAnUnreadableAnswerLeavesTheWriteOpen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", reply{status: 502, body: "bad gateway", header: map[string]string{"Content-Type": "text/plain"}})
	r := w.run("apply", "-f", w.file("a.yaml", oneCluster), "--idempotency-key", "k1")
	if r.code != exitFailed || !strings.Contains(r.err, "Repeat the command with --idempotency-key k1") {
		t.Errorf("%d %s", r.code, r.err)
	}
}

func TestNothingAnswers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.server.Close()
	r := w.run("nodes")
	r.err = strings.ReplaceAll(r.err, w.server.URL, "URL")
	r.want(t, exitFailed, "", "fairlead: nothing answers at URL: start Fairlead with \"make run\", or say with --server or FAIRLEAD_URL where it runs\n")
	w.file(".fairlead/ready.json", readyJSON(w.server.URL))
	r = w.bare("", "nodes")
	r.err = strings.ReplaceAll(r.err, w.server.URL, "URL")
	r.want(t, exitFailed, "", "fairlead: nothing answers at URL (from DIR/.fairlead/ready.json): start Fairlead with \"make run\", or say with --server where it runs\n")
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	sh := &shell{in: strings.NewReader(""), out: &out, err: &errs, now: w.now, pause: w.pause}
	code := run(ctx, sh, []string{"nodes", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge"})
	if code != exitInterrupted || errs.String() != "fairlead: interrupted\n" {
		t.Errorf("%d %q", code, errs.String())
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b", "100%", "a%2Fb", "a b", ".", "..", "+", ";", "?", "#", "ü漢", "grpc/server?xds=0.0.0.0:50051", "-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			if r := w.run("get", "clusters", name); r.code != exitFailed {
				t.Errorf("exit status %d: %s", r.code, r.err)
			}
			last, found := strings.CutPrefix(w.sent[0].path, fleetPath+"/resources/clusters/")
			if got, err := url.PathUnescape(last); !found || err != nil || got != name || strings.Contains(last, "/") || w.sent[0].query != "" {
				t.Errorf("asked for %s?%s", w.sent[0].path, w.sent[0].query)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a, b := `{"name": "a", "type": "clusters", "body": {"name": "a"}}`, `{"name": "b", "type": "clusters", "body": {"name": "b"}}`
	w.on("GET", "/resources/clusters/a", ok(a))
	w.on("GET", "/resources/clusters", ok(`{"items": [`+a+`], "next_cursor": "c1"}`), ok(`{"items": [`+b+`]}`))
	textA, textB := "type: clusters\nname: a\nbody:\n  name: a\n", "type: clusters\nname: b\nbody:\n  name: b\n"
	w.run("get", "clusters", "a").want(t, exitOK, textA, "")
	w.run("get", "clusters").want(t, exitOK, textA+"---\n"+textB, "")
	w.run("get", "clusters", "a", "--json").want(t, exitOK, indented(t, a), "")
	w.on("GET", "/resources/clusters", ok(`{"items": [`+a+`], "next_cursor": "c1"}`), ok(`{"items": [`+b+`]}`))
	w.run("get", "clusters", "--json").want(t, exitOK, indented(t, `{"items": [`+a+`,`+b+`]}`), "")
	w.run("get", "clusters", "a", "--variant", "e u").want(t, exitOK, textA, "")
	if reqs := w.requests(); !slices.Contains(reqs, "GET /resources/clusters/a?variant=e+u") && !slices.Contains(reqs, "GET /resources/clusters/a?variant=e%20u") {
		t.Errorf("the variant was not asked for: %q", reqs)
	}
	w.run("get", "clusters", "--variant", "eu").want(t, exitUsage, "", "fairlead: --variant is about one resource: give its name, or leave it out to list all variants\n")
	w.on("GET", "/resources/routes", ok(`{"items": []}`))
	w.run("get", "routes").want(t, exitOK, "", "")
	if reqs := w.requests(); !slices.Contains(reqs, "GET /resources/clusters?limit=500&cursor=c1") {
		t.Errorf("the second page was not asked for: %q", reqs)
	}
}

func indented(t *testing.T, in string) string {
	t.Helper()
	var v json.RawMessage = []byte(in)
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func TestNodes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": []}`))
	w.run("nodes").want(t, exitOK, "no node has connected yet\n", "")
	w.on("GET", "/nodes", ok(`{"items": [
		{"id": "node-1", "state": "refusing", "settled": 7, "user_agent": "envoy", "version": "1.40.0\u001b", "protocol": "delta ADS", "remote_addr": "127.0.0.1:1", "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T04:04:05.5+01:00", "connections": 2,
			"refusals": [{"type": "listeners", "name": "poison", "version": "v", "revision": 7, "detail": "no\u001b[2J\nfilter", "action": "kept the last known good version", "at": "2026-01-02T03:04:05Z"},
				{"type": "listeners", "name": "old", "version": "v", "revision": 6, "detail": "gone", "at": "2026-01-02T03:04:05Z", "resolved_at": "2026-01-02T03:04:05Z"}]},
		{"id": "n2", "state": "offline", "settled": 0, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T03:04:05Z", "refusals": []}]}`))
	w.run("nodes").want(t, exitOK, `NODE    STATE     SETTLED  CLIENT        PROTOCOL   ADDRESS      LAST SEEN
node-1  refusing  7        envoy 1.40.0  delta ADS  127.0.0.1:1  2026-01-02 03:04:05Z
n2      offline   -        -             -          -            2026-01-02 03:04:05Z
node-1 is connected to 2 servers: is its node id used twice?
node-1 refuses listeners/poison of revision 7 since 2026-01-02 03:04:05Z: no[2J filter (kept the last known good version)
`, "")
}

// TestNodesBySelector: a page may be empty though more follow.
func TestNodesBySelector(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": [], "next_cursor": "c1", "labels_unknown": 1}`), ok(`{"items": [
		{"id": "n2", "state": "offline", "settled": 0, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T03:04:05Z", "refusals": []}], "labels_unknown": 2}`))
	w.run("nodes", "--selector", "locality.region=eu").want(t, exitOK, `NODE  STATE    SETTLED  CLIENT  PROTOCOL  ADDRESS  LAST SEEN
n2    offline  -        -       -         -        2026-01-02 03:04:05Z
`, "warning: of 3 nodes the labels are not known: their metadata takes more than 16 KiB, or they have not connected for long\n")
	if reqs := w.requests(); len(reqs) != 2 || !strings.Contains(reqs[1], "selector=locality.region%3Deu") || !strings.Contains(reqs[1], "cursor=c1") {
		t.Errorf("asked for %q", reqs)
	}
	w.on("GET", "/nodes", ok(`{"items": []}`))
	w.run("nodes", "--selector", "node.id=x").want(t, exitOK, "no node that has connected matches the selector\n", "")
	w.run("nodes", "n2", "--selector", "node.id=x").want(t, exitUsage, "", "fairlead: --selector is about all nodes: leave the node's id out\n")
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "", ok(`{"id": "x", "name": "edge", "description": "", "revision": 7, "created_at": "2026-01-02T03:04:05Z"}`))
	w.on("GET", receipt7, receiptReply("delivered", 1, 0, 0, 0, ""))
	for _, args := range [][]string{{"receipt"}, {"receipt", "latest"}, {"receipt", "7"}} {
		w.run(args...).want(t, exitOK, "revision 7 ACKed by 1/1 nodes in 18 ms\n", "")
	}
	w.on("GET", "", ok(`{"id": "x", "name": "edge", "description": "", "revision": 0, "created_at": "2026-01-02T03:04:05Z"}`))
	w.run("receipt").want(t, exitFailed, "", "fairlead: the fleet has no revision yet\n")
	w.run("receipt", "--wait", "30s").want(t, exitUsage, "", "fairlead: \"30s\" is not the number of a revision: a time stands at its flag, --wait=30s\n")
	w.run("receipt", "7", "--wait=soon").want(t, exitUsage, "", "fairlead: --wait: \"soon\" is not a time such as 30s or 2m; fairlead receipt --help tells more\n")
}

func TestReceiptIsWaitedForInParts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	early := receiptReply("pending", 0, 0, 1, 0, "") // it answers before the time: the API stops
	w.on("GET", receipt7, early, early, receiptReply("delivered", 1, 0, 0, 0, ""))
	w.run("receipt", "7", "--wait=90s").want(t, exitOK, "revision 7 ACKed by 1/1 nodes in 18 ms\n", "")
	want := []string{"GET " + receipt7 + "?wait=60000ms", "GET " + receipt7 + "?wait=60000ms", "GET " + receipt7 + "?wait=60000ms"}
	if diff := cmp.Diff(want, w.requests()); diff != "" {
		t.Error(diff)
	}
	w.on("GET", receipt7, early)
	w.run("receipt", "7", "--wait=2500ms").want(t, exitPending, "revision 7 pending after 2.5s: 0/1 nodes ACKed; pending: 1 nodes\n", "")
	if diff := cmp.Diff([]time.Duration{time.Second, time.Second, time.Second, time.Second, 500 * time.Millisecond}, w.pauses); diff != "" {
		t.Error(diff)
	}
}

func readyJSON(url string) string {
	return fmt.Sprintf(`{"api_url": %q, "api_token": %q, "tenant": "acme", "fleet": "edge", "xds_address": "127.0.0.1:1"}`, url, testToken)
}

// TestTLSOnOneSide: the URL is what is wrong, and its setting is named.
func TestTLSOnOneSide(t *testing.T) {
	t.Parallel()
	w := setup(t)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for url, want := range map[string]string{
		strings.Replace(secure.URL, "https://", "http://", 1):   "speaks TLS: give https:// in --server or FAIRLEAD_URL",
		strings.Replace(w.server.URL, "http://", "https://", 1): "speaks no TLS: give http:// in --server or FAIRLEAD_URL",
	} {
		r := w.bare("", "nodes", "--server", url, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge")
		if r.code != exitFailed || !strings.Contains(r.err, want) || !strings.Contains(r.err, url) {
			t.Errorf("%s: %d %s", url, r.code, r.err)
		}
	}
}
