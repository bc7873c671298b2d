package httpapi

import (
	"net/http"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

func TestServersAreListed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := "Bearer " + w.operator()
	ask := func(query string) (list oapi.ServerList) {
		t.Helper()
		w.do(http.MethodGet, "/v1/operator/servers"+query, "", "Authorization", operator).is(200, &list)
		return list
	}
	if got := ask(""); got.Items == nil || len(got.Items) != 0 {
		t.Errorf("before there is one: %+v", got)
	}
	load := store.ServerLoad{Version: "v1.2.3", Streams: 7, Fleets: 2, Behind: 1500 * time.Millisecond}
	stopped, quiet, busy := fleet.ServerID{1}, fleet.ServerID{2}, fleet.ServerID{3}
	for _, id := range []fleet.ServerID{stopped, busy} {
		_, err := w.nodes.LeaseWith(t.Context(), id, "xds-"+id.String()[:1], time.Minute, load)
		must(t, err)
	}
	_, err := w.nodes.Lease(t.Context(), quiet, "old", time.Minute)
	must(t, err)
	must(t, w.nodes.Release(t.Context(), stopped))
	got := ask("").Items
	if len(got) != 3 || got[0].Id != busy.String() || got[1].Id != quiet.String() || got[2].Id != stopped.String() {
		t.Fatalf("%+v", got)
	}
	x := got[0]
	if x.Name != "xds-0" || x.State != oapi.ServerStateLive || *x.Version != "v1.2.3" || *x.Streams != 7 || *x.Fleets != 2 || *x.LagMs != 1500 || time.Since(x.SeenAt) > time.Minute || x.StartedAt.After(x.SeenAt) {
		t.Errorf("%+v", x)
	}
	if x := got[1]; x.State != oapi.ServerStateLive || x.Version != nil || x.Streams != nil || x.LagMs != nil {
		t.Errorf("one that tells nothing: %+v", x)
	}
	if x := got[2]; x.State != oapi.ServerStateGone || *x.Version != "v1.2.3" || x.Streams != nil || x.Fleets != nil || x.LagMs != nil {
		t.Errorf("one that has stopped: %+v", x)
	}
	if live, gone := ask("?state=live").Items, ask("?state=gone").Items; len(live) != 2 || len(gone) != 1 || gone[0].Id != stopped.String() {
		t.Errorf("live %+v, gone %+v", live, gone)
	}
	first := ask("?limit=2")
	if rest := ask("?cursor=" + *first.NextCursor); len(first.Items) != 2 || len(rest.Items) != 1 || rest.Items[0].Id != stopped.String() || rest.NextCursor != nil {
		t.Errorf("%+v, then %+v", first, rest)
	}
	w.do(http.MethodGet, "/v1/operator/servers?state=dead", "", "Authorization", operator).isProblem(400, "invalid_request", "?state")
	w.do(http.MethodGet, "/v1/operator/servers?cursor=x", "", "Authorization", operator).isProblem(400, "invalid_request", "?cursor")
}
