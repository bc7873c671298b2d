package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const configHead = `"node": "node-1", "state": "refusing", "settled": 7, "revision": 9, "user_agent": "envoy", "version": "1.40.0", "protocol": "SotW ADS"`

const configOne = `{"type": "clusters", "name": "a", "state": "synced", "version": "Aaaa", "revision": 3, "ttl": "30s", "ttl_sent": false, "ttl_detail": "it would crash"}`

const configTwo = `{"type": "clusters", "name": "b", "state": "pending", "version": "Bbbb", "revision": 9, "ttl": "30s", "ttl_sent": false, "ttl_detail": "it would crash"},
	{"type": "listeners", "name": "fresh", "state": "absent", "refused_version": "F", "refused_revision": 8, "detail": "no luck", "since": "2026-01-02T03:04:05Z"},
	{"type": "listeners", "name": "poison", "state": "refused", "version": "Good", "revision": 2, "refused_version": "P", "refused_revision": 8, "detail": "no\u001b[2J\nfilter",
		"action": "kept the last known good version", "since": "2026-01-02T03:04:05Z", "keeps": [{"type": "routes", "name": "old"}], "ttl": "5s", "ttl_sent": true},
	{"type": "runtimes", "name": "rt", "state": "synced", "version": "Rrrr", "revision": 1, "ttl": "2s", "ttl_detail": "it depends"}`

func TestNodeConfig(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first, last := ok(`{`+configHead+`, "items": [`+configOne+`], "next_cursor": "c1"}`), ok(`{`+configHead+`, "items": [`+configTwo+`]}`)
	w.on("GET", "/nodes/node-1/config", first, last)
	w.run("nodes", "node-1", "--config").want(t, exitOK, `node-1: refusing, envoy 1.40.0, SotW ADS, settled at revision 7 of 9
TYPE       NAME    STATE    VERSION  REVISION  TTL
clusters   a       synced   Aaaa     3         30s, not sent
clusters   b       pending  Bbbb     9         30s, not sent
listeners  fresh   absent   -        -         -
listeners  poison  refused  Good     2         5s
runtimes   rt      synced   Rrrr     1         2s, perhaps sent
node-1 refuses listeners/fresh of revision 8 since 2026-01-02 03:04:05Z: no luck
node-1 refuses listeners/poison of revision 8 since 2026-01-02 03:04:05Z: no[2J filter (kept the last known good version)
node-1 keeps routes/old, which the fleet has deleted: the version of listeners/poison that stands in names it
ttl: it would crash
ttl: it depends
`, "")
	w.on("GET", "/nodes/node-1/config", first, last)
	w.run("nodes", "node-1", "--config", "--type", "clusters", "--state", "refused", "--json").want(t, exitOK,
		indented(t, `{"items": [`+configOne+`,`+configTwo+`], "node": "node-1", "protocol": "SotW ADS", "revision": 9, "settled": 7, "state": "refusing", "user_agent": "envoy", "version": "1.40.0"}`), "")
	want := []string{
		"GET /nodes/node-1/config?limit=500", "GET /nodes/node-1/config?limit=500&cursor=c1",
		"GET /nodes/node-1/config?type=clusters&state=refused&limit=500", "GET /nodes/node-1/config?type=clusters&state=refused&limit=500&cursor=c1",
	}
	if d := cmp.Diff(want, w.requests()); d != "" {
		t.Error(d)
	}
	w.on("GET", "/nodes/node-1/config", first, ok(`{"node": "node-1", "state": "live", "settled": 10, "revision": 10, "items": []}`))
	if r := w.run("nodes", "node-1", "--config"); r.err != "warning: the fleet went from revision 9 to 10 while this was read: read it again\n" {
		t.Errorf("a fleet that moves between two pages: %q", r.err)
	}
	w.on("GET", "/nodes/node-1/config", ok(`{"node": "node-1", "state": "offline", "settled": 0, "revision": 9, "items": []}`))
	w.run("nodes", "node-1", "--config").want(t, exitOK, "node-1: offline, nothing confirmed yet of revision 9\nno such resource in the fleet\n", "")
	w.run("nodes", "node-1", "--config", "--state=refused").want(t, exitOK, "node-1: offline, nothing confirmed yet of revision 9\nno resource is refused for this node\n", "")
}

func TestNodeConfigIsCalledWrongly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for words, args := range map[string][]string{
		"--config is about one node: give its id":        {"nodes", "--config"},
		"--type and --state go with --config":            {"nodes", "n", "--type", "clusters"},
		`"cluster" is not a type of resource`:            {"nodes", "n", "--config", "--type", "cluster"},
		`"bad" is not a state of a resource: the states`: {"nodes", "n", "--config", "--state", "bad"},
	} {
		if r := w.run(args...); r.code != exitUsage || !strings.Contains(r.err, words) {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
	if len(w.requests()) != 0 {
		t.Errorf("asked for %v", w.requests())
	}
	w.on("GET", "/nodes/n/config", problemReply(404, "not_found", "no node of this id has connected"))
	w.run("nodes", "n", "--config").want(t, exitFailed, "", "fairlead: Not Found: no node of this id has connected\nrequest id req-1\n")
}

func TestOneNode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	node := `{"id": "..", "state": "live", "settled": 7, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T03:04:05Z", "refusals": []}`
	w.on("GET", "/nodes/%2E%2E", ok(node), ok(node))
	w.run("nodes", "..").want(t, exitOK, `node        ..
state       live
settled     revision 7
first seen  2026-01-02 03:04:05Z
last seen   2026-01-02 03:04:05Z
`, "")
	w.run("nodes", "..", "--json").want(t, exitOK, indented(t, node), "")
}

