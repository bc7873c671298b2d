package main

import (
	"strings"
	"testing"
)

const whyHeadJSON = `"node": "n1", "state": "live", "settled": 4, "revision": 5, "labels": {"region": "eu", "client_name": "envoy", "metadata": {"canary": "no\u001b"}}`

const whyItem = `{"resource": {"type": "clusters", "name": "a", "state": "synced", "variant": "eu", "revision": 3}, "because": "the variant \"eu\" matches: locality.region=eu",
	"why": {"selector": "locality.region=eu", "priority": 0, "requirements": [{"requirement": "locality.region=eu", "has": "eu", "holds": true}], "passed_over": [
		{"variant": "us", "selector": "locality.region=us", "priority": 2, "matches": false, "requirements": [{"requirement": "locality.region=us", "has": "eu", "holds": false}]},
		{"variant": "blue", "selector": "metadata.blue", "priority": 1, "matches": false, "requirements": [{"requirement": "metadata.blue", "holds": false}]},
		{"variant": "all", "selector": "node.id", "priority": -1, "matches": true, "requirements": [{"requirement": "node.id", "has": "n1", "holds": true}]}]}}`

func TestWhy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes/n1/why", ok(`{`+whyHeadJSON+`, "items": [`+whyItem+`]}`))
	w.run("why", "n1", "clusters", "a").want(t, exitOK, `n1: live, settled at revision 4 of 5
labels: locality.region=eu, client.name=envoy, metadata={"canary":"no\u001b"}
TYPE      NAME            STATE   REVISION  WHY
clusters  a (variant eu)  synced  3         the variant "eu" matches: locality.region=eu
clusters/a: not the variant us (priority 2): locality.region=us does not hold: the node has "eu"
clusters/a: not the variant blue (priority 1): metadata.blue does not hold: the node has nothing there
clusters/a: not the variant all (priority -1): it matches too, and another one goes before it
`, "")
	if got := w.requests()[0]; got != "GET /nodes/n1/why?type=clusters&name=a&limit=500" {
		t.Errorf("asked %s", got)
	}
	if r := w.run("why", "n1", "--json"); r.code != exitOK || !strings.Contains(r.out, `"because"`) {
		t.Errorf("%+v", r)
	}
	if r := w.run("why", "n1", "nonsense"); r.code != exitUsage || !strings.Contains(r.err, "nonsense") {
		t.Errorf("%+v", r)
	}
	w.on("GET", "/nodes/n1/why", ok(`{`+strings.Replace(whyHeadJSON, `"settled": 4`, `"settled": 0`, 1)+`, "items": []}`))
	if r := w.run("why", "n1"); !strings.HasPrefix(r.out, "n1: live, nothing confirmed yet of revision 5\n") {
		t.Errorf("of a node that never had anything: %q", r.out)
	}
	w.on("GET", "/nodes/n1/why", problemReply(404, "not_found", "the fleet remembers no node of this id"))
	w.run("why", "n1").want(t, exitFailed, "", "fairlead: Not Found: the fleet remembers no node of this id\nrequest id req-1\n")
}
