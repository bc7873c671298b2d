package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

func (w *world) lease(body string) oapi.Lease {
	w.t.Helper()
	var l oapi.Lease
	w.do(http.MethodPost, w.at("leases"), body).is(http.StatusCreated, &l)
	return l
}

// told is what a list tells of each endpoint.
func (w *world) told(cluster string) []string {
	w.t.Helper()
	var out []string
	path := w.at("endpoints", cluster) + "?limit=2"
	for cursor := ""; ; {
		var list oapi.EndpointList
		w.do(http.MethodGet, path+cursor, "").is(http.StatusOK, &list)
		for _, e := range list.Items {
			l := deref(e.Locality)
			out = append(out, fmt.Sprintf("%s %s/%s/%s %d %s %v %t", e.Address, deref(l.Region), deref(l.Zone), deref(l.SubZone), e.Weight, e.Health, deref(e.Metadata), e.Lease != nil))
		}
		if list.NextCursor == nil {
			return out
		}
		cursor = "&cursor=" + *list.NextCursor
	}
}

// TestWhoRemovedEndpointsIsInTheAudit: once in an hour with a number, however many requests there are, and of how many clusters.
func TestWhoRemovedEndpointsIsInTheAudit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	ci := []string{"Authorization", "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)}
	for _, cluster := range []string{"a", "b"} {
		w.do(http.MethodPost, w.at("endpoints", cluster), `{"set": [{"address": "10.0.0.7:80"}, {"address": "10.0.0.8:80"}, {"address": "10.0.0.9:80"}]}`, ci...).is(200, nil)
		w.do(http.MethodPost, w.at("endpoints", cluster), `{"remove": ["10.0.0.7:80", "10.0.0.8:80"]}`, ci...).is(200, nil)
		w.do(http.MethodPost, w.at("endpoints", cluster), `{"remove": ["10.0.0.7:80"]}`, ci...).is(200, nil) // is not there
		w.do(http.MethodDelete, w.at("endpoints", cluster, "-", "10.0.0.9:80"), "", ci...).is(200, nil)
	}
	must(t, w.api.RecordDenials(t.Context(), false))
	var list oapi.AuditList
	w.do(http.MethodGet, "/v1/tenants/acme/audit?kind="+endpointsRemove, "").is(200, &list)
	got := map[string]float64{}
	for _, e := range list.Items {
		got[e.Object] = (*e.Detail)["requests"].(float64)
		if e.By.Name != "editor" || deref(e.Fleet) != "edge" || deref(e.Address) != "127.0.0.1" {
			t.Errorf("%+v", e)
		}
	}
	if d := cmp.Diff(map[string]float64{"writeEndpoints": 2, "deleteEndpoint": 2}, got); d != "" {
		t.Error(d)
	}
}

