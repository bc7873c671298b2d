package httpapi

import (
	"net/http"
	"slices"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestAFleetTellsItsCounts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var f oapi.Fleet
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	if f.Counts == nil || f.Counts.Nodes != (oapi.NodeCounts{}) || len(f.Counts.Resources) != 0 || f.Counts.OpenRefusals != 0 || f.Counts.Receipt != nil || f.Resources != 0 {
		t.Errorf("of an empty fleet: %+v", f)
	}
	w.put("a")
	w.put("b")
	w.do(http.MethodPut, w.at("resources", "endpoints", "a"), asDocument(`{"cluster_name": "a"}`)).is(201, nil)
	w.put("gone")
	w.do(http.MethodDelete, w.at("resources", "clusters", "gone"), "").is(200, nil)
	f = oapi.Fleet{}
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	if *f.Counts.Receipt != oapi.ReceiptStateStored || f.Resources != 3 || f.Revision != 5 {
		t.Errorf("without nodes: %+v, %+v", f, f.Counts)
	}
	for _, id := range []string{"n1", "n2"} {
		w.settledNode(w.fleet.ID, id, 5)
	}
	w.refusingNode(w.fleet.ID, "bad", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 5}, fleet.Refusal{Type: fleet.Cluster, Name: "b", Version: "v", Revision: 5})
	gone := w.settledNode(w.fleet.ID, "gone", 5)
	gone.Nodes[0].Connected, gone.Nodes[0].Settled = false, new(fleet.Revision)
	must(t, w.nodes.Report(t.Context(), gone))
	f = oapi.Fleet{}
	w.do(http.MethodGet, w.at(), "").is(200, &f)
	want := []oapi.TypeCount{{Type: "clusters", Count: 2}, {Type: "endpoints", Count: 1}}
	if f.Counts.Nodes != (oapi.NodeCounts{Live: 2, Refusing: 1, Offline: 1}) || f.Counts.OpenRefusals != 2 || !slices.Equal(f.Counts.Resources, want) {
		t.Errorf("counts: %+v", *f.Counts)
	}
	var receipt oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "latest", "receipt"), "").is(200, &receipt)
	if *f.Counts.Receipt != receipt.State {
		t.Errorf("the fleet says %s, the receipt %s", *f.Counts.Receipt, receipt.State)
	}
	// By the list of nodes there are as many.
	for state, want := range map[string]int64{"live": f.Counts.Nodes.Live, "refusing": f.Counts.Nodes.Refusing, "offline": f.Counts.Nodes.Offline} {
		if got := w.listed(w.owner, w.at("nodes")+"?state="+state, "id", 500); int64(len(got)) != want {
			t.Errorf("%s: %q, counted %d", state, got, want)
		}
	}
	var list oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets", "").is(200, &list)
	if list.Items[0].Counts != nil || list.Items[0].Resources != 3 {
		t.Errorf("in the list: %+v", list.Items[0])
	}
}
