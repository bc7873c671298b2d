package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	oneCluster = "type: clusters\nname: a\nbody: {name: a}\n"
	receipt7   = "/revisions/7/receipt"
)

func TestApply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		args    []string
		written reply
		receipt reply
		code    int
		out     string
	}{
		{"changed", nil, written(7, 3), reply{}, exitOK, "revision 7: 3 resources changed\n"},
		{"one", nil, written(7, 1), reply{}, exitOK, "revision 7: 1 resource changed\n"},
		{"nothing changed", nil, written(6, 0), reply{}, exitOK, "nothing changed; revision 6 is current\n"},
		{"nothing ever", []string{"--wait"}, written(0, 0), reply{}, exitOK, "nothing changed; the fleet has no revision yet\n"},
		{
			"delivered",
			[]string{"--wait"},
			written(7, 3), receiptReply("delivered", 1, 0, 0, 0, ""), exitOK, "revision 7: 3 resources changed\nrevision 7 ACKed by 1/1 nodes in 18 ms\n",
		},
		{
			"rejected",
			[]string{"--wait=5s"},
			written(7, 1),
			receiptReply("rejected", 0, 1, 0, 0, `{"id": "node-1", "state": "nacked", "detail": "Error: no \u001b]0;owned\u0007such filter", "resource": {"type": "listeners", "name": "poison"}}`),
			exitRejected, "revision 7: 1 resource changed\nrevision 7 rejected: node-1 refused listeners/poison: Error: no ]0;ownedsuch filter\n",
		},
		{
			"pending",
			[]string{"--wait=5s"},
			written(7, 1), receiptReply("pending", 1, 0, 1, 1, `{"id": "node-2", "state": "pending"}, {"id": "node-3", "state": "offline"}`),
			exitPending, "revision 7: 1 resource changed\nrevision 7 pending after 5s: 1/3 nodes ACKed; pending: node-2; offline: node-3\n",
		},
		{
			"no node",
			[]string{"--wait"},
			written(7, 1),
			ok(`{"revision": 7, "state": "stored", "counts": {"acked": 0, "nacked": 0, "pending": 0, "offline": 0, "unaffected": 0}, "nodes": [], "committed_at": "2026-01-02T03:04:05Z"}`),
			exitOK, "revision 7: 1 resource changed\nrevision 7 stored; no node has it yet\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.on("POST", "/apply", c.written)
			w.on("GET", receipt7, c.receipt)
			w.run(append([]string{"apply", "-f", w.file("a.yaml", oneCluster)}, c.args...)...).want(t, c.code, c.out, "")
		})
	}
}

func TestApplyIsOneRequest(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(7, 5))
	w.file("dir/20.yml", "resources:\n- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: b\ndelete: [{type: routes, name: old}]\nmessage: from the file\nversion_info: '1'\n")
	w.file("dir/10.json", `{"type": "clusters", "name": "a", "body": {"name": "a", "big": 12345678901234567890, "html": "<&>"}}`)
	w.file("dir/.hidden.yaml", "no: document")
	w.file("dir/notes.txt", "not a document")
	w.file("dir/sub/x.yaml", "no: document")
	r := w.bare("---\ntype: clusters\nname: c\nbody: {name: c}\n---\n# nothing\n---\ntype: clusters\nname: d\nbody: {name: d}\n",
		"apply", "-f", w.dir+"/dir", "-f", "-", "--idempotency-key", "deploy-7",
		"--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge")
	r.want(t, exitOK, "revision 7: 5 resources changed\n", "")
	want := `{"delete":[{"type":"routes","name":"old"}],"message":"from the file","resources":[` +
		`{"type":"clusters","name":"a","body":{"name":"a","big":12345678901234567890,"html":"<&>"}},` +
		`{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"b"},` +
		`{"type":"clusters","name":"c","body":{"name":"c"}},{"type":"clusters","name":"d","body":{"name":"d"}}]}`
	if diff := cmp.Diff([]sent{{"POST", fleetPath + "/apply", "", "deploy-7", "Bearer " + testToken, want}}, w.sent, cmp.AllowUnexported(sent{})); diff != "" {
		t.Error(diff)
	}
}

