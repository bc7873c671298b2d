package httpapi

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
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

func TestAListTellsWhatEachFleetHas(t *testing.T) {
	t.Parallel()
	w := setup(t)
	core := w.newFleet(w.tenant, "core")
	w.put("a")
	w.do(http.MethodPut, "/v1/tenants/acme/fleets/core/resources/clusters/b", asDocument(`{"name": "b"}`)).is(201, nil)
	w.settledNode(core.ID, "n1", 1)
	w.refusingNode(w.fleet.ID, "bad", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1})
	w.newFleet(w.tenant, "empty")
	var list oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets?counts=true&limit=2", "").is(200, &list)
	var rest oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets?counts=true&cursor="+*list.NextCursor, "").is(200, &rest)
	all := append(list.Items, rest.Items...)
	if len(all) != 3 || all[2].Counts.Receipt != nil || *all[0].Counts.Receipt != oapi.ReceiptStateDelivered || all[1].Counts.OpenRefusals != 1 {
		t.Fatalf("%+v", all)
	}
	// What the list says of each fleet is what the fleet says.
	for _, f := range all {
		var one oapi.Fleet
		w.do(http.MethodGet, "/v1/tenants/acme/fleets/"+f.Name, "").is(200, &one)
		if !reflect.DeepEqual(one, f) {
			t.Errorf("the list: %+v %+v, the fleet: %+v %+v", f, f.Counts, one, one.Counts)
		}
	}
	// Who is bound to one fleet is told of that one.
	ci := "Bearer " + w.token(w.tenant, auth.RoleCI, &core.ID)
	list = oapi.FleetList{}
	w.do(http.MethodGet, "/v1/tenants/acme/fleets?counts=true", "", "Authorization", ci).is(200, &list)
	if len(list.Items) != 1 || list.Items[0].Counts.Nodes.Live != 1 {
		t.Errorf("%+v", list)
	}
	list = oapi.FleetList{}
	w.do(http.MethodGet, "/v1/tenants/acme/fleets?counts=true&prefix=x", "", "Authorization", ci).is(200, &list)
	if len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}

// A page with counts is short, whatever it was asked for.
func TestCountsAreOfAHundredFleetsAtMost(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limit(store.LimitFleets, mostCounted+1)
	for i := range mostCounted {
		w.newFleet(w.tenant, fmt.Sprintf("f%03d", i)) // and "edge" is one more
	}
	var list oapi.FleetList
	w.do(http.MethodGet, "/v1/tenants/acme/fleets?counts=true&limit=500", "").is(200, &list)
	if len(list.Items) != mostCounted || list.NextCursor == nil {
		t.Errorf("%d fleets, next %v", len(list.Items), list.NextCursor)
	}
}