func TestThePageOfANode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes/n", ok(`{"id": "n", "state": "refusing", "settled": 0, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-03T03:04:05Z", "since": "2026-01-03T03:04:04Z",
		"cluster": "web", "user_agent": "envoy", "version": "1.40.0", "server": "xds-1", "protocol": "delta ADS", "remote_addr": "10.0.0.1:99", "credential": "c-1",
		"subscribes": [{"type": "clusters", "wildcard": true}, {"type": "endpoints", "wildcard": false}, {"type": "listeners", "wildcard": true}],
		"labels": {"cluster": "web", "region": "eu", "sub_zone": "rack\u001b7", "metadata": {"canary": true}},
		"refusals": [{"type": "clusters", "name": "a", "version": "V", "revision": 3, "detail": "no", "at": "2026-01-02T03:04:05Z"}]}`))
	w.run("nodes", "n").want(t, exitOK, `node        n
state       refusing
settled     nothing confirmed yet
client      envoy 1.40.0
cluster     web
locality    region=eu, sub_zone=rack7
metadata    {"canary":true}
subscribes  all of clusters, listeners; by name endpoints
server      xds-1
protocol    delta ADS
address     10.0.0.1:99
credential  c-1
since       2026-01-03 03:04:04Z
first seen  2026-01-02 03:04:05Z
last seen   2026-01-03 03:04:05Z
n refuses clusters/a of revision 3 since 2026-01-02 03:04:05Z: no
`, "")
	w.on("GET", "/nodes/n", ok(`{"id": "n", "state": "live", "settled": 1, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-03T03:04:05Z", "refusals": [], "labels": {}, "labels_unknown": true}`))
	if r := w.run("nodes", "n"); !strings.Contains(r.out, "metadata    not known: it takes more than 16 KiB") {
		t.Errorf("%+v", r)
	}
}

func TestHowANodeSubscribes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for subs, want := range map[string]string{
		`[{"type": "listeners", "wildcard": false, "names": ["a", "b"]}, {"type": "routes", "wildcard": false}]`: "subscribes  by name listeners (a, b), routes\n",
		`[{"type": "listeners", "wildcard": false, "names": []}]`:                                                "subscribes  by name listeners\n",
		`[{"type": "listeners", "wildcard": false, "named": 57}]`:                                                "subscribes  by name 57 listeners\n",
	} {
		w.on("GET", "/nodes/n", ok(`{"id": "n", "state": "live", "settled": 1, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-03T03:04:05Z", "refusals": [], "subscribes": `+subs+`}`))
		if r := w.run("nodes", "n"); !strings.Contains(r.out, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// What stands in is what the node runs, so its body is told, and of a secret none.
func TestNodeConfigAsYAML(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes/n/config", ok(`{`+configHead+`, "items": [
		{"type": "listeners", "name": "l", "state": "refused", "version": "Good", "revision": 2, "refused_version": "Bad", "refused_revision": 8, "detail": "no", "body": {"name": "l"}},
		{"type": "secrets", "name": "s", "state": "synced", "version": "S", "revision": 1, "secret": {"kind": "tls_certificate"}}]}`))
	w.run("nodes", "n", "--config", "-o", "yaml").want(t, exitOK, `type: listeners
name: l
state: refused
version: Good
revision: 2
refused_version: Bad
refused_revision: 8
detail: "no"
body:
  name: l
---
type: secrets
name: s
state: synced
version: S
revision: 1
secret:
  kind: tls_certificate
`, "")
	if got := w.requests()[0]; got != "GET /nodes/n/config?bodies=true&limit=500" {
		t.Errorf("asked %s", got)
	}
	for words, args := range map[string][]string{
		"-o yaml goes with --config":          {"nodes", "n", "-o", "yaml"},
		"--json is -o json: give one of them": {"nodes", "n", "--config", "-o", "yaml", "--json"},
		"must be one of":                      {"nodes", "n", "-o", "xml"},
	} {
		if r := w.run(args...); r.code != exitUsage || !strings.Contains(r.err, words) {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
}

func TestATypeOfWhichTooMuchIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes/n", ok(`{"id": "n", "state": "refusing", "settled": 7, "first_seen": "2026-01-02T03:04:05Z", "last_seen": "2026-01-02T03:04:05Z", "refusals": [], "frozen": ["clusters"]}`))
	w.on("GET", "/nodes/n/config", ok(`{`+configHead+`, "frozen": ["clusters"], "items": [`+configOne+`]}`))
	for _, args := range [][]string{{"nodes", "n"}, {"nodes", "n", "--config"}} {
		if r := w.run(args...); r.code != exitOK || !strings.Contains(r.out, "refuses more than a thousand clusters: while it does it settles no revision, and each one stays pending for it; what is over is offered again on its next stream: fix what it refuses\n") {
			t.Errorf("%v: %d %s%s", args, r.code, r.out, r.err)
		}
	}
}
