package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const twoRevisions = `{"items": [
	{"revision": 12, "kind": "apply", "changed": 3, "created": 1, "updated": 2, "deleted": 0, "committed_at": "2026-01-02T03:04:05Z", "actor": "pipeline", "message": "new\nroute", "receipt": "delivered"},
	{"revision": 11, "kind": "put", "changed": 1, "created": 1, "updated": 0, "deleted": 0, "committed_at": "2026-01-02T03:04:05Z"}], "next_cursor": "more"}`

func TestHistory(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/revisions", ok(twoRevisions))
	w.run("history", "-n", "2", "--actor", "pipeline", "--since", "2026-01-01T00:00:00Z").want(t, exitOK, `REVISION  KIND   NEW  CHANGED  GONE  COMMITTED             BY        RECEIPT    MESSAGE
12        apply  1    2        0     2026-01-02 03:04:05Z  pipeline  delivered  new route
11        put    1    0        0     2026-01-02 03:04:05Z  -         -          -
`, "")
	if diff := cmp.Diff([]string{"GET /revisions?actor=pipeline&since=2026-01-01T00%3A00%3A00Z&limit=2"}, w.requests()); diff != "" {
		t.Error(diff)
	}
	w.run("history", "-n", "2", "--since", "12h", "--until", "2026-01-02")
	clock := w.clock.UTC().Add(-12 * time.Hour).Truncate(time.Second).Format(time.RFC3339)
	if got := w.requests(); len(got) != 2 || !strings.Contains(got[1], "since="+url.QueryEscape(clock)+"&until="+url.QueryEscape("2026-01-02T00:00:00Z")) {
		t.Errorf("%q, want 12 hours before %s", got, clock)
	}
	if r := w.run("history", "-n", "2", "-o", "json"); r.code != exitOK || !strings.Contains(r.out, `"receipt": "delivered"`) {
		t.Errorf("%+v", r)
	}
	w.on("GET", "/revisions", ok(`{"items": []}`))
	w.run("history", "--kind", "rollback").want(t, exitOK, "there is no such revision\n", "")
	w.on("GET", "/revisions", problemReply(http.StatusBadRequest, "invalid_request", "the request does not have the form that this operation takes",
		map[string]string{"parameter": "kind", "code": "not_allowed", "detail": "there is no such kind"}))
	w.run("history", "--kind", "edit").want(t, exitFailed, "", `fairlead: Bad Request: the request does not have the form that this operation takes
  parameter kind: there is no such kind
request id req-1
`)
	w.run("history", "clusters").want(t, exitUsage, "", "fairlead: the history is of the fleet, or of one resource: give the name of clusters too\n")
	w.run("history", "--since", "soon").want(t, exitUsage, "", "fairlead: --since: \"soon\" is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z, nor how long ago such as 12h or 30d\n")
	w.run("history", "--until", "0d").want(t, exitUsage, "", "fairlead: --until: \"0d\" is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z, nor how long ago such as 12h or 30d\n")
	w.run("history", "clusters", "a", "--kind", "put").want(t, exitUsage, "", "fairlead: --kind, --actor, --since, --until and --receipts are of the fleet's history: leave the resource out\n")
}

// A run of revisions of endpoints is one line, which says how many it stands for.
func TestHistoryOfEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/revisions", ok(`{"items": [
		{"revision": 57, "kind": "endpoints", "run": 46, "changed": 1, "created": 0, "updated": 1, "deleted": 0, "committed_at": "2026-01-02T03:04:05Z", "actor": "several", "message": "endpoints of shop"},
		{"revision": 10, "kind": "endpoints", "run": 1, "changed": 1, "created": 1, "updated": 0, "deleted": 0, "committed_at": "2026-01-02T03:04:05Z", "actor": "ada", "message": "endpoints of shop"}]}`))
	w.run("history", "--kind", "endpoints").want(t, exitOK, `REVISION  KIND            NEW  CHANGED  GONE  COMMITTED             BY       RECEIPT  MESSAGE
57        endpoints (46)  0    1        0     2026-01-02 03:04:05Z  several  -        endpoints of shop
10        endpoints       1    0        0     2026-01-02 03:04:05Z  ada      -        endpoints of shop
`, "")
}

// The receipts that are asked for are those of the newest, whatever the pages.
func TestHistoryWithReceipts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/revisions", ok(twoRevisions), ok(`{"items": []}`))
	w.run("history", "--receipts", "5").is(t, exitOK)
	if diff := cmp.Diff([]string{"GET /revisions?receipts=5&limit=20", "GET /revisions?receipts=0&limit=18&cursor=more"}, w.requests()); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryOfAResource(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/resources/clusters/a/history", ok(`{"items": [
		{"revision": 12, "action": "delete", "kind": "delete", "at": "2026-01-02T03:04:05Z", "actor": "ada", "message": "gone"},
		{"revision": 3, "action": "create", "at": "2026-01-02T03:04:05Z"}]}`))
	w.run("history", "clusters", "a").want(t, exitOK, `REVISION  ACTION  KIND    AT                    BY   MESSAGE
12        delete  delete  2026-01-02 03:04:05Z  ada  gone
3         create  -       2026-01-02 03:04:05Z  -    -
`, "")
}

func TestHistoryShow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	differs := ok(`{"from": 6, "to": 7, "items": [{"type": "clusters", "name": "a", "action": "update", "diff": "--- clusters/a (revision 1)\n+++ clusters/a (revision 7)\n-x\n+y\n", "hidden": true}]}`)
	w.on("GET", "/revisions/7/changes", differs)
	w.on("GET", "/revisions/latest/changes", ok(`{"from": 6, "to": 7, "items": []}`))
	w.on("GET", "/compare", differs)
	want := "--- clusters/a (revision 1)\n+++ clusters/a (revision 7)\n-x\n+y\n# clusters/a: there may be more than what is shown\n"
	w.run("history", "show", "7").want(t, exitOK, want, "")
	w.run("history", "show", "latest").want(t, exitOK, "there is no difference\n", "")
	w.run("history", "show", "7", "--from", "5").want(t, exitOK, want, "")
	w.run("history", "show", "latest", "--from", "5").want(t, exitOK, want, "")
	wanted := []string{"GET /revisions/7/changes?limit=500", "GET /revisions/latest/changes?limit=500", "GET /compare?from=5&to=7&limit=500", "GET /compare?from=5&limit=500"}
	if diff := cmp.Diff(wanted, w.requests()); diff != "" {
		t.Error(diff)
	}
	w.on("GET", "/revisions/3/changes", problemReply(http.StatusGone, "forgotten", "revision 2 is forgotten: the oldest whose content is kept is 5"))
	w.run("history", "show", "3").want(t, exitFailed, "", "fairlead: Gone: revision 2 is forgotten: the oldest whose content is kept is 5\nrequest id req-1\n")
	w.run("history", "show", "three").want(t, exitUsage, "", "fairlead: \"three\" is not the number of a revision\n")
}
