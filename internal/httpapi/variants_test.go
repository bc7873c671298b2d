package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func variantOf(name, selector string, priority int, timeout string) string {
	return fmt.Sprintf(`{"selector": %q, "priority": %d, "body": {"name": %q, "connect_timeout": %q}}`, selector, priority, name, timeout)
}

func (w *world) variant(name, variant string) string {
	return w.at("resources", "clusters", name) + "?variant=" + url.QueryEscape(variant)
}

// TestVariantsByREST: written, read, listed, deleted and restored like any resource.
func TestVariantsByREST(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")                                                                                                 // 1
	w.do(http.MethodPut, w.variant("a", "eu"), variantOf("a", "locality.region = eu", 5, "1s")).isWritten(nil) // 2
	var got oapi.Resource
	w.do(http.MethodGet, w.variant("a", "eu"), "").is(200, &got)
	if deref(got.Variant) != "eu" || deref(got.Selector) != "locality.region=eu" || deref(got.Priority) != 5 || got.Revision != 2 {
		t.Errorf("%+v", got)
	}
	got = oapi.Resource{}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, &got)
	if got.Variant != nil || got.Selector != nil || got.Revision != 1 {
		t.Errorf("the default variant is %+v", got)
	}
	var list oapi.ResourceList
	w.do(http.MethodGet, w.at("resources", "clusters"), "").is(200, &list)
	if names := each(list.Items, func(r oapi.Resource) string { return r.Name + "/" + deref(r.Variant) }); !cmp.Equal(names, []string{"a/", "a/eu"}) {
		t.Errorf("the list is %v", names)
	}
	var out oapi.WriteResult
	w.do(http.MethodPut, w.variant("a", "eu"), variantOf("a", "locality.region==eu", 5, "1s")).isWritten(&out)
	if out.Changed != 0 {
		t.Error("another way to write the same selector made a revision")
	}
	w.do(http.MethodDelete, w.variant("a", "eu"), "").is(200, nil) // 3
	w.do(http.MethodGet, w.variant("a", "eu"), "").isProblem(404, "not_found", "")
	w.do(http.MethodDelete, w.variant("a", "eu"), "").is(200, &out)
	if out.Changed != 0 || len(deref(out.Warnings)) != 1 || (*out.Warnings)[0].Code != "absent" {
		t.Errorf("deleted twice: %+v", out)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(200, nil)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 2}`).is(200, nil)
	w.do(http.MethodGet, w.variant("a", "eu"), "").is(200, &got)
	if deref(got.Selector) != "locality.region=eu" || deref(got.Priority) != 5 || got.Revision != 4 {
		t.Errorf("restored as %+v", got)
	}
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "clusters", "name": "a", "variant": "eu"}]}`).is(200, nil)
	w.do(http.MethodGet, w.variant("a", "eu"), "").isProblem(404, "not_found", "")
}