// TestOneHostIsOneEndpoint: in whatever spelling its address is sent. A row of before can have IPv4 within IPv6.
func TestOneHostIsOneEndpoint(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var r oapi.EndpointWritten
	for _, address := range []string{"10.0.0.7:80", "[::ffff:10.0.0.7]:80", "[::FFFF:a00:7]:080", "[2001:db8::1]:80", "[2001:0DB8:0:0::0001]:80"} {
		w.do(http.MethodPut, w.at("endpoints", "a", "-", address), `{}`).is(200, &r)
	}
	want := []string{"10.0.0.7:80 // 1 healthy map[] false", "[2001:db8::1]:80 // 1 healthy map[] false"}
	if d := cmp.Diff(want, w.told("a")); d != "" {
		t.Error(d)
	}
	w.do(http.MethodPost, w.at("endpoints", "a"), `{"set": [{"address": "10.0.0.7:80"}, {"address": "[::ffff:10.0.0.7]:80"}]}`).isProblem(400, "invalid_request", "/set/1/address")
	w.do(http.MethodPost, w.at("endpoints", "a"), `{"set": [{"address": "10.0.0.7:80"}], "remove": ["[::ffff:10.0.0.7]:80"]}`).isProblem(400, "invalid_request", "/remove/0")
	super := w.db.Connect(t, w.db.Owner)
	defer func() { _ = super.Close(context.Background()) }()
	_, err := super.Exec(t.Context(), `UPDATE endpoints SET address = '[::ffff:10.0.0.7]:80' WHERE address = '10.0.0.7:80'`)
	must(t, err)
	w.do(http.MethodPost, w.at("endpoints", "a"), `{"remove": ["[::ffff:10.0.0.7]:80", "[2001:DB8::1]:80"]}`).is(200, &r)
	if got := w.told("a"); r.Removed != 2 || len(got) > 0 {
		t.Errorf("%d are removed, left are %q", r.Removed, got)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	l := w.lease(`{"ttl": "30s"}`)
	if l.Ttl != "30s" || l.KeepLast || time.Until(l.ExpiresAt) > 30*time.Second {
		t.Errorf("the lease is %+v", l)
	}
	var r oapi.EndpointWritten
	w.do(http.MethodPut, w.at("endpoints", "marked", "-", "10.0.0.7:80"), `{"metadata": {"a": {"b": "`+strings.Repeat("<&>", 1300)+`"}}}`).is(200, &r)
	w.do(http.MethodPut, w.at("endpoints", "shop/a", "eu-west-1/eu-west-1a", "10.0.0.7:80"), `{"weight": 3, "health": "draining", "metadata": {"envoy.lb": {"v": "2"}}, "lease": "`+l.Id+`"}`).is(200, &r)
	w.do(http.MethodPut, w.at("endpoints", "shop/a", "-", "[2001:DB8::0:7]:80"), `{}`).is(200, &r)
	w.do(http.MethodPost, w.at("endpoints", "shop/a"), `{"set": [{"address": "10.0.0.8:80", "locality": {"zone": "b"}}, {"address": "unix:/run/a.sock"}]}`).is(200, &r)
	if r.Set != 2 {
		t.Errorf("the bulk wrote %+v", r)
	}
	w.do(http.MethodGet, w.at("resources", "endpoints", "shop/a"), "").isProblem(404, "not_found", "")
	want := []string{"10.0.0.7:80 eu-west-1/eu-west-1a/ 3 draining map[envoy.lb:map[v:2]] true", "10.0.0.8:80 /b/ 1 healthy map[] false", "[2001:db8::7]:80 // 1 healthy map[] false", "unix:/run/a.sock // 1 healthy map[] false"}
	if d := cmp.Diff(want, w.told("shop/a")); d != "" {
		t.Error(d)
	}

	// In another locality it is moved, and from another one it is not removed.
	w.do(http.MethodPut, w.at("endpoints", "shop/a", "us", "10.0.0.7:80"), `{}`).is(200, &r)
	w.do(http.MethodDelete, w.at("endpoints", "shop/a", "eu-west-1/eu-west-1a", "10.0.0.7:80"), "").is(200, &r)
	if r.Removed != 0 {
		t.Error("it was removed from a locality where it is not")
	}
	w.do(http.MethodDelete, w.at("endpoints", "shop/a", "us", "10.0.0.7:80"), "").is(200, &r)
	w.do(http.MethodPost, w.at("endpoints", "shop/a"), `{"remove": ["unix:/run/a.sock", "10.0.0.8:80", "10.0.0.9:80"]}`).is(200, &r)
	if r.Removed != 2 {
		t.Errorf("the bulk removed %+v", r)
	}
	if d := cmp.Diff(want[2:3], w.told("shop/a")); d != "" {
		t.Error(d)
	}

	w.do(http.MethodPut, w.at("endpoints", "shop/a", "-", "10.0.0.1:80"), `{"lease": "`+l.Id+`"}`).is(200, &r)
	var again oapi.Lease
	w.do(http.MethodPost, w.at("leases", l.Id), "").is(200, &again)
	if again.ExpiresAt.Before(l.ExpiresAt) {
		t.Errorf("a renewal brought the end from %v to %v", l.ExpiresAt, again.ExpiresAt)
	}
	w.do(http.MethodDelete, w.at("leases", l.Id), "").is(204, nil)
	if d := cmp.Diff(want[2:3], w.told("shop/a")); d != "" {
		t.Error(d)
	}
	for _, id := range []string{l.Id, "x"} {
		if p := w.do(http.MethodPost, w.at("leases", id), "").isProblem(404, "not_found", ""); deref(p.Missing) != oapi.MissingLease {
			t.Errorf("what is missing is %v", p.Missing)
		}
		w.do(http.MethodDelete, w.at("leases", id), "").isProblem(404, "not_found", "")
	}
	// A lease of another fleet is nowhere.
	other := w.newFleet(w.tenant, "other")
	foreign, err := w.store.TakeEndpointLease(t.Context(), w.tenant.ID, other.ID, tester, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: time.Minute})
	must(t, err)
	w.do(http.MethodPost, w.at("leases", foreign.ID.String()), "").isProblem(404, "not_found", "")
	w.do(http.MethodPut, w.at("endpoints", "a", "-", "10.0.0.1:80"), `{"lease": "`+foreign.ID.String()+`"}`).isProblem(409, "lease_ended", "/lease")
}

func TestEndpointsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	gone := w.lease(`{"ttl": "5s"}`)
	w.do(http.MethodDelete, w.at("leases", gone.Id), "").is(204, nil)
	bulk := func(items string) (string, string) {
		return w.at("endpoints", "a"), `{"set": [{"address": "10.0.0.1:80"}, ` + items + `]}`
	}
	type refusal struct {
		status      int
		code, where string
	}
	for _, c := range []struct {
		method, path, body string
		want               refusal
	}{
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1"), body: `{}`, want: refusal{400, "invalid_request", "?address"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "example.com:80"), body: `{}`, want: refusal{400, "invalid_request", "?address"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "a/b/c/d", "10.0.0.1:80"), body: `{}`, want: refusal{400, "invalid_request", "?locality"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", strings.Repeat("r", 129), "10.0.0.1:80"), body: `{}`, want: refusal{400, "invalid_request", "?locality"}},
		{method: http.MethodDelete, path: w.at("endpoints", "a", "/", "10.0.0.1:80"), want: refusal{400, "invalid_request", "?locality"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"weight": 0}`, want: refusal{400, "invalid_request", "/weight"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"health": "sick"}`, want: refusal{400, "invalid_request", "/health"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"lease": "x"}`, want: refusal{400, "invalid_request", "/lease"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"lease": "` + gone.Id + `"}`, want: refusal{409, "lease_ended", "/lease"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"envoy.lb": 7}}`, want: refusal{400, "invalid_request", "/metadata/envoy.lb"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"envoy.lb": {"x": "` + strings.Repeat("y", 4096) + `"}}}`, want: refusal{400, "invalid_request", "/metadata"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"": {"x": 1}}}`, want: refusal{422, "invalid_resource", "/metadata/"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"a": {"b": ["c", {"d": "e\u0000"}]}}}`, want: refusal{400, "invalid_request", "/metadata/a"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"a": {"b\u0000": 1}}}`, want: refusal{400, "invalid_request", "/metadata/a"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"a~/\u0000": {}}}`, want: refusal{400, "invalid_request", "/metadata/a~0~1\x00"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"metadata": {"a": {"b": [1, {"c/d": 1e400}]}}}`, want: refusal{400, "invalid_request", "/metadata/a/b/1/c~1d"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"weight": 1e2}`, want: refusal{400, "invalid_request", "/weight"}},
		{method: http.MethodPost, path: w.at("endpoints", "a"), body: `{"set": [{"address": "10.0.0.1:80", "weight": 2}, {"address": "10.0.0.2:80", "metadata": {"a": {"b": 2.0}}, "weight": 2.0}]}`, want: refusal{400, "invalid_request", "/set/1/weight"}},
		{method: http.MethodPut, path: w.at("endpoints", "a", "-", "10.0.0.1:80"), body: `{"heath": "healthy"}`, want: refusal{400, "invalid_request", "/heath"}},
		{method: http.MethodPost, path: w.at("leases"), body: `{"ttl": "1s"}`, want: refusal{400, "invalid_request", "/ttl"}},
		{method: http.MethodPost, path: w.at("leases"), body: `{"ttl": "25h"}`, want: refusal{400, "invalid_request", "/ttl"}},
		{method: http.MethodPost, path: w.at("leases"), body: `{}`, want: refusal{400, "invalid_request", "/ttl"}},
		{method: http.MethodPost, path: w.at("endpoints", "a"), body: `{"remove": ["10.0.0.1:80", "10.0.0.1:80"]}`, want: refusal{400, "invalid_request", "/remove/1"}},
		{method: http.MethodPost, path: w.at("endpoints", "a"), body: `{"set": [{"address": "10.0.0.1:80"}], "remove": ["10.0.0.1:80"]}`, want: refusal{400, "invalid_request", "/remove/0"}},
		{method: http.MethodPost, path: w.at("endpoints", "a"), body: `{"set": [` + strings.Repeat(`{"address": "10.0.0.1:80"},`, 1000) + `{"address": "10.0.0.2:80"}]}`, want: refusal{400, "invalid_request", "/set"}},
		{method: http.MethodPost, path: w.at("endpoints", strings.Repeat("é", 257)), body: `{}`, want: refusal{400, "invalid_request", "?cluster"}},
	} {
		w.do(c.method, c.path, c.body).isProblem(c.want.status, c.want.code, c.want.where)
	}
	for item, where := range map[string]string{
		`{"address": "10.0.0.2"}`: "/set/1/address", `{"address": "10.0.0.1:80"}`: "/set/1/address", `{"address": "10.0.0.2:80", "locality": {"region": "` + strings.Repeat("é", 65) + `"}}`: "/set/1/locality/region",
		`{"address": "10.0.0.2:80", "metadata": {"a": 7}}`: "/set/1/metadata/a", `{"address": "10.0.0.2:80", "lease": "` + gone.Id + `"}`: "/set/1/lease",
	} {
		path, body := bulk(item)
		status, code := 400, "invalid_request"
		if strings.HasSuffix(where, "lease") {
			status, code = 409, "lease_ended"
		}
		w.do(http.MethodPost, path, body).isProblem(status, code, where)
	}
	if got := w.told("a"); len(got) > 0 {
		t.Errorf("what was refused left %v", got)
	}

	// A cluster may have a mebibyte of them.
	var all strings.Builder
	for n := range 4 {
		all.Reset()
		for i := range 900 {
			fmt.Fprintf(&all, `,{"address": "10.%d.%d.%d:80", "metadata": {"x": {"y": "%s"}}}`, n, i/256, i%256, strings.Repeat("z", 400))
		}
		a := w.do(http.MethodPost, w.at("endpoints", "large"), `{"set": [`+all.String()[1:]+`]}`)
		if n < 2 {
			a.is(200, nil)
		} else {
			a.isProblem(409, "no_room", "")
		}
	}
}

