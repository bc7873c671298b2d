package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	backendDiff = "--- clusters/a (revision 7)\n+++ clusters/a (planned)\n@@ -1,2 +1,2 @@\n   name: a\n-  connect_timeout: \"1s\"\n+  connect_timeout: \"5s\"\n"
	onePlan     = `{"revision": 12, "counts": {"create": 1, "update": 1, "delete": 1, "unchanged": 2}, "token": "plan-abc", "resources": [
		{"type": "clusters", "name": "a", "action": "update", "revision": 7, "diff": "` + `--- clusters/a (revision 7)\n+++ clusters/a (planned)\n@@ -1,2 +1,2 @@\n   name: a\n-  connect_timeout: \"1s\"\n+  connect_timeout: \"5s\"\n` + `"},
		{"type": "secrets", "name": "s", "action": "create", "hidden": true, "diff": "--- /dev/null\n+++ secrets/s (planned)\n@@ -0,0 +1 @@\n+type: secrets\n"},
		{"type": "clusters", "name": "b", "action": "unchanged", "revision": 3},
		{"type": "clusters", "name": "big\u001b[2J", "variant": "eu", "action": "delete", "revision": 3, "omitted": true}]}`
	withReach  = `"reach": {"nodes": 300, "reached": 298, "incomplete": true, "views": [], "ids": ["n1", "n2", "n3", "n4", "n5", "n6"]}, "token"`
	nothingNew = `{"revision": 12, "counts": {"create": 0, "update": 0, "delete": 0, "unchanged": 2}, "token": "plan-abc", "resources": []}`
	onePlanOut = backendDiff + `--- /dev/null
+++ secrets/s (planned)
@@ -0,0 +1 @@
+type: secrets
# secrets/s: there may be more than what is shown
# clusters/big[2J, variant eu: delete; the difference is too large to be shown beside the others
1 to create, 1 to update, 1 to delete, 2 unchanged, on revision 12
plan-abc
`
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		answer reply
		code   int
		out    string
		err    string
	}{
		{"differences", []string{"diff"}, ok(onePlan), exitDiffers, onePlanOut, ""},
		{"none", []string{"diff"}, ok(nothingNew), exitOK, "2 unchanged, on revision 12\n", ""},
		{"nothing was named", []string{"diff"}, ok(`{"revision": 0, "counts": {"create": 0, "update": 0, "delete": 0, "unchanged": 0}, "token": "plan-abc", "resources": []}`), exitOK, "nothing was named, on revision 0\n", ""},
		{"JSON", []string{"diff", "--json"}, ok(`{"revision":12,"counts":{"create":1,"update":0,"delete":0,"unchanged":0},"new_field":1,"token":"plan-abc","resources":[]}`), exitDiffers, `{
  "revision": 12,
  "counts": {
    "create": 1,
    "update": 0,
    "delete": 0,
    "unchanged": 0
  },
  "new_field": 1,
  "token": "plan-abc",
  "resources": []
}
`, ""},
		{
			"warned", []string{"diff"},
			ok(strings.Replace(nothingNew, `"token"`, `"warnings": [{"pointer": "/resources/0/ttl", "code": "x", "detail": "no effect"}], "token"`, 1)), exitOK,
			"2 unchanged, on revision 12, 1 warning\n", "warning: DIR/a.yaml:1: /ttl: no effect\n",
		},
		{
			"refused", []string{"diff"}, problemReply(http.StatusUnprocessableEntity, "invalid_resource", "1 field is not acceptable", map[string]string{"pointer": "/resources/0/body/x", "code": "x", "detail": "unknown"}), exitTrouble, "",
			"fairlead: Unprocessable Entity: 1 field is not acceptable\n  DIR/a.yaml:3: /body/x: unknown\nrequest id req-1\n",
		},
		{"an older server", []string{"diff"}, reply{}, exitTrouble, "", "fairlead: Not Found: there is no such thing here\nrequest id req-1\n"},
		{
			"who is reached", []string{"diff"}, ok(strings.Replace(onePlan, `"token"`, withReach, 1)), exitDiffers,
			strings.Replace(onePlanOut, "plan-abc\n", "reaches 298 of 300 nodes: n1, n2, n3, n4, n5 and 293 more\nthe fleet has more nodes or labels than were looked at: it may reach others too\nplan-abc\n", 1), "",
		},
		{
			"nobody is reached", []string{"diff"}, ok(strings.Replace(onePlan, `"token"`, `"reach": {"nodes": 1, "reached": 0, "views": [], "ids": []}, "token"`, 1)), exitDiffers,
			strings.Replace(onePlanOut, "plan-abc\n", "reaches none of 1 node\nplan-abc\n", 1), "",
		},
		{
			"no nodes, and something is withheld", []string{"diff"},
			ok(strings.Replace(strings.Replace(onePlan, `"token"`, `"reach": {"nodes": 0, "reached": 0, "views": [], "ids": []}, "token"`, 1),
				`"revision": 7,`, `"withheld_by": [{"type": "secrets", "name": "s1"}, {"type": "secrets", "name": "s2"}],`, 1)), exitDiffers,
			strings.Replace(onePlanOut, "plan-abc\n", "clusters/a would be withheld until secrets/s1 and secrets/s2 are there\nno node has connected to the fleet yet\nplan-abc\n", 1), "",
		},
		{"dry run", []string{"apply", "--dry-run"}, ok(onePlan), exitOK, onePlanOut, ""},
		{"dry run of nothing", []string{"apply", "--dry-run"}, ok(nothingNew), exitOK, "2 unchanged, on revision 12\n", ""},
		{
			"dry run refused", []string{"apply", "--dry-run"}, problemReply(http.StatusForbidden, "guarded", "no"), exitFailed, "",
			"fairlead: Forbidden: no\nrequest id req-1\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			if c.answer.status != 0 {
				w.on("POST", "/plan", c.answer)
			}
			w.run(append(c.args, "-f", w.file("a.yaml", oneCluster))...).want(t, c.code, c.out, c.err)
			if d := cmp.Diff([]string{"POST /plan"}, w.requests()); d != "" || w.sent[0].key != "" {
				t.Errorf("asked %s, with the key %q", d, w.sent[0].key)
			}
		})
	}
}

func TestDiffThatCannotBeTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.file("a.yaml", oneCluster)
	w.run("diff").want(t, exitUsage, "", "fairlead: missing flags: --file=FILE; fairlead diff --help tells more\n")
	w.run("diff", "-f", w.dir+"/none.yaml").want(t, exitTrouble, "", "fairlead: open DIR/none.yaml: no such file or directory\n")
	w.run("diff", "-f", w.file("b.yaml", "- a\n")).want(t, exitTrouble, "", "fairlead: DIR/b.yaml:1: a document must be an object: a resource with type, name and body, Envoy's own message with \"@type\", or {resources: [...]}\n")
	w.bare("", "diff", "-f", a, "--tenant", "acme", "--fleet", "edge", "--server", "http://localhost:1", "--token-file", w.tokenFile()).want(t, exitTrouble, "",
		"fairlead: nothing answers at http://localhost:1: start Fairlead with \"make run\", or say with --server or FAIRLEAD_URL where it runs\n")
	for _, flag := range []string{"--wait", "--idempotency-key=k"} {
		w.run("apply", "--dry-run", "-f", a, flag).want(t, exitUsage, "", "fairlead: a dry run writes nothing: --wait and --idempotency-key are about a write\n")
	}
	if len(w.sent) > 0 {
		t.Error("something was sent")
	}
}

// A plan writes nothing, so it can be asked for again.
func TestDiffIsRepeated(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/plan", reply{drop: true}, ok(nothingNew))
	w.run("diff", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK, "2 unchanged, on revision 12\n", "")
}

// What was shown, and at which revision, goes into the apply; the line wins over the files.
func TestApplyOfWhatWasShown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(13, 1))
	w.on("POST", "/plan", ok(nothingNew))
	w.on("POST", "/rollback", written(14, 1))
	w.on("GET", "/resources/clusters/a", ok(`{}`))
	a := w.file("a.yaml", "resources: []\nplan: plan-old\nexpected_revision: 3\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"apply", "-f", a}, `{"expected_revision":3,"plan":"plan-old","resources":[]}`},
		{[]string{"apply", "-f", a, "--plan", "plan-abc", "--expected-revision", "12"}, `{"expected_revision":12,"plan":"plan-abc","resources":[]}`},
		{[]string{"apply", "-f", a, "--dry-run", "--plan", "plan-abc", "-m", "why"}, `{"expected_revision":3,"message":"why","plan":"plan-abc","resources":[]}`},
		{[]string{"diff", "-f", a, "--expected-revision", "0"}, `{"expected_revision":0,"plan":"plan-old","resources":[]}`},
		{[]string{"rollback", "5", "--expected-revision", "12"}, `{"expected_revision":12,"revision":5}`},
		{[]string{"rollback", "5", "clusters", "a", "--variant", "eu"}, `{"resources":[{"name":"a","type":"clusters","variant":"eu"}],"revision":5}`},
		{[]string{"delete", "clusters", "a", "--expected-revision", "12"}, `{"delete":[{"name":"a","type":"clusters"}],"expected_revision":12}`},
	} {
		if r := w.run(c.args...); r.code != exitOK {
			t.Errorf("%v: %+v", c.args, r)
		}
		if got := w.sent[len(w.sent)-1].body; got != c.want {
			t.Errorf("%v sent %s, want %s", c.args, got, c.want)
		}
	}
	w.on("POST", "/apply", problemReply(http.StatusPreconditionFailed, "precondition_failed", "2 resources are not what they were",
		map[string]string{"pointer": "/resources/0", "code": "changed", "detail": `clusters/a was changed by "pipeline" in revision 13, at 2026-01-02T03:04:05Z: look at what is there now`},
		map[string]string{"pointer": "/plan", "code": "too_old", "detail": "plan again"}))
	w.run("apply", "-f", w.file("b.yaml", oneCluster), "-f", a, "--plan", "plan-abc").want(t, exitFailed, "", `fairlead: Precondition Failed: 2 resources are not what they were
  DIR/b.yaml:1: clusters/a was changed by "pipeline" in revision 13, at 2026-01-02T03:04:05Z: look at what is there now
  DIR/a.yaml:2: /plan: plan again
request id req-1
`)
}

