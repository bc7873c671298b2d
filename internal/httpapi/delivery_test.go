package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// TestDeliveryIsAnsweredAsItIsTaken: by a read, a list without bodies, and the past; it is a change, comes back by a rollback, and a plan tells it.
func TestDeliveryIsAnsweredAsItIsTaken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	version := w.write("clusters", "a", asDocument(cluster("a")))
	const byName = `{"delivery": "by-name", "body": `
	var plan oapi.Plan
	w.do(http.MethodPost, w.at("plan"), `{"resources": [{"type": "clusters", "name": "a", "delivery": "by-name", "body": `+cluster("a")+`}]}`).is(200, &plan)
	if r := plan.Resources[0]; r.Action != oapi.Update || r.Diff == nil || !strings.Contains(*r.Diff, "+delivery: by-name") {
		t.Errorf("the plan: %+v", r)
	}
	if again := w.write("clusters", "a", byName+cluster("a")+`}`); again != version {
		t.Errorf("the version became %s, and was %s", again, version)
	}
	delivery := func(query string) (out []string) {
		t.Helper()
		var list oapi.ResourceList
		w.do(http.MethodGet, w.at("resources")+query, "").is(200, &list)
		for _, r := range list.Items {
			text := r.Name
			if r.Delivery != nil {
				text += " " + string(*r.Delivery)
			}
			out = append(out, text)
		}
		return out
	}
	for query, want := range map[string]string{"": "a by-name", "?bodies=false": "a by-name", "?revision=1": "a", "?revision=2": "a by-name"} {
		if d := cmp.Diff([]string{want}, delivery(query)); d != "" {
			t.Errorf("%q: %s", query, d)
		}
	}
	a := w.do(http.MethodGet, path, "")
	var same oapi.WriteResult
	w.do(http.MethodPut, path, string(a.body)).isWritten(&same)
	if same.Changed != 0 {
		t.Errorf("its own answer, put back: %+v", same)
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "delivery": "by-name", "keep": true}]}`).is(200, &same)
	if same.Changed != 0 {
		t.Errorf("kept: %+v", same)
	}
	w.write("clusters", "a", asDocument(cluster("a")))
	if d := cmp.Diff([]string{"a"}, delivery("")); d != "" {
		t.Error(d)
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "delivery": "by-name", "keep": true}]}`).isProblem(422, "invalid_resource", "/resources/0/delivery")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 2}`).is(200, &same)
	if d := cmp.Diff([]string{"a by-name"}, delivery("")); d != "" || same.Changed != 1 {
		t.Error(d, same)
	}
}

// TestWhatIsDeliveredByNameIsNotCalledSynced: of a node that asks for all clusters it is not told whether it has asked for it; of one that asks by
// name alone what names it tells.
func TestWhatIsDeliveredByNameIsNotCalledSynced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.write("clusters", "all", asDocument(cluster("all")))
	w.write("clusters", "od", `{"delivery": "by-name", "body": `+cluster("od")+`}`)
	w.write("routes", "r", asDocument(`{"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "od"}}]}]}`))
	status := w.settledNode(w.fleet.ID, "n", 3)
	state := func(query string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, inState(w.nodeConfig("n", "type=clusters"+query).Items)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	state("", "clusters/all synced", "clusters/od on_demand")
	state("&state=on_demand", "clusters/od on_demand")
	state("&state=synced", "clusters/all synced")
	if got := w.why("n", "type=clusters&name=od").Items[0].Because; !strings.Contains(got, "delivered by name alone") {
		t.Error(got)
	}
	subs := &status.Nodes[0].Subscribes
	subs.Types[fleet.Cluster], subs.Types[fleet.Listener] = fleet.AsksNames, fleet.AsksAll
	must(t, w.nodes.Report(t.Context(), status))
	state("", "clusters/all unreferenced", "clusters/od synced")
}
