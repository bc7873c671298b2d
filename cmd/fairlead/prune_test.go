package main

import (
	"strings"
	"testing"
)

const (
	teamShop  = "type: clusters\nname: %\nlabels: {team: shop}\nbody: {name: %}\n"
	otherTeam = "type: clusters\nname: other\nlabels: {team: pay}\nbody: {name: other}\n"
)

func shop(name string) string { return strings.ReplaceAll(teamShop, "%", name) }

func TestPruneDeletesWithinItsLabels(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", shop("a")+"---\n"+shop("b")+"---\n"+otherTeam, "apply", "-f", "-").is(t, exitOK)
	r := w.on("edge", shop("a"), "diff", "-f", "-", "--prune", "-l", "team=shop")
	if r.code != exitDiffers || r.err != "prune: clusters/b\n" || !strings.Contains(r.out, "1 to delete, 1 unchanged, on revision 1\nno node has connected to the fleet yet\nplan-") {
		t.Fatalf("%+v", r)
	}
	token := strings.TrimSpace(r.out[strings.LastIndex(strings.TrimSpace(r.out), "\n"):])
	w.on("edge", shop("a"), "apply", "-f", "-", "--prune", "-l", "team=shop", "--plan", token).want(t, exitOK, "revision 2: 1 resource changed\n", "prune: clusters/b\n")
	w.on("edge", shop("a"), "apply", "-f", "-", "--prune", "-l", "team=shop").want(t, exitOK, "nothing changed; revision 2 is current\n", "")
	w.on("edge", otherTeam, "apply", "-f", "-", "--prune", "--all").want(t, exitOK, "revision 3: 1 resource changed\n", "prune: clusters/a\n")
	if left := w.on("edge", "", "get", "clusters").is(t, exitOK); strings.Count(left, "type: clusters") != 1 || !strings.Contains(left, "name: other") {
		t.Error(left)
	}
}

// TestPruneIsOfWhatWasSeen: what others write between the look and the write is not deleted.
func TestPruneIsOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "", ok(`{"id": "x", "name": "edge", "revision": 7}`))
	w.on("GET", "/resources", ok(`{"items": [{"type": "clusters", "name": "b", "variant": "eu", "labels": {"team": "shop"}, "body": {}}, {"type": "clusters", "name": "c", "body": {}}]}`))
	w.on("POST", "/apply", written(8, 1))
	w.run("apply", "-f", w.file("a.yaml", shop("a")), "--prune", "-l", "team=shop").want(t, exitOK, "revision 8: 1 resource changed\n", "prune: clusters/b, variant eu\n")
	want := `{"delete":[{"name":"b","type":"clusters","variant":"eu"}],"expected_revision":7,"resources":[{"type":"clusters","name":"a","labels":{"team":"shop"},"body":{"name":"a"}}]}`
	if got := w.sent[len(w.sent)-1].body; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestPruneCalledWrongly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.file("a.yaml", shop("b")+"---\n"+oneCluster+"---\ntype: secrets\nname: s\nkeep: true\n")
	say := "fairlead: --prune deletes what the files do not hold: say with -l of which labels (-l team=shop), or with --all that it is of the whole fleet\n"
	w.run("apply", "-f", a, "--prune").want(t, exitUsage, "", say)
	w.run("apply", "-f", a, "--prune", "--all", "-l", "a=b").want(t, exitUsage, "", say)
	w.run("apply", "-f", a, "-l", "a=b").want(t, exitUsage, "", "fairlead: -l and --all say what --prune may delete: give that too\n")
	w.run("diff", "-f", a, "--prune", "-l", "a").want(t, exitTrouble, "", "fairlead: \"a\" is not a label: write key=value, several joined by commas\n")
	w.run("apply", "-f", a, "--prune", "-l", "team=shop").want(t, exitFailed, "", "fairlead: DIR/a.yaml:6: /labels: -l says that all of the files carries team=shop, and this does not: write the label, or leave it out of the files\n")
	if len(w.sent) > 0 {
		t.Errorf("%d requests were sent", len(w.sent))
	}
}
