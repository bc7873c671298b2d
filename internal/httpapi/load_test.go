package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// loads are what servers add, of the fleet, so many minutes ago.
func (w *world) loads(ago int, ls ...fleet.Load) {
	w.t.Helper()
	for i := range ls {
		ls[i].Key, ls[i].Middle = fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}, time.Now().Add(-time.Duration(ago)*time.Minute)
	}
	_, err := w.nodes.AddLoad(w.t.Context(), ls)
	must(w.t, err)
}

// loadList reads the whole list, two items at a time, in few words.
func (w *world) loadList(query string) (items []oapi.Load, leftOut int64) {
	w.t.Helper()
	for cursor := ""; ; {
		var list oapi.LoadList
		w.do(http.MethodGet, w.at("load")+"?limit=2"+query+cursor, "").is(http.StatusOK, &list)
		items = append(items, list.Items...)
		if list.NextCursor == nil {
			return items, list.LeftOut
		}
		cursor = "&cursor=" + *list.NextCursor
	}
}

func requestsTo(cluster, zone string, good, bad int64) fleet.Load {
	return fleet.Load{Cluster: cluster, Kind: fleet.LoadRequests, Zone: zone, Issued: good + bad + 1, Succeeded: good, Failed: bad, InProgress: 30}
}

// TestT49_AMinuteOfManyLocalitiesStaysBelowItsLimit: a sum of sums is no negative number.
func TestT49_AMinuteOfManyLocalitiesStaysBelowItsLimit(t *testing.T) {
	t.Parallel()
	var parts []store.LoadPart
	for range 1100 {
		parts = append(parts,
			store.LoadPart{Load: fleet.Load{Kind: fleet.LoadRequests, Issued: fleet.MostLoad, Succeeded: fleet.MostLoad, Failed: fleet.MostLoad}},
			store.LoadPart{Load: fleet.Load{Kind: fleet.LoadDrops, Count: fleet.MostLoad}})
	}
	if got := minuteOf("a", parts); got.Issued != fleet.MostLoad || got.Successful != fleet.MostLoad || got.Errors != fleet.MostLoad || got.Dropped != fleet.MostLoad {
		t.Errorf("%d %d %d %d", got.Issued, got.Successful, got.Errors, got.Dropped)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for ago := range 5 {
		w.loads(ago, requestsTo("shop/a", "z1", 10, 2), requestsTo("shop/a", "", 3, 0),
			fleet.Load{Cluster: "shop/a", Kind: fleet.LoadDrops, Of: "overload", Count: 4},
			fleet.Load{Cluster: "shop/a", Kind: fleet.LoadMetric, Of: "queue", Count: 2, Total: 0.5},
			fleet.Load{Cluster: "shop/a", Kind: fleet.LoadEndpoint, Of: "10.0.0.7:80", Zone: "z1", Issued: 13, Succeeded: 10, Failed: 2, InProgress: 30},
			fleet.Load{Kind: fleet.LoadLeftOut, Count: 7}, requestsTo(fmt.Sprint("b", ago), "", 1, 0))
	}
	items, left := w.loadList("")
	var got []string
	for _, i := range items {
		got = append(got, fmt.Sprintf("%s %d %d %d %d %t", i.Cluster, i.Issued, i.Successful, i.Errors, i.Dropped, i.InProgress == nil && i.Localities == nil))
	}
	want := []string{"b0 2 1 0 0 true", "b1 2 1 0 0 true", "b2 2 1 0 0 true", "b3 2 1 0 0 true", "b4 2 1 0 0 true", "shop/a 85 65 10 20 true"}
	if d := cmp.Diff(want, got); d != "" || left != 35 {
		t.Errorf("%d left out, (-want +got):\n%s", left, d)
	}

	minutes, _ := w.loadList("&cluster=shop%2Fa")
	if len(minutes) != 5 || !slices.IsSortedFunc(minutes, func(a, b oapi.Load) int { return a.Minute.Compare(b.Minute) }) {
		t.Fatalf("the minutes are %+v", minutes)
	}
	for i, m := range minutes {
		if i > 0 && m.Minute.Sub(minutes[i-1].Minute) != time.Minute {
			t.Errorf("%s follows %s", m.Minute, minutes[i-1].Minute)
		}
		if m.Cluster != "shop/a" || m.Issued != 17 || m.Successful != 13 || m.Errors != 2 || m.Dropped != 4 || deref(m.InProgress) != 1 {
			t.Errorf("a minute is %+v", m)
		}
		zone := "z1"
		of := []oapi.LocalityLoad{{Issued: 4, Successful: 3, InProgress: 0.5}, {Locality: &oapi.EndpointLocality{Zone: &zone}, Issued: 13, Successful: 10, Errors: 2, InProgress: 0.5}}
		if d := cmp.Diff(of, deref(m.Localities)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]oapi.EndpointLoad{{Address: "10.0.0.7:80", Locality: &oapi.EndpointLocality{Zone: &zone}, Issued: 13, Successful: 10, Errors: 2, InProgress: 0.5}}, deref(m.Endpoints)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]oapi.LoadDrop{{Category: "overload", Count: 4}}, deref(m.Drops)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]oapi.LoadMetric{{Name: "queue", Count: 2, Total: 0.5}}, deref(m.Metrics)); d != "" {
			t.Error(d)
		}
	}
	if none, _ := w.loadList("&cluster=nobody"); len(none) > 0 {
		t.Errorf("of a cluster that nobody names: %+v", none)
	}
	var of []string
	named, left := w.loadList("&clusters=shop%2Fa&clusters=b3&clusters=b1&clusters=nobody") // two pages
	for _, i := range named {
		of = append(of, i.Cluster)
	}
	if d := cmp.Diff([]string{"b1", "b3", "shop/a"}, of); d != "" || left != 35 {
		t.Errorf("%d left out, of those that are named (-want +got):\n%s", left, d)
	}
	w.do(http.MethodGet, w.at("load")+"?cluster=b1&clusters=b1", "").isProblem(400, "invalid_request", "?clusters")
	w.do(http.MethodGet, w.at("load")+"?clusters=a%00", "").isProblem(400, "invalid_request", "?clusters")
	w.do(http.MethodGet, w.at("load")+"?clusters=", "").isProblem(400, "invalid_request", "?clusters")
	var first oapi.LoadList
	w.do(http.MethodGet, w.at("load")+"?limit=1", "").is(http.StatusOK, &first)
	w.do(http.MethodGet, w.at("load")+"?cluster=b1&cursor="+*first.NextCursor, "").isProblem(400, "invalid_request", "")
}

