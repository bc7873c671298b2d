package httpapi

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

func (w *world) limit(name store.LimitName, most int64) {
	w.t.Helper()
	must(w.t, w.store.SetLimits(w.t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{name: &most}))
}

// isLimit checks a problem that tells a limit.
func (a answer) isLimit(status int, code string, what store.LimitName, limit, used int64, words string) {
	a.t.Helper()
	p := a.isProblem(status, code, "")
	if string(deref(p.What)) != string(what) || deref(p.Limit) != limit || p.Used == nil || *p.Used != used || !strings.Contains(deref(p.Detail), words) {
		a.t.Errorf("%s: %s, want %s %d of %d: %s", a.what, a.body, what, used, limit, words)
	}
}

func TestT09_LimitsAreToldInWords(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tenant := "/v1/tenants/" + w.tenant.Slug
	for _, c := range []struct {
		name         store.LimitName
		limit, used  int64
		method, path string
		body         string
		words        string
	}{
		{store.LimitFleets, 1, 1, http.MethodPost, tenant + "/fleets", `{"name": "more"}`,
			"the tenant has 1 fleets, this would make it 2, and 1 is the limit: delete one, or ask the operator for a higher limit"},
		{store.LimitTokens, 1, 1, http.MethodPost, tenant + "/tokens", `{"name": "more", "role": "viewer"}`, "the tenant has 1 API tokens, this would make it 2, and 1 is the limit: revoke one"},
		{store.LimitCredentials, 0, 0, http.MethodPost, w.at("credentials"), `{"nodes": "*"}`, "the fleet has 0 credentials, this would make it 1, and 0 is the limit: revoke one"},
		{store.LimitResources, 1, 1, http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b")), "the fleet has 1 resources, this would make it 2, and 1 is the limit: delete some"},
		{store.LimitHistoryBytes, 1, 274, http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "2s")), "wait until the oldest revisions are dropped"},
		{store.LimitFleetBytes, 18, 18, http.MethodPut, w.at("resources", "clusters", "c"), asDocument(cluster("c")), "bytes of resources, this would make it"},
	} {
		if c.name == store.LimitResources {
			w.put("a")
			u, err := w.store.FleetUsage(t.Context(), w.tenant.ID, w.fleet.ID)
			must(t, err)
			if u.Bytes != 18 {
				t.Fatalf("the test's cluster is of %d bytes", u.Bytes)
			}
		}
		w.limit(c.name, c.limit)
		before := w.everything()
		w.do(c.method, c.path, c.body).isLimit(409, "limit_reached", c.name, c.limit, c.used, c.words)
		if after := w.everything(); after != before {
			t.Errorf("%s: a refused request changed something:\n%s\n%s", c.name, before, after)
		}
		must(t, w.store.SetLimits(t.Context(), w.tenant.ID, tester, map[store.LimitName]*int64{c.name: nil}))
	}
	w.limit(store.LimitDeletedFleets, 0)
	w.do(http.MethodDelete, w.at(), "").is(204, nil)
	w.do(http.MethodPost, tenant+"/fleets", `{"name": "more"}`).isLimit(409, "limit_reached", store.LimitDeletedFleets, 0, 1,
		"the tenant has 1 deleted fleets whose data is kept, and 0 is the limit: wait")
}

// numbersIn are the limits that an answer tells, as "used/limit", with a "!" where the
// operator has set it.
func numbersIn(items []oapi.Limit) map[string]string {
	out := map[string]string{}
	for _, l := range items {
		s := "?"
		if l.Used != nil {
			s = fmt.Sprint(*l.Used)
		}
		s += fmt.Sprint("/", l.Limit)
		if l.Overridden {
			s += "!"
		}
		out[string(l.What)] = s
	}
	return out
}