// What a guard rule names is refused in an endpoint as in a document, and names the field.
func TestTheGuardLooksAtEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	editor := w.token(w.tenant, auth.RoleEditor, nil)
	as := []string{"Authorization", "Bearer " + editor}
	for address, where := range map[string]string{"169.254.169.254:80": "/set/0/address", "127.0.0.1:9901": "/set/0/address", "unix:/run/docker.sock": "/set/0/address"} {
		document := w.do(http.MethodPut, w.at("resources", "endpoints", "a"), asDocument(assignmentOf(t, "a", address)), as...)
		rows := w.do(http.MethodPost, w.at("endpoints", "a"), `{"set": [{"address": "`+address+`"}]}`, as...)
		if document.status != http.StatusForbidden {
			t.Errorf("a document with %s: %d %s", address, document.status, document.body)
		}
		var p, q oapi.Problem
		document.is(http.StatusForbidden, &p)
		rows.is(http.StatusForbidden, &q)
		if deref(q.Errors)[0].Code != deref(p.Errors)[0].Code || deref(deref(q.Errors)[0].Pointer) != where {
			t.Errorf("%s: of the document %s, of the endpoint %s", address, document.body, rows.body)
		}
		w.do(http.MethodPut, w.at("endpoints", "a", "-", address), `{}`, as...).isProblem(403, q.Code, "?address")
	}
	if got := w.told("a"); len(got) > 0 {
		t.Errorf("what was refused left %v", got)
	}
}