// A cluster of the fleet whose requests fail is a finding.
func TestFindingsOfLoad(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.loads(1, requestsTo("a", "", 50, 20), requestsTo("elsewhere", "", 0, 100))
	var list oapi.FindingList
	w.do(http.MethodGet, w.at("findings")+"?code=requests_fail", "").is(http.StatusOK, &list)
	if len(list.Items) != 1 || list.Items[0].Name != "a" || !strings.Contains(list.Items[0].Detail, "of 70 requests to a") {
		t.Errorf("found %+v", list.Items)
	}
}

// A cluster that no proxy calls is a finding, once that is known for a week.
func TestFindingsOfClustersThatNobodyCalls(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	key := fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}
	_, err := w.nodes.NoteLoad(t.Context(), fleet.LoadSeen{Clusters: []fleet.ClusterSeen{{Key: key, Cluster: "a"}}})
	must(t, err)
	var list oapi.FindingList
	w.do(http.MethodGet, w.at("findings")+"?code=not_called", "").is(http.StatusOK, &list)
	if len(list.Items) != 0 {
		t.Errorf("on the first day: %+v", list.Items)
	}
	w.db.Exec(t, `UPDATE load_clusters SET reported_since = now() - interval '8 days'`)
	w.do(http.MethodGet, w.at("findings")+"?code=not_called", "").is(http.StatusOK, &list)
	if len(list.Items) != 1 || list.Items[0].Name != "a" || list.Items[0].Severity != "info" {
		t.Errorf("found %+v", list.Items)
	}
}