func (w *world) wants(what string, got map[string]string, want map[string]string) {
	w.t.Helper()
	for name, s := range want {
		if got[name] != s {
			w.t.Errorf("%s: %s is %q, want %q", what, name, got[name], s)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tenant, operator := "/v1/tenants/"+w.tenant.Slug, w.operator()
	other := w.newFleet(w.tenant, "other")
	for _, slow := range []store.LimitName{store.LimitWrites, store.LimitTokenWrites, store.LimitReads} { // so that no bucket fills up meanwhile
		w.limit(slow, 6)
	}
	w.put("a")
	w.put("b")
	w.do(http.MethodPost, w.at("credentials"), `{"nodes": "*"}`).is(201, nil)
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1, Detail: strings.Repeat("x", 1000)})
	w.limit(store.LimitFleets, 2)
	var u oapi.Usage
	w.do(http.MethodGet, tenant+"/usage?limit=1", "").is(200, &u)
	if len(u.Items) != len(store.LimitNames()) || len(u.Fleets) != 1 || u.NextCursor == nil {
		t.Fatalf("%+v", u)
	}
	w.wants("of the tenant", numbersIn(u.Items), map[string]string{
		"fleets": "2/2!", "deleted_fleets": "0/100", "tokens": "1/1000", "credentials": "1/1000", "resources": "2/50000", "fleet_bytes": "36/67108864", "history_bytes": "548/1073741824",
		"event_bytes": "?/16777216", "refusal_bytes": "?/67108864", "writes_per_minute": "3/6!", "token_writes_per_minute": "3/6!", "reads_per_minute": "1/6!", "waiting_polls": "0/1000",
	})
	if f := u.Fleets[0]; f != (oapi.FleetNumbers{Fleet: "edge", Resources: 2, FleetBytes: 36, HistoryBytes: 548, Credentials: 1}) {
		t.Errorf("%+v", f)
	}
	var rest oapi.Usage
	w.do(http.MethodGet, tenant+"/usage?limit=1&cursor="+*u.NextCursor, "").is(200, &rest)
	if len(rest.Fleets) != 1 || rest.Fleets[0] != (oapi.FleetNumbers{Fleet: "other"}) || rest.NextCursor != nil {
		t.Errorf("%+v", rest.Fleets)
	}
	w.do(http.MethodGet, tenant+"/usage?cursor=x", "").isProblem(400, "invalid_request", "?cursor")

	var f oapi.FleetUsage
	w.do(http.MethodGet, w.at("usage"), "").is(200, &f)
	got := numbersIn(f.Items)
	w.wants("of the fleet", got, map[string]string{"credentials": "1/1000", "resources": "2/50000", "fleet_bytes": "36/67108864", "fleets": ""})
	if e, r := got["event_bytes"], got["refusal_bytes"]; len(got) != 6 || e < "1" || r < "1" || e[0] == '?' || r[0] == '?' || e[0] == '0' || r[0] == '0' {
		t.Errorf("%v", got)
	}

	ci := w.token(w.tenant, auth.RoleCI, &other.ID)
	var own oapi.Usage
	w.do(http.MethodGet, tenant+"/usage", "", "Authorization", "Bearer "+ci).is(200, &own)
	if len(own.Fleets) != 1 || own.Fleets[0].Fleet != "other" {
		t.Errorf("%+v", own.Fleets)
	}
	w.wants("of a bound token", numbersIn(own.Items), map[string]string{"resources": "0/50000", "fleets": "", "tokens": "", "writes_per_minute": ""})
	w.do(http.MethodGet, w.at("usage"), "", "Authorization", "Bearer "+ci).isProblem(404, "not_found", "")

	var all oapi.Usage
	w.do(http.MethodGet, tenant+"/usage", "", "Authorization", "Bearer "+operator).is(200, &all)
	if len(all.Fleets) != 0 || numbersIn(all.Items)["resources"] != "2/50000" {
		t.Errorf("an operator is told %+v", all)
	}
}

func TestOperatorSetsLimits(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path, operator := "/v1/tenants/"+w.tenant.Slug+"/limits", []string{"Authorization", "Bearer " + w.operator()}
	var out oapi.Limits
	w.do(http.MethodPatch, path, `{"resources": 1, "tokens": 5}`, operator...).is(200, &out)
	w.wants("set", numbersIn(out.Items), map[string]string{"resources": "?/1!", "tokens": "?/5!", "fleets": "?/100"})
	w.put("a")
	w.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b"))).isLimit(409, "limit_reached", store.LimitResources, 1, 1, "")
	for body, pointer := range map[string]string{`{"x/y": 1}`: "/x~1y", `{"tokens": -1}`: "/tokens", `{"tokens": 1.5}`: "/tokens", `{"tokens": 9007199254740992}`: "/tokens", `{"tokens": "5"}`: "/tokens", `{}`: ""} {
		w.do(http.MethodPatch, path, body, operator...).isProblem(400, "invalid_request", pointer)
	}
	w.do(http.MethodPatch, path, `{"resources": null}`, operator...).is(200, nil)
	w.do(http.MethodGet, path, "", operator...).is(200, &out)
	w.wants("reset", numbersIn(out.Items), map[string]string{"resources": "?/50000", "tokens": "?/5!"})
	w.put("b")
}

