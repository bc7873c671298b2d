package main

import (
	"strings"
	"testing"
)

const twoEvents = `{"items": [
	{"at": "2026-01-02T03:04:05Z", "first_at": "2026-01-02T03:04:04Z", "kind": "refused", "node": "a", "nodes": 298, "node_ids": ["a"], "resource": {"type": "listeners", "name": "l"}, "revision": 7, "detail": "no\u001b filter"},
	{"at": "2026-01-02T03:04:06Z", "first_at": "2026-01-02T03:04:06Z", "kind": "recovered", "node": "a", "nodes": 1, "node_ids": ["a"], "revision": 8}], "position": "81-5-aa"}`

func TestEventsThatSayTheSameAreOneLine(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/events", ok(twoEvents))
	w.run("events", "--since", "1h").want(t, exitOK, `AT                    NODE       EVENT      RESOURCE     REVISION  WORDS
2026-01-02 03:04:05Z  298 nodes  refused    listeners/l  7         no filter
2026-01-02 03:04:06Z  a          recovered  -            8         -
`, "")
	w.on("GET", "/events", ok(`{"items": [{"at": "2026-01-02T03:04:05Z", "kind": "denied", "reason": "token_revoked", "node": "", "attempts": 2, "action": "not let in: its node credential is revoked, 2 times"}], "position": "1"}`))
	w.run("events", "--each").want(t, exitOK, `AT                    NODE  EVENT   RESOURCE  REVISION  WORDS
2026-01-02 03:04:05Z  -     denied  -         -         (not let in: its node credential is revoked, 2 times)
`, "")
	for i, want := range []string{"GET /events?since=1h&grouped=true&limit=50", "GET /events?limit=50"} {
		if got := w.requests()[i]; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	}
}

func TestEventsAreFollowed(t *testing.T) {
	t.Parallel()
	gone := problemReply(404, "not_found", "this token sees no fleet of the name in the path; it may be deleted")
	w := setup(t)
	w.on("GET", "/events", ok(twoEvents), ok(`{"items": [], "position": "82"}`), ok(`{"items": [{"at": "2026-01-02T03:04:07Z", "kind": "duplicates", "node": "b", "action": "2 clients have this node id"}], "position": "83"}`), gone)
	w.run("events", "-f", "--since", "1h").want(t, exitFailed, `AT                    NODE                      EVENT       RESOURCE                      REVISION  WORDS
2026-01-02 03:04:05Z  298 nodes                 refused     listeners/l                   7         no filter
2026-01-02 03:04:06Z  a                         recovered                                 8         
2026-01-02 03:04:07Z  b                         duplicates                                          (2 clients have this node id)
`, "fairlead: Not Found: this token sees no fleet of the name in the path; it may be deleted\nrequest id req-1\n")
	want := []string{
		"GET /events?since=1h&grouped=true&wait=0s", "GET /events?grouped=true&after=81-5-aa&wait=0s",
		"GET /events?grouped=true&after=82&wait=55s", "GET /events?grouped=true&after=83&wait=0s",
	}
	if got := w.requests(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	w.on("GET", "/events", ok("{\"items\": [{\"kind\": \"refused\", \"detail\": \"\u202e\u009b2J\"}, {\"kind\": \"recovered\"}], \"position\": \"1\"}"), gone)
	w.run("events", "-f", "--json").want(t, exitFailed, "{\"kind\": \"refused\", \"detail\": \"\\u202e\\u009b2J\"}\n{\"kind\": \"recovered\"}\n", "fairlead: Not Found: this token sees no fleet of the name in the path; it may be deleted\nrequest id req-1\n")
}
