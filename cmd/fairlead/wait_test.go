package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestTimeoutOfAWait(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.file("a.yaml", oneCluster)
	w.on("POST", "/apply", written(7, 1))
	w.on("GET", receipt7, receiptReply("pending", 0, 0, 1, 0, `{"id": "n", "state": "pending"}`))
	w.run("apply", "-f", a, "--wait", "--timeout", "2s").want(t, exitPending, "revision 7: 1 resource changed\nrevision 7 pending after 2s: 0/1 nodes ACKed; pending: n\n", "")
	w.run("receipt", "7", "--wait", "--timeout", "1s").want(t, exitPending, "revision 7 pending after 1s: 0/1 nodes ACKed; pending: n\n", "")
	w.run("apply", "-f", a, "--timeout", "2s").want(t, exitUsage, "", "fairlead: --timeout says how long --wait waits: give that too\n")
	w.run("apply", "-f", a, "--wait=1s", "--timeout", "2s").want(t, exitUsage, "", "fairlead: --wait=TIME and --timeout say the same: give one of them\n")
}

// A failover that loses a revision gives its number to another one, which says nothing of the one that was written.
func TestWaitForARevisionThatIsLost(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(7, 1))
	other := receiptReply("delivered", 1, 0, 0, 0, "")
	other.body = strings.Replace(other.body, "03:04:05Z", "03:05:05Z", 1)
	w.on("GET", receipt7, receiptReply("pending", 0, 0, 1, 0, `{"id": "n", "state": "pending"}`), other)
	w.run("apply", "-f", w.file("a.yaml", oneCluster), "--wait").want(t, exitFailed, "revision 7: 1 resource changed\n",
		"fairlead: revision 7 is another one now: the database has failed over and lost the one that was waited for. Apply it again\n")
}

// TestWaitShowsABar: on a terminal alone, on the standard error, and it is gone at the end.
func TestWaitShowsABar(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", receipt7, receiptReply("pending", 1, 0, 2, 0, `{"id": "n", "state": "pending"}`), receiptReply("delivered", 3, 0, 0, 0, ""))
	var out, errs strings.Builder
	sh := &shell{in: strings.NewReader(""), out: &out, err: &errs, dir: w.dir, now: w.now, pause: w.pause, bar: true}
	code := run(t.Context(), sh, []string{"receipt", "7", "--wait", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge"})
	if code != exitOK || out.String() != "revision 7 ACKed by 3/3 nodes in 18 ms\n" {
		t.Errorf("%d %q", code, out.String())
	}
	want := barGone + "revision 7 [##########--------------------] 1/3 ACKed" + barGone + "revision 7 [##############################] 3/3 ACKed" + barGone
	if errs.String() != want {
		t.Errorf("%q, want %q", errs.String(), want)
	}
}

// TestCtrlCSaysWhatIsStored: the change is made, the waiting has ended.
func TestCtrlCSaysWhatIsStored(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(7, 1))
	w.on("GET", receipt7, receiptReply("pending", 0, 0, 1, 0, `{"id": "n", "state": "pending"}`))
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs strings.Builder
	sh := &shell{in: strings.NewReader(""), out: &out, err: &errs, dir: w.dir, now: w.now}
	sh.pause = w.pause
	w.paused = cancel
	code := run(ctx, sh, []string{"apply", "-f", w.file("a.yaml", oneCluster), "--wait", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge"})
	if code != exitInterrupted || out.String() != "revision 7: 1 resource changed\n" ||
		errs.String() != "fairlead: interrupted\nRevision 7 is stored and on its way. To go on waiting: fairlead receipt 7 --wait\n" {
		t.Errorf("%d %q %q", code, out.String(), errs.String())
	}
}

func TestJSONIsOneDocument(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.file("a.yaml", oneCluster)
	w.on("POST", "/apply", ok(`{"revision": 7, "changed": 1, "resources": []}`))
	w.on("GET", receipt7, ok(`{"revision": 7, "state": "pending", "counts": {"acked": 0, "nacked": 0, "pending": 1, "offline": 0, "unaffected": 0}, "nodes": []}`))
	w.run("apply", "-f", a, "--wait=1s", "--json").want(t, exitPending, indented(t, `{"changed": 1, "receipt": {"revision": 7, "state": "pending", "counts": {"acked": 0, "nacked": 0, "pending": 1, "offline": 0, "unaffected": 0}, "nodes": []},
		"resources": [], "revision": 7}`), "")
	w.on("POST", "/apply", problemReply(http.StatusForbidden, "forbidden", "no"))
	for _, args := range [][]string{{"apply", "-f", a, "--json"}} {
		w.run(args...).want(t, exitFailed, indented(t, `{"error": {"code": "forbidden", "detail": "no", "request_id": "req-1", "status": 403, "title": "Forbidden", "type": "about:blank"}}`), "fairlead: Forbidden: no\nrequest id req-1\n")
	}
	r := w.run("get", "clusters", "none", "-o", "json")
	if r.code != exitFailed || !strings.Contains(r.out, `"code": "not_found"`) {
		t.Errorf("%+v", r)
	}
	r = w.run("apply", "-f", w.file("b.yaml", "- a\n"), "--json")
	if r.code != exitFailed || !strings.Contains(r.out, `"detail": "DIR/b.yaml:1: a document must be an object`) {
		t.Errorf("%+v", r)
	}
}