// TestVariantErrors name the field and what to do.
func TestVariantErrors(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, c := range []struct{ path, body, pointer, says string }{
		{w.variant("a", "eu"), asDocument(cluster("a")), "/selector", "leave the variant out"},
		{w.variant("a", "eu"), variantOf("a", "region=eu", 0, "1s"), "/selector", "byte 1: there is no key region"},
		{w.variant("a", "eu"), variantOf("a", "node.id=a)", 0, "1s"), "/selector", "byte 10"},
		{w.variant("a", ""), variantOf("a", "node.id=a", 0, "1s"), "/selector", "name the variant"},
		{w.variant("a", "eu"), `{"variant": "us", "selector": "node.id", "body": ` + cluster("a") + `}`, "/variant", "the one in the address"},
	} {
		p := w.do(http.MethodPut, c.path, c.body).isProblem(422, "invalid_resource", c.pointer)
		if text := fmt.Sprint(*(*p.Errors)[0].Pointer, (*p.Errors)[0].Detail); !strings.Contains(text, c.says) {
			t.Errorf("%s: it says %s, want %s", c.body, text, c.says)
		}
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "variant": "eu", "body": `+cluster("a")+`}]}`).
		isProblem(422, "invalid_resource", "/resources/0/selector")
	w.do(http.MethodPut, w.variant("a", strings.Repeat("v", 129)), asDocument(cluster("a"))).isProblem(400, "invalid_request", "?variant")
}

// TestTiesAreFound is SEMANTICS 2.1: between equals the name decides, and the writer is told.
func TestTiesAreFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	warnings := func(variant, selector string, priority int) string {
		t.Helper()
		var out oapi.WriteResult
		w.do(http.MethodPut, w.variant("a", variant), variantOf("a", selector, priority, "1s")).isWritten(&out)
		return strings.Join(each(ofCode(out.Findings, "variant_tie"), func(f oapi.Finding) string { return string(f.Code) + " " + deref(f.At) + " " + f.Detail }), ";")
	}
	for _, c := range []struct {
		variant, selector string
		priority          int
		want              []string
	}{
		{"eu", "locality.region=eu", 0, nil},
		{"us", "locality.region=us", 0, nil}, // they exclude each other
		{"canary", "metadata.canary", 1, nil},
		{"canary", "metadata.canary", 0, []string{`the variant "eu" and "canary"`, `the variant "us" and "canary"`, `sorts first, not "us"`}},
		{"canary", "metadata.canary", 0, []string{"variant_tie"}}, // as long as it is so
		{"canary", "metadata.canary", 7, nil},
	} {
		got := warnings(c.variant, c.selector, c.priority)
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s %s %d: %q, want %q", c.variant, c.selector, c.priority, got, part)
			}
		}
		if c.want == nil && got != "" {
			t.Errorf("%s %s %d: %q, want no warning", c.variant, c.selector, c.priority, got)
		}
	}
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "b", "body": `+cluster("b")+`},
		{"type": "clusters", "name": "b", "variant": "x", "selector": "node.id", "body": `+cluster("b")+`},
		{"type": "clusters", "name": "b", "variant": "y", "selector": "node.id", "body": `+cluster("b")+`}]}`).is(200, &out)
	pointers := each(ofCode(out.Findings, "variant_tie"), func(f oapi.Finding) string { return string(f.Code) + deref(f.At) })
	if !cmp.Equal(pointers, []string{"variant_tie/resources/2/priority"}) { // that of the variant that loses
		t.Errorf("the findings are %v", pointers)
	}
}

// TestASecretsVariantIsWarnedOf is SEMANTICS 2.4.
func TestASecretsVariantIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var out oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "secrets", "s")+"?variant=eu", `{"selector": "locality.region=eu", "body": {"name": "s", "generic_secret": {"secret": {"inline_string": "`+secretText+`"}}}}`).isWritten(&out)
	if ws := deref(out.Warnings); len(ws) != 1 || ws[0].Code != "secret_variant" || *ws[0].Pointer != "/selector" || !strings.Contains(ws[0].Detail, "apart by fleets") {
		t.Errorf("the warnings are %+v", ws)
	}
}

// labeled makes an xDS server report nodes with labels.
func (w *world) labeled(settled fleet.Revision, nodes map[string]*fleet.NodeLabels) {
	w.t.Helper()
	status := w.settledNode(w.fleet.ID, "unlabeled", settled)
	for id, labels := range nodes {
		status.Nodes = append(status.Nodes, fleet.NodeStatus{Node: id, Connected: true, Since: time.Now(), Labels: labels})
	}
	must(w.t, w.nodes.Report(w.t.Context(), status))
}