func TestApplyReadsNestedFolders(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(7, 3))
	w.file("dir/z.yaml", strings.ReplaceAll(oneCluster, "a\n", "z\n"))
	w.file("dir/sub/deep/b.yaml", oneCluster)
	w.file("dir/sub/.git/c.yaml", "no: document")
	w.file("other.yaml", strings.ReplaceAll(oneCluster, "a\n", "o\n"))
	w.run("apply", "-R", "-f", w.dir+"/dir", "-f", w.dir+"/other.yaml").want(t, exitOK, "revision 7: 3 resources changed\n", "")
	var sent struct{ Resources []struct{ Name string } }
	if err := json.Unmarshal([]byte(w.sent[0].body), &sent); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sent.Resources); got != "[{a} {z} {o}]" {
		t.Errorf("sent %s", got)
	}
}

func TestMessageOfTheCommandLineWins(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", written(7, 1))
	w.run("apply", "-f", w.file("a.yaml", "resources: []\nmessage: from the file\n"), "-m", "from the line").want(t, exitOK, "revision 7: 1 resource changed\n", "")
	if got, want := w.sent[0].body, `{"message":"from the line","resources":[]}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
}

func TestPointersAreTheFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.file("a.yaml", oneCluster+"---\n"+strings.ReplaceAll(oneCluster, "a\n", "b\n"))
	b := w.file("b.yaml", "resources:\n- {type: clusters, name: c, body: {}}\n- {type: clusters, name: d, body: {}}\ndelete:\n- {type: routes, name: e}\nprune: true\nmessage: why\n")
	w.on("POST", "/apply", problemReply(http.StatusUnprocessableEntity, "invalid_resource", "7 fields are not acceptable",
		map[string]string{"pointer": "/resources/1/body/connect_timeout", "code": "x", "detail": "too \x1b[2Jshort"},
		map[string]string{"pointer": "/resources/3/body", "code": "x", "detail": "empty"},
		map[string]string{"pointer": "/resources/0", "code": "x", "detail": "named twice"},
		map[string]string{"pointer": "/delete/0/name", "code": "x", "detail": "unknown"},
		map[string]string{"pointer": "/prune", "code": "x", "detail": "no such field"},
		map[string]string{"pointer": "/prune/types/0", "code": "x", "detail": "deeper"},
		map[string]string{"pointer": "/message", "code": "x", "detail": "too long"},
		map[string]string{"pointer": "", "code": "x", "detail": "all of it"},
		map[string]string{"pointer": "/resources/99", "code": "x", "detail": "not ours"},
		map[string]string{"parameter": "Idempotency-Key", "code": "x", "detail": "in use"}))
	w.run("apply", "-f", a, "-f", b).want(t, exitFailed, "", `fairlead: Unprocessable Entity: 7 fields are not acceptable
  DIR/a.yaml:7: /body/connect_timeout: too [2Jshort
  DIR/b.yaml:3: /resources/1/body: empty
  DIR/a.yaml:1: named twice
  DIR/b.yaml:5: /delete/0/name: unknown
  DIR/b.yaml:6: /prune: no such field
  DIR/b.yaml:6: /prune/types/0: deeper
  DIR/b.yaml:7: /message: too long
  all of it
  /resources/99: not ours
  parameter Idempotency-Key: in use
request id req-1
`)
}

func TestWarningsAreTheFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", ok(`{"revision": 7, "changed": 1, "committed_at": "2026-01-02T03:04:05Z", "resources": [], "warnings": [{"pointer": "/resources/0/ttl", "code": "x", "detail": "no effect"}]}`))
	w.run("apply", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK, "revision 7: 1 resource changed, 1 warning\n", "warning: DIR/a.yaml:1: /ttl: no effect\n")
}

// TestFindingsAreNeverABareGreen: what is found stands in the lines that say what was done, and is placed in the files.
func TestFindingsAreNeverABareGreen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", ok(`{"revision": 7, "changed": 1, "committed_at": "2026-01-02T03:04:05Z", "resources": [], "warnings": [{"pointer": "/resources/0/ttl", "code": "x", "detail": "no effect"}],
		"findings": {"errors": 1, "warnings": 2, "infos": 0, "items": [
			{"code": "missing_reference", "severity": "error", "type": "routes", "name": "r", "pointer": "/body/x", "at": "/resources/0/body/x", "detail": "routes/r names clusters/b\u001b[2J"},
			{"code": "certificate_expires", "severity": "warning", "type": "secrets", "name": "s", "pointer": "/body", "detail": "it expires"}]}}`))
	w.on("GET", receipt7, receiptReply("delivered", 3, 0, 0, 0, ""))
	const told = "warning: DIR/a.yaml:1: /ttl: no effect\nerror: DIR/a.yaml:3: /body/x: routes/r names clusters/b[2J\nwarning: it expires\nand 1 more: see fairlead findings\n"
	w.run("apply", "--wait", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK,
		"revision 7: 1 resource changed, 1 error, 3 warnings\nrevision 7 ACKed by 3/3 nodes in 18 ms, 1 error, 3 warnings\n", told)
	w.on("POST", "/plan", ok(strings.Replace(nothingNew, `"token"`, `"findings": {"errors": 0, "warnings": 2, "infos": 0, "items": [
		{"code": "certificate_expires", "severity": "warning", "type": "secrets", "name": "s", "pointer": "/body", "detail": "it expires"}], "more": true}, "token"`, 1)))
	w.run("diff", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK, "2 unchanged, on revision 12, 2 warnings\n", "warning: it expires\nand 1 more: see fairlead findings\n")
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, content string
		code                int
		err                 string
	}{
		{"duplicate key", "a.yaml", oneCluster + "---\ntype: clusters\nbody:\n  x: 1\n  x: 2\n", exitFailed, "fairlead: DIR/a.yaml:8: /body/x: the key stands twice in one object\n"},
		{"duplicate key in JSON", "a.json", `{"a": 1, "a": 2}`, exitFailed, "fairlead: DIR/a.json:1: /a: the key stands twice in one object\n"},
		{"broken JSON", "a.json", `{"a": `, exitFailed, "fairlead: DIR/a.json:1: /a: a value is missing here, or is not JSON\n"},
		{"two JSON", "a.json", `{} {}`, exitFailed, "fairlead: DIR/a.json:1: something follows the end of the document\n"},
		{"empty", "a.yaml", "# nothing\n", exitUsage, "fairlead: there is no document in DIR/a.yaml\n"},
		{"list", "a.yaml", "- a\n", exitFailed, "fairlead: DIR/a.yaml:1: a document must be an object: a resource with type, name and body, Envoy's own message with \"@type\", or {resources: [...]}\n"},
		{"null", "a.json", "null", exitFailed, "fairlead: DIR/a.json:1: a document must be an object: a resource with type, name and body, Envoy's own message with \"@type\", or {resources: [...]}\n"},
		{"broken YAML", "a.yaml", oneCluster + "---\ntype: clusters\nbody: {\n", exitFailed, "fairlead: DIR/a.yaml:6: did not find expected node content\n"},
		{"several faults", "a.yaml", "resources: 1\nmessage: 2\n---\nresources: []\nprune: 1\n---\ndelete:\nprune: 2\n", exitFailed, `fairlead: 4 things in the files are wrong, nothing was sent
  DIR/a.yaml:2: /message: this must be a text
  DIR/a.yaml:1: /resources: this must be a list
  DIR/a.yaml:7: /delete: this must be a list
  DIR/a.yaml:8: /prune: it stands in DIR/a.yaml:5 too, and one apply has it once
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.run("apply", "-f", w.file(c.file, c.content)).want(t, c.code, "", c.err)
			if len(w.sent) > 0 {
				t.Error("something was sent")
			}
		})
	}
}

func TestMissingFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.run("apply", "-f", w.dir+"/none.yaml").want(t, exitFailed, "", "fairlead: open DIR/none.yaml: no such file or directory\n")
	w.run("apply", "-f", w.dir).want(t, exitUsage, "", "fairlead: the directory DIR holds no .yaml, .yml or .json file\n")
	w.file("sub/a.yaml", oneCluster)
	w.run("apply", "-f", w.dir).want(t, exitUsage, "", "fairlead: the directory DIR holds no .yaml, .yml or .json file: with -R the directories below it are read too\n")
	w.run("apply", "-f", "-", "-f", "-").want(t, exitUsage, "", "fairlead: the standard input can be read once: give -f - once\n")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.run("delete", "clusters", "a").want(t, exitFailed, "", "fairlead: clusters/a: Not Found: there is no such thing here\nrequest id req-1\n")
	w.on("GET", "/resources/clusters/a", ok(`{}`))
	w.on("POST", "/apply", written(8, 1))
	w.run("delete", "clusters", "a", "-m", "gone").want(t, exitOK, "revision 8: 1 resource changed\n", "")
	if got, want := w.sent[2].body, `{"delete":[{"name":"a","type":"clusters"}],"message":"gone"}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	w.run("delete", "clusters", "a", "--variant", "eu").want(t, exitOK, "revision 8: 1 resource changed\n", "")
	if got, want := w.sent[4].body, `{"delete":[{"name":"a","type":"clusters","variant":"eu"}]}`; got != want || w.sent[3].query != "variant=eu" {
		t.Errorf("asked for %s and sent %s, want %s", w.sent[3].query, got, want)
	}
	w.on("GET", "/resources/clusters/b", ok(`{}`))
	w.run("delete", "clusters", "a", "b").want(t, exitOK, "revision 8: 1 resource changed\n", "")
	if got, want := w.sent[7].body, `{"delete":[{"name":"a","type":"clusters"},{"name":"b","type":"clusters"}]}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	w.run("delete", "cluster", "a").want(t, exitUsage, "", "fairlead: \"cluster\" is not a type of resource: the types are "+typeList()+"\n")
}

