package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

const toCluster = `{"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": %q}}]}]}`

func (w *world) findings(query string) (list oapi.FindingList) {
	w.t.Helper()
	w.do(http.MethodGet, w.at("findings")+query, "").is(200, &list)
	return list
}

func found(list oapi.FindingList) (out []string) {
	for _, f := range list.Items {
		line := fmt.Sprintf("%s %s %s/%s", f.Severity, f.Code, f.Type, f.Name)
		if v := deref(f.Variant); v != "" {
			line += "@" + v
		}
		out = append(out, line+" "+f.Pointer)
	}
	return out
}

// TestFindings follows a fleet: what is wrong is found, and gone when it is put right.
func TestFindings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	want := func(what string, want ...string) {
		t.Helper()
		if got := found(w.findings("")); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	want("an empty fleet")
	const dangling = "error missing_reference routes/r /body/virtual_hosts/0/routes/0/route/cluster"
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(listener("l", "r"))).isWritten(nil)
	want("a listener", "error missing_reference listeners/l /body"+routeField)
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(fmt.Sprintf(toCluster, "backnd"))).isWritten(nil)
	want("a misspelt cluster", dangling)
	w.do(http.MethodPut, w.at("resources", "clusters", "backend"), asDocument(`{"name": "backend"}`)).isWritten(nil)
	want("the cluster that was meant", dangling, "info unreachable clusters/backend ")

	list := w.findings("?limit=1")
	if list.Revision != 3 || list.Errors != 1 || list.Warnings != 0 || list.Infos != 1 || len(list.Items) != 1 || list.NextCursor == nil {
		t.Fatalf("%+v", list)
	}
	if f := list.Items[0]; f.To == nil || *f.To != (oapi.ResourceRef{Type: "clusters", Name: "backnd"}) {
		t.Errorf("%+v", f)
	}
	if list = w.findings("?limit=1&cursor=" + *list.NextCursor); len(list.Items) != 1 || list.Items[0].Code != "unreachable" || list.NextCursor != nil {
		t.Errorf("the second page: %+v", list)
	}
	if list = w.findings("?severity=info"); len(list.Items) != 1 || list.Items[0].Severity != "info" || list.Errors != 1 {
		t.Errorf("of one severity: %+v", list)
	}

	w.do(http.MethodPatch, w.at(), `{"static_clusters": ["backnd", "a"]}`).is(200, nil)
	want("it stands in the bootstrap", "info unreachable clusters/backend ")
	w.do(http.MethodPatch, w.at(), `{"static_clusters": []}`).is(200, nil)
	want("it does not", dangling, "info unreachable clusters/backend ")
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(fmt.Sprintf(toCluster, "backend"))).isWritten(nil)
	want("put right")
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(fmt.Sprintf(toCluster, "fairlead_xds"))).isWritten(nil)
	lent := "warning names_bootstrap routes/r /body/virtual_hosts/0/routes/0/route/cluster"
	want("the cluster that leads here", lent, "info unreachable clusters/backend ")
	w.do(http.MethodDelete, w.at("resources", "clusters", "backend"), "").is(200, nil)
	want("deleted", lent)
	w.do(http.MethodPatch, w.at(), `{"static_clusters": ["local"], "private_clusters": ["vault"]}`).is(200, nil)
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(fmt.Sprintf(toCluster, "vault"))).isWritten(nil)
	want("a private one", lent)
	w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(fmt.Sprintf(toCluster, "local"))).isWritten(nil)
	want("another one of the bootstrap")

	status := w.settledNode(w.fleet.ID, "n", 0) // of which not all labels are known
	w.do(http.MethodPut, w.at("resources", "routes", "r")+"?variant=eu", `{"selector": "node.id=x", "body": `+fmt.Sprintf(toCluster, "local")+`}`).isWritten(nil)
	want("a variant for nobody that is known")
	old := func() (node oapi.Node) {
		w.do(http.MethodGet, w.at("nodes", "n"), "").is(200, &node)
		return node
	}
	if n := old(); n.OldBootstrap != nil || !deref(n.LabelsUnknown) {
		t.Errorf("an old bootstrap of a node that is not known: %+v", n)
	}
	status.Nodes[0].Labels = &fleet.NodeLabels{Region: "us"}
	must(t, w.nodes.Report(t.Context(), status))
	want("a variant for nobody, and a node with an old bootstrap", "warning old_bootstrap clusters/fairlead_xds ", "warning variant_unmatched routes/r@eu /selector")
	if n := old(); !deref(n.OldBootstrap) {
		t.Errorf("the node does not tell of it: %+v", n)
	}
	status.Nodes[0].Labels.MetadataJSON = []byte(`{"fairlead": {"bootstrap": 2}}`)
	must(t, w.nodes.Report(t.Context(), status))
	want("a new one", "warning variant_unmatched routes/r@eu /selector")
	if n := old(); n.OldBootstrap != nil {
		t.Errorf("the node tells of an old bootstrap: %+v", n)
	}
}

func TestFindingsBadInput(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range []string{"", "x", "-1", "1e9"} {
		w.do(http.MethodGet, w.at("findings")+"?cursor="+cursor{List: "findings", Name: name, Revision: 1}.String(), "").isProblem(400, "invalid_request", "?cursor")
	}
	w.do(http.MethodGet, w.at("findings")+"?cursor="+cursor{List: "nodes", Name: "1"}.String(), "").isProblem(400, "invalid_request", "?cursor")
	w.do(http.MethodGet, w.at("findings")+"?severity=bad", "").isProblem(400, "invalid_request", "?severity")
	if list := w.findings("?cursor=" + cursor{List: "findings", Key: &[9]string{"3"}}.String()); len(list.Items) != 0 {
		t.Errorf("beyond the end: %+v", list)
	}
	for body, pointer := range map[string]string{`{"static_clusters": [""]}`: "/static_clusters/0", `{"static_clusters": ["a", "b\u0000"]}`: "/static_clusters/1"} {
		w.do(http.MethodPatch, w.at(), body).isProblem(400, "invalid_request", pointer)
	}
}