func TestNodesThatASelectorMatches(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.labeled(1, map[string]*fleet.NodeLabels{
		"n1": {Region: "eu"}, "n2": {Region: "us"}, "n3": {Region: "eu", MetadataJSON: []byte(`{"canary": true}`)}, "big": {Region: "eu", Cut: true},
	})
	list := func(query string) (ids []string, out oapi.NodeList) {
		t.Helper()
		w.do(http.MethodGet, w.at("nodes")+"?"+query, "").is(200, &out)
		return each(out.Items, func(n oapi.Node) string { return n.Id }), out
	}
	for text, want := range map[string][]string{
		"locality.region=eu": {"n1", "n3"}, "metadata.canary": {"n3"}, "!metadata.canary": {"n1", "n2"}, "node.id^=n": {"n1", "n2", "n3"}, "node.cluster": {},
	} {
		ids, out := list("selector=" + url.QueryEscape(text))
		if !cmp.Equal(ids, want) || deref(out.LabelsUnknown) != 2 || out.NextCursor != nil {
			t.Errorf("%s: %v and %d unknown, want %v", text, ids, deref(out.LabelsUnknown), want)
		}
	}
	ids, out := list("limit=2&selector=" + url.QueryEscape("node.id^=n"))
	if !cmp.Equal(ids, []string{"n1", "n2"}) || out.NextCursor == nil {
		t.Fatalf("the first page is %v", ids)
	}
	if ids, out = list("limit=2&selector=" + url.QueryEscape("node.id^=n") + "&cursor=" + url.QueryEscape(*out.NextCursor)); !cmp.Equal(ids, []string{"n3"}) || out.NextCursor != nil {
		t.Errorf("the second page is %v", ids)
	}
	p := w.do(http.MethodGet, w.at("nodes")+"?selector=region%3Deu", "").isProblem(400, "invalid_request", "?selector")
	if detail := (*p.Errors)[0].Detail; !strings.Contains(detail, "byte 1: there is no key region") {
		t.Errorf("it says %q", detail)
	}
	w.do(http.MethodGet, w.at("nodes")+"?selector=", "").isProblem(400, "invalid_request", "?selector")
}

// TestNodeConfigTellsTheVariant: what a node holds is of the variant that its labels choose.
func TestNodeConfigTellsTheVariant(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")                                                                                                     // 1
	w.put("b")                                                                                                     // 2
	w.do(http.MethodPut, w.variant("a", "eu"), variantOf("a", "locality.region=eu", 0, "1s")).isWritten(nil)       // 3
	w.do(http.MethodPut, w.variant("a", "canary"), variantOf("a", "metadata.canary", 1, "2s")).isWritten(nil)      // 4
	w.do(http.MethodPut, w.variant("only", "eu"), variantOf("only", "locality.region=eu", 0, "1s")).isWritten(nil) // 5
	w.labeled(4, map[string]*fleet.NodeLabels{"eu": {Region: "eu"}, "us": {Region: "us"}, "both": {Region: "eu", MetadataJSON: []byte(`{"canary": true}`)}})
	for node, want := range map[string][]string{
		"eu": {"a eu synced 3", "b  synced 2", "only eu pending 5"}, "us": {"a  synced 1", "b  synced 2"},
		"both": {"a canary synced 4", "b  synced 2", "only eu pending 5"}, "unlabeled": {"a  synced 1", "b  synced 2"},
	} {
		c := w.nodeConfig(node, "")
		got := each(c.Items, func(r oapi.NodeResource) string {
			return fmt.Sprintf("%s %s %s %d", r.Name, deref(r.Variant), r.State, deref(r.Revision))
		})
		if !cmp.Equal(got, want) || deref(c.LabelsUnknown) != (node == "unlabeled") {
			t.Errorf("%s: %s", node, cmp.Diff(want, got))
		}
	}
	w.do(http.MethodDelete, w.variant("a", "canary"), "").is(200, nil) // 6
	c := w.nodeConfig("both", "state=pending")
	if got := inState(c.Items); !cmp.Equal(got, []string{"clusters/a pending", "clusters/only pending"}) || deref(c.Items[0].Revision) != 6 {
		t.Errorf("after the canary: %v, %+v", got, c.Items)
	}
}

// ofCode are the findings of a write that have a code.
func ofCode(fs *oapi.WriteFindings, code oapi.FindingCode) (out []oapi.Finding) {
	for _, f := range fs.Items {
		if f.Code == code {
			out = append(out, f)
		}
	}
	return out
}