func TestRollback(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/rollback", written(8, 2))
	w.run("rollback", "5", "-m", "404s").want(t, exitOK, "revision 8: 2 resources changed\n", "")
	var body map[string]any
	if err := json.Unmarshal([]byte(w.sent[0].body), &body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"revision": 5.0, "message": "404s"}, body); diff != "" {
		t.Error(diff)
	}
	if w.sent[0].key == "" {
		t.Error("no Idempotency-Key")
	}
	w.run("rollback", "5", "clusters").want(t, exitUsage, "", "fairlead: a rollback is of the whole fleet, or of one resource: give the name of clusters too\n")
	w.run("rollback", "5", "cluster", "a").want(t, exitUsage, "", "fairlead: \"cluster\" is not a type of resource: the types are "+typeList()+"\n")
	w.run("rollback", "5", "--variant", "eu").want(t, exitUsage, "", "fairlead: --variant is of a resource: give its type and name too\n")
	w.run("rollback", "five").want(t, exitUsage, "", "fairlead: \"five\" is not the number of a revision\n")
}

func TestJSON(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/apply", ok(`{"revision":7,"changed":0,"new_field":"kept","resources":[]}`))
	w.run("apply", "--json", "-f", w.file("a.yaml", oneCluster)).want(t, exitOK, "{\n  \"revision\": 7,\n  \"changed\": 0,\n  \"new_field\": \"kept\",\n  \"resources\": []\n}\n", "")
}