// A file that is older than what it would write over: it is said what to do.
func TestApplyOfAStaleFile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	stale := `clusters/a was changed by "ada" in revision 13, at 2026-01-02T03:04:05Z: look at what is there now`
	refused := func(detail string, more map[string]any) reply {
		fault := map[string]any{"pointer": "/resources/0/revision", "code": "changed", "detail": detail}
		maps.Copy(fault, more)
		b, err := json.Marshal(map[string]any{"status": 412, "title": "Precondition Failed", "code": "precondition_failed", "detail": detail, "request_id": "req-1", "errors": []any{fault}})
		if err != nil {
			t.Fatal(err)
		}
		return reply{status: 412, body: string(b), header: map[string]string{"Content-Type": "application/problem+json"}}
	}
	w.on("POST", "/apply", refused(stale, map[string]any{"last_change": map[string]any{"revision": 13, "actor": "ada", "at": "2026-01-02T03:04:05Z"}}))
	a := w.file("a.yaml", "type: clusters\nname: a\nrevision: 7\nbody: {name: a}\n")
	w.run("apply", "-f", a).want(t, exitFailed, "", "fairlead: Precondition Failed\n  DIR/a.yaml:3: /revision: "+stale+`
Run "fairlead get" for the present version and make the change in that. "fairlead apply --force" overwrites what others changed.
request id req-1
`)
	w.on("POST", "/apply", refused("clusters/a does not exist", nil))
	w.run("apply", "-f", a).want(t, exitFailed, "", `fairlead: Precondition Failed
  DIR/a.yaml:3: /revision: clusters/a does not exist
The file is of a version that was read under another name. To create this one, take "revision" and "etag" out of the file. To change that one, write its name.
request id req-1
`)
}

// What get wrote says when it was read; --force takes that out, and nothing else.
func TestForce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(13, 1))
	w.on("POST", "/plan", ok(nothingNew))
	a := w.file("a.yaml", "type: clusters\nname: a\nrevision: 7\nbody: {name: a, big: 12345678901234567890}\n---\n'@type': x\nname: b\n---\nresources: [{type: clusters, revision: 8}, 5]\n")
	rest := `{"@type":"x","name":"b"},`
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"apply"}, `{"resources":[{"type":"clusters","name":"a","revision":7,"body":{"name":"a","big":12345678901234567890}},` + rest + `{"type":"clusters","revision":8},5]}`},
		{[]string{"apply", "--force"}, `{"resources":[{"body":{"name":"a","big":12345678901234567890},"name":"a","type":"clusters"},` + rest + `{"type":"clusters"},5]}`},
		{[]string{"diff", "--force"}, `{"resources":[{"body":{"name":"a","big":12345678901234567890},"name":"a","type":"clusters"},` + rest + `{"type":"clusters"},5]}`},
	} {
		if r := w.run(append(c.args, "-f", a)...); r.code != exitOK {
			t.Errorf("%v: %+v", c.args, r)
		}
		if got := w.sent[len(w.sent)-1].body; got != c.want {
			t.Errorf("%v sent %s, want %s", c.args, got, c.want)
		}
	}
}

func TestDiffInColours(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/plan", ok(onePlan))
	var out bytes.Buffer
	sh := &shell{out: &out, err: &out, dir: w.dir, now: w.now, pause: w.pause, colours: true}
	code := run(t.Context(), sh, []string{"diff", "-f", w.file("a.yaml", oneCluster), "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge"})
	if code != exitDiffers {
		t.Errorf("exit status %d", code)
	}
	got, _, _ := strings.Cut(out.String(), "\x1b[1m--- /dev/null")
	if d := cmp.Diff("\x1b[1m--- clusters/a (revision 7)\x1b[0m\n\x1b[1m+++ clusters/a (planned)\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n   name: a\n"+
		"\x1b[31m-  connect_timeout: \"1s\"\x1b[0m\n\x1b[32m+  connect_timeout: \"5s\"\x1b[0m\n", got); d != "" {
		t.Error(d)
	}
}