// T08, T44: who asks too fast is told to wait; neither another token of the tenant nor
// another tenant is held up, and reads are apart from writes.
func TestT08_RequestsArePaced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limit(store.LimitTokenWrites, 3)
	w.limit(store.LimitWrites, 5)
	second := []string{"Authorization", "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)}
	write := func(headers ...string) answer {
		return w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(cluster("a")), headers...)
	}
	for range 3 {
		write().isWritten(nil)
	}
	a := write()
	a.isLimit(429, "rate_limited", store.LimitTokenWrites, 3, 3, "the token has made the 3 writes that one minute allows on this server: send the request again after")
	for name, want := range map[string]string{"Retry-After": "20", "RateLimit-Policy": `"token_writes_per_minute";q=3;w=60`, "RateLimit": `"token_writes_per_minute";r=0;t=20`} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	w.do(http.MethodGet, w.at("resources"), "").is(200, nil)
	write(second...).is(200, nil) // what the first was refused took nothing from the tenant
	write(second...).is(200, nil)
	write(second...).isLimit(429, "rate_limited", store.LimitWrites, 5, 5, "the tenant has made the 5 writes")

	globex := w.newTenant("globex")
	w.newFleet(globex, "edge")
	stranger := []string{"Authorization", "Bearer " + w.token(globex, auth.RoleOwner, nil)}
	for range 10 {
		w.do(http.MethodPut, "/v1/tenants/globex/fleets/edge/resources/clusters/a", asDocument(cluster("a")), stranger...).isWritten(nil)
	}
}

// A renewal of a lease is paced as a read is, and who is refused is told so. It is no write.
func TestRenewalsArePaced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	lease, err := w.store.TakeEndpointLease(t.Context(), w.tenant.ID, w.fleet.ID, tester, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: time.Hour})
	must(t, err)
	renew := func() answer { return w.do(http.MethodPost, w.at("leases", lease.ID.String()), "") }
	w.limit(store.LimitTokenWrites, 0)
	w.limit(store.LimitTokenReads, 3)
	for range 3 {
		renew().is(200, nil)
	}
	renew().isLimit(429, "rate_limited", store.LimitTokenReads, 3, 3, "the token has made the 3 reads and renewals of leases that one minute allows")
}

func TestT08_WaitingPollsAreCounted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.limit(store.LimitTokenWaitingPolls, 2)
	w.limit(store.LimitWaitingPolls, 3)
	w.settledNode(w.fleet.ID, "n", 0)
	w.put("a")
	path, second := w.at("revisions", "1", "receipt"), []string{"Authorization", "Bearer " + w.token(w.tenant, auth.RoleViewer, nil)}
	answers := make(chan answer, 3)
	wait := func(headers ...string) {
		go func() { answers <- w.do(http.MethodGet, path+"?wait=60s", "", headers...) }()
	}
	waiting := func(n int64) {
		t.Helper()
		for got, end := "", time.Now().Add(time.Minute); got != fmt.Sprint(n, "/3!"); {
			var u oapi.Usage
			w.do(http.MethodGet, "/v1/tenants/"+w.tenant.Slug+"/usage", "").is(200, &u)
			if got = numbersIn(u.Items)["waiting_polls"]; time.Now().After(end) {
				t.Fatalf("%s wait, want %d", got, n)
			}
		}
	}
	wait()
	wait()
	waiting(2)
	a := w.do(http.MethodGet, path+"?wait=60s", "")
	a.isLimit(429, "too_many_waiting", store.LimitTokenWaitingPolls, 2, 2, "the token has 2 requests that wait on this server, which is the limit: let one end, or ask without wait")
	if a.header.Get("Retry-After") != "5" {
		t.Error(a.header)
	}
	w.do(http.MethodGet, path, "").is(200, nil)
	wait(second...)
	waiting(3)
	w.do(http.MethodGet, path+"?wait=60s", "", second...).isLimit(429, "too_many_waiting", store.LimitWaitingPolls, 3, 3, "the tenant has 3 requests")
	w.api.Drain()
	for range 3 {
		(<-answers).is(200, nil)
	}
	waiting(0)
	if n := w.api.polls.Len(); n != 0 {
		t.Errorf("%d are remembered", n)
	}
}

// docs/limits.md has a row for each limit, with its default.
func TestLimitsAreDocumented(t *testing.T) {
	t.Parallel()
	w := setup(t)
	text, err := os.ReadFile("../../docs/limits.md")
	must(t, err)
	list, err := w.store.Limits(t.Context(), w.tenant.ID)
	must(t, err)
	for _, l := range list {
		if row := fmt.Sprintf("| `%s` | %d |", l.Name, l.Default); !strings.Contains(string(text), row) {
			t.Errorf("docs/limits.md has no row %q", row)
		}
		if words[l.Name].of == "" {
			t.Errorf("%s has no words", l.Name)
		}
	}
}