// Endpoints that no cluster of the fleet asks for are stored, and warned of.
func TestEndpointsThatNoClusterAsksFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	warned := func(path, method, body string) []oapi.FieldError {
		t.Helper()
		var r oapi.EndpointWritten
		w.do(method, path, body).is(http.StatusOK, &r)
		return deref(r.Warnings)
	}
	post := func(cluster string) []oapi.FieldError {
		return warned(w.at("endpoints", cluster), http.MethodPost, `{"set": [{"address": "10.0.0.1:80"}]}`)
	}
	cluster := "cluster"
	want := []oapi.FieldError{{Parameter: &cluster, Code: "unreachable", Detail: "no cluster of the fleet asks for endpoints/backnd, so they are not used: write a cluster of that name or service_name, " +
		"or list it in the fleet's static_clusters if it stands in the proxies' bootstrap"}}
	w.put("backend")
	if d := cmp.Diff(want, post("backnd")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, warned(w.at("endpoints", "backnd", "-", "10.0.0.2:80"), http.MethodPut, `{}`)); d != "" {
		t.Error(d)
	}
	if got := w.told("backnd"); len(got) != 2 {
		t.Errorf("what was warned of left %v", got)
	}
	if got := post("backend"); len(got) > 0 {
		t.Errorf("of a cluster's own endpoints: %v", got)
	}
	if got := warned(w.at("endpoints", "backnd"), http.MethodPost, `{"remove": ["10.0.0.1:80"]}`); len(got) > 0 {
		t.Errorf("of a removal: %v", got)
	}
	if got := warned(w.at("endpoints", "backnd", "-", "10.0.0.2:80"), http.MethodDelete, ""); len(got) > 0 {
		t.Errorf("of another: %v", got)
	}
	w.do(http.MethodPatch, w.at(), `{"static_clusters": ["backnd"], "private_clusters": ["ours"]}`).is(http.StatusOK, nil)
	for _, name := range []string{"backnd", "ours"} {
		if got := post(name); len(got) > 0 {
			t.Errorf("of %s, which stands in the bootstrap: %v", name, got)
		}
	}
}

func assignmentOf(t *testing.T, cluster, address string) string {
	t.Helper()
	body, err := resource.AssignmentOf(cluster, []resource.Endpoint{{Address: address, Weight: 1, Health: "healthy"}})
	must(t, err)
	return string(body)
}

// A cluster whose endpoints are data names something that is there, and what is held of them is a finding.
func TestFindingsOfEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	codes := func() (out []string) {
		t.Helper()
		var list oapi.FindingList
		w.do(http.MethodGet, w.at("findings"), "").is(http.StatusOK, &list)
		for _, f := range list.Items {
			out = append(out, string(f.Code))
		}
		return out
	}
	l := w.lease(`{"ttl": "5s", "keep_last": true}`)
	w.do(http.MethodPut, w.at("endpoints", "a", "-", "10.0.0.1:80"), `{"lease": "`+l.Id+`"}`).is(200, nil)
	if r := w.put("a"); r.Findings == nil || r.Findings.Warnings != 0 {
		t.Errorf("the write of its cluster is told %+v", r.Findings)
	}
	if r := w.put("b"); r.Findings == nil || r.Findings.Warnings != 1 {
		t.Errorf("the write of another cluster is told %+v", r.Findings)
	}
	if got, want := codes(), []string{"missing_reference"}; !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	super := w.db.Connect(t, w.db.Owner)
	defer func() { _ = super.Close(context.Background()) }()
	for _, sql := range []string{`UPDATE endpoint_leases SET expires_at = clock_timestamp() - interval '1 s', due_at = clock_timestamp() - interval '1 s'`,
		`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '1 s', recovered_at = clock_timestamp() - interval '1 day'`} {
		_, err := super.Exec(t.Context(), sql)
		must(t, err)
	}
	_, err := w.store.SweepEndpoints(t.Context())
	must(t, err)
	if got := codes(); !slices.Contains(got, "endpoints_held") {
		t.Errorf("found %q", got)
	}
	var list oapi.EndpointList
	w.do(http.MethodGet, w.at("endpoints", "a"), "").is(http.StatusOK, &list)
	if !deref(list.Items[0].Held) {
		t.Errorf("the endpoint is told as %+v", list.Items[0])
	}
}
