package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
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

// aFleet is read.
type aFleet struct {
	rows   []store.Resource
	at     store.Seen
	after  []fleet.Revision // what it was asked for
	bodies int              // that were read
}

func (f *aFleet) Stands(context.Context, fleet.TenantID, fleet.ID) (store.Seen, error) {
	return f.at, nil
}

func (f *aFleet) Overview(_ context.Context, _ fleet.TenantID, _ fleet.ID, after fleet.Revision, give func(store.Resource)) (store.Seen, error) {
	f.after = append(f.after, after)
	for _, r := range f.rows {
		if r.Revision > after {
			r.Body = []byte("\n\x01" + r.Name)
			f.bodies++
		}
		give(r)
	}
	return f.at, nil
}

// TestFactsAreReadOnce: of a fleet that is known only what changed is read, of one that stands where it stood nothing, and where what
// is kept does not fit, all of it.
func TestFactsAreReadOnce(t *testing.T) {
	t.Parallel()
	cluster := func(name, version string, rev fleet.Revision) store.Resource {
		return store.Resource{Row: fleet.Row{Type: fleet.Cluster, Name: name, Version: version, Revision: rev}}
	}
	stands := func(rev fleet.Revision) store.Seen { return store.Seen{Revision: rev, Token: fleet.NewToken()} }
	f := &aFleet{rows: []store.Resource{cluster("a", "1", 1), cluster("b", "2", 2)}, at: stands(2)}
	b := newFactBook(f)
	want := func(what string, bodies int, after ...fleet.Revision) {
		t.Helper()
		f.after, f.bodies = nil, 0
		rs, at, err := b.read(t.Context(), fleet.Key{Fleet: fleet.ID{1}}, func() {})
		if err != nil || at != f.at.Revision || len(rs) != len(f.rows) || slices.ContainsFunc(rs, func(r findings.Resource) bool { return r.Facts == nil }) {
			t.Errorf("%s: %v at %d, %v", what, rs, at, err)
		}
		if !slices.Equal(f.after, after) || f.bodies != bodies {
			t.Errorf("%s: asked after %v, want %v; %d bodies, want %d", what, f.after, after, f.bodies, bodies)
		}
	}
	want("unknown", 2, -1)
	want("known", 0)
	f.rows[1], f.at = cluster("b", "3", 3), stands(3)
	want("one changed", 1, 2)
	f.rows[1], f.at = cluster("b", "4", 2), stands(2)
	want("another past", 2, 3, -1)
	want("known again", 0)
	f.rows[1], f.at = cluster("b", "5", 2), stands(2)
	want("the same number, another past", 2, 2, -1)
	if b.kept != 2 {
		t.Errorf("%d are kept", b.kept)
	}
}

// TestAFleetThatStandsIsCheckedOnce: what was found counts until something changes in which it was found, and for ten seconds at most, as certificates end.
func TestAFleetThatStandsIsCheckedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := newFactBook(nil), fleet.Key{Fleet: fleet.ID{1}}
		stands := func() findings.Fleet {
			return findings.Fleet{Resources: b.fleets[k].resources, Nodes: []fleet.Node{{ID: "n", Zone: "z"}}, Endpoints: map[string]int{"c": 1}, Values: map[string]string{"v": "1"}}
		}
		b.keep(k, knownFacts{resources: make([]findings.Resource, 3)})
		b.keepChecked(k, check{in: stands(), out: checked{found: make([]findings.Finding, 2), errors: 2}, at: time.Now()})
		if out, again := b.checked(k, stands()); !again || out.errors != 2 || b.kept != 5 {
			t.Errorf("the same fleet: %t, %+v; %d are kept", again, out, b.kept)
		}
		for what, change := range map[string]func(*findings.Fleet){
			"resource": func(f *findings.Fleet) { f.Resources = append(slices.Clone(f.Resources), findings.Resource{}) }, "node": func(f *findings.Fleet) { f.Nodes[0].Zone = "y" },
			"endpoints": func(f *findings.Fleet) { f.Endpoints["c"] = 0 }, "value": func(f *findings.Fleet) { f.Values["v"] = "2" },
		} {
			f := stands()
			if change(&f); func() bool { _, again := b.checked(k, f); return again }() {
				t.Errorf("with another %s the last check counts", what)
			}
		}
		time.Sleep(checkedFor + 1)
		if _, again := b.checked(k, stands()); again {
			t.Error("it counts for longer")
		}
		b.keepChecked(k, check{out: checked{found: make([]findings.Finding, mostFacts)}})
		if b.keepChecked(fleet.Key{}, check{}); len(b.fleets[k].resources) != 3 || len(b.fleets) != 1 || b.kept != 5 {
			t.Errorf("facts are forgotten for findings: %d fleets, %d kept", len(b.fleets), b.kept)
		}
	})
}

// TestResourcesWithoutFactsTakeRoom: Secrets, and what has another's content, are kept too.
func TestResourcesWithoutFactsTakeRoom(t *testing.T) {
	t.Parallel()
	b := newFactBook(nil)
	for i := range 3 {
		b.keep(fleet.Key{Fleet: fleet.ID{byte(i)}}, knownFacts{resources: make([]findings.Resource, mostFacts/2)})
	}
	if len(b.fleets) != 2 || b.kept != mostFacts {
		t.Errorf("%d fleets are kept, and %d resources", len(b.fleets), b.kept)
	}
}

// TestFactsMakeRoom for those of other fleets.
func TestFactsMakeRoom(t *testing.T) {
	t.Parallel()
	b := newFactBook(nil)
	many := func(n int) knownFacts {
		k := knownFacts{facts: map[content]*resource.Facts{}}
		for i := range n {
			k.facts[content{version: fmt.Sprint(i)}] = &resource.Facts{}
			k.resources = append(k.resources, findings.Resource{})
		}
		return k
	}
	for i, c := range []struct{ n, fleets, kept int }{{mostFacts - 1, 1, mostFacts - 1}, {1, 2, mostFacts}, {2, 2, 0}, {mostFacts + 1, 2, 0}} {
		b.keep(fleet.Key{Fleet: fleet.ID{byte(i)}}, many(c.n))
		sum := 0
		for _, k := range b.fleets {
			sum += len(k.facts)
		}
		if sum != b.kept || b.kept > mostFacts || len(b.fleets) > c.fleets || c.kept > 0 && b.kept != c.kept {
			t.Errorf("after %d: %d fleets, %d kept, counted %d", c.n, len(b.fleets), b.kept, sum)
		}
	}
}
