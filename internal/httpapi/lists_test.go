package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// listed reads a list page by page, with limit items each, and returns that field of the items.
// between is called between pages.
func (w *world) listed(token, path, field string, limit int, between ...func()) (out []string) {
	w.t.Helper()
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	for cursor := ""; ; {
		var page struct {
			Items []map[string]any `json:"items"`
			Next  *string          `json:"next_cursor"`
		}
		w.do(http.MethodGet, fmt.Sprint(path, mark, "limit=", limit, cursor), "", "Authorization", "Bearer "+token).is(200, &page)
		if len(page.Items) > limit {
			w.t.Fatalf("%s: %d items", path, len(page.Items))
		}
		for _, item := range page.Items {
			out = append(out, fmt.Sprint(item[field]))
		}
		if page.Next == nil {
			return out
		}
		cursor = "&cursor=" + *page.Next
		if len(between) > 0 {
			between[0]()
			between = between[1:]
		}
	}
}

// lists checks what a list answers, whatever its pages hold.
func (w *world) lists(token, path, field string, want ...string) {
	w.t.Helper()
	for _, limit := range []int{1, 2, 500} {
		if got := w.listed(token, path, field, limit); !slices.Equal(got, want) {
			w.t.Errorf("%s by %d: %q, want %q", path, limit, got, want)
		}
	}
}

func TestResourcesAreFiltered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var parts []string
	for name, labels := range map[string]string{"a": `{"team": "shop", "tier": "1"}`, "a/b": `{"team": "shop"}`, "a%": `{"team": "it"}`, "b": `{}`, "\U0010FFFF": `{}`, "\U0010FFFFz": `{}`, "\uD7FFx": `{}`, "\uE000": `{}`} {
		quoted, _ := json.Marshal(name)
		parts = append(parts, fmt.Sprintf(`{"type": "clusters", "name": %s, "labels": %s, "body": %s}`, quoted, labels, cluster(name)),
			fmt.Sprintf(`{"type": "endpoints", "name": %s, "body": {"cluster_name": %s}}`, quoted, quoted))
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+strings.Join(parts, ",")+`]}`).is(200, nil)
	all := []string{"a", "a%", "a/b", "b", "\uD7FFx", "\uE000", "\U0010FFFF", "\U0010FFFFz"}
	w.lists(w.owner, w.at("resources", "clusters"), "name", all...)
	w.lists(w.owner, w.at("resources"), "name", append(slices.Clone(all), all...)...)
	for prefix, want := range map[string][]string{"": all, "a": {"a", "a%", "a/b"}, "a/": {"a/b"}, "c": nil, "\U0010FFFF": {"\U0010FFFF", "\U0010FFFFz"}, "\uD7FF": {"\uD7FFx"}, "z": nil, "A": nil} {
		w.lists(w.owner, w.at("resources", "clusters")+"?prefix="+url.QueryEscape(prefix), "name", want...)
		w.lists(w.owner, w.at("resources")+"?prefix="+url.QueryEscape(prefix), "name", append(slices.Clone(want), want...)...)
	}
	w.lists(w.owner, w.at("resources")+"?label=team=shop", "name", "a", "a/b")
	w.lists(w.owner, w.at("resources")+"?label=team=shop&label=tier=1", "name", "a")
	w.lists(w.owner, w.at("resources")+"?label=team=shop&prefix=a/", "name", "a/b")
	w.lists(w.owner, w.at("resources")+"?label=team=", "name")
	for _, bad := range []string{"label=team", "label==x", "label=a=1&label=a=2", "label=a=%00", "prefix=%00", "prefix=" + strings.Repeat("x", 513), "bodies=maybe"} {
		w.do(http.MethodGet, w.at("resources")+"?"+bad, "").isProblem(400, "invalid_request", "?"+bad[:strings.IndexByte(bad, '=')])
	}

	var whole, bare oapi.ResourceList
	w.do(http.MethodGet, w.at("resources"), "").is(200, &whole)
	w.do(http.MethodGet, w.at("resources")+"?bodies=false", "").is(200, &bare)
	for i := range whole.Items {
		if whole.Items[i].Body == nil || bare.Items[i].Body != nil {
			t.Errorf("%+v, and without its body %+v", whole.Items[i], bare.Items[i])
		}
		whole.Items[i].Body = nil
	}
	if a, b := text2(whole), text2(bare); a != b {
		t.Errorf("with bodies %s\nwithout %s", a, b)
	}
}

func text2(v any) string { b, _ := json.Marshal(v); return string(b) }

func TestFleetsAndTenantsAreFiltered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	w.newFleet(w.tenant, "edge-2")
	w.newFleet(w.tenant, "shop")
	w.newTenant("acme-labs")
	w.newTenant("globex")
	fleets := "/v1/tenants/acme/fleets"
	w.lists(w.owner, fleets, "name", "edge", "edge-2", "shop")
	w.lists(w.owner, fleets+"?prefix=edge", "name", "edge", "edge-2")
	w.lists(w.owner, fleets+"?prefix=z", "name")
	ci := w.token(w.tenant, auth.RoleCI, &w.fleet.ID)
	w.lists(ci, fleets, "name", "edge")
	w.lists(ci, fleets+"?prefix=edg", "name", "edge")
	w.lists(ci, fleets+"?prefix=shop", "name")
	w.lists(operator, "/v1/tenants", "slug", "acme", "acme-labs", "globex")
	w.lists(operator, "/v1/tenants?prefix=acme", "slug", "acme", "acme-labs")
	w.lists(w.owner, "/v1/tenants?prefix=ac", "slug", "acme")
	w.lists(w.owner, "/v1/tenants?prefix=acme-", "slug")
}

func TestTokensAndCredentialsAreFiltered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	operator := w.operator()
	tokens := "/v1/tenants/acme/tokens"
	var made [3]oapi.TokenCreated
	for i := range made {
		w.do(http.MethodPost, tokens, fmt.Sprintf(`{"name": "deploy %d", "role": "viewer"}`, i)).is(201, &made[i])
	}
	w.do(http.MethodDelete, tokens+"/"+made[1].ApiToken.Id, "").is(204, nil)
	w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleEditor, Name: "old", ExpiresAt: time.Now().Add(-time.Minute)})
	w.lists(w.owner, tokens, "name", "old", "deploy 2", "deploy 1", "deploy 0", "owner")
	w.lists(w.owner, tokens+"?prefix=deploy", "name", "deploy 2", "deploy 1", "deploy 0")
	w.lists(w.owner, tokens+"?state=active", "name", "deploy 2", "deploy 0", "owner")
	w.lists(w.owner, tokens+"?state=revoked", "name", "deploy 1")
	w.lists(w.owner, tokens+"?state=expired", "name", "old")
	w.lists(w.owner, tokens+"?role=viewer&state=active", "name", "deploy 2", "deploy 0")
	w.lists(w.owner, tokens+"?role=admin", "name")

	var c [3]oapi.CredentialCreated
	for i := range c {
		w.do(http.MethodPost, w.at("credentials"), fmt.Sprintf(`{"nodes": "n%d"}`, i)).is(201, &c[i])
	}
	w.do(http.MethodDelete, w.at("credentials", c[0].Credential.Id), "").is(204, nil)
	w.lists(w.owner, w.at("credentials"), "nodes", "n2", "n1", "n0")
	w.lists(w.owner, w.at("credentials")+"?state=active", "nodes", "n2", "n1")
	w.lists(w.owner, w.at("credentials")+"?state=revoked", "nodes", "n0")
	// A cursor is the key of an item: what goes and comes meanwhile moves nothing.
	if got := w.listed(w.owner, w.at("credentials"), "nodes", 1, func() {
		w.do(http.MethodPost, w.at("credentials"), `{"nodes": "n3"}`).is(201, nil)
	}); !slices.Equal(got, []string{"n2", "n1", "n0"}) {
		t.Errorf("while one came: %q", got)
	}

	ops := "/v1/operator/tokens"
	var second oapi.OperatorTokenCreated
	w.do(http.MethodPost, ops, `{"name": "second"}`, "Authorization", "Bearer "+operator).is(201, &second)
	w.lists(operator, ops, "name", "second", "operator")
	w.do(http.MethodDelete, ops+"/"+second.OperatorToken.Id, "", "Authorization", "Bearer "+operator).is(204, nil)
	w.lists(operator, ops+"?state=active", "name", "operator")
	w.lists(operator, ops+"?prefix=sec", "name", "second")
	for _, path := range []string{tokens, w.at("credentials"), ops} {
		token := w.owner
		if path == ops {
			token = operator
		}
		for _, bad := range []string{"state=good", "limit=0", "cursor=x", "cursor=" + cursor{List: "nodes", Name: "n"}.String()} {
			w.do(http.MethodGet, path+"?"+bad, "", "Authorization", "Bearer "+token).isProblem(400, "invalid_request", "?"+bad[:strings.IndexByte(bad, '=')])
		}
	}
	w.do(http.MethodGet, w.at("credentials")+"?cursor="+cursor{List: "credentials", Name: "n"}.String(), "").isProblem(400, "invalid_request", "?cursor")
}

func TestNodesAreFiltered(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	for _, id := range []string{"edge-1", "edge-2", "shop-1"} {
		w.settledNode(w.fleet.ID, id, 1)
	}
	w.refusingNode(w.fleet.ID, "shop-2", fleet.Refusal{Type: fleet.Cluster, Name: "a", Version: "v", Revision: 1})
	gone := w.settledNode(w.fleet.ID, "edge-3", 1)
	gone.Nodes[0].Connected, gone.Nodes[0].Settled = false, new(fleet.Revision)
	must(t, w.nodes.Report(t.Context(), gone))
	path := w.at("nodes")
	w.lists(w.owner, path, "id", "edge-1", "edge-2", "edge-3", "shop-1", "shop-2")
	w.lists(w.owner, path+"?prefix=edge-", "id", "edge-1", "edge-2", "edge-3")
	w.lists(w.owner, path+"?state=live", "id", "edge-1", "edge-2", "shop-1")
	w.lists(w.owner, path+"?state=offline", "id", "edge-3")
	w.lists(w.owner, path+"?state=refusing", "id", "shop-2")
	w.lists(w.owner, path+"?state=live&prefix=shop", "id", "shop-1")
	for _, state := range []string{"live", "offline", "refusing"} {
		for _, got := range w.listed(w.owner, path+"?state="+state, "state", 500) {
			if got != state {
				t.Errorf("a node of state %s is listed as %s", got, state)
			}
		}
	}
	w.do(http.MethodGet, path+"?state=gone", "").isProblem(400, "invalid_request", "?state")
}

func TestFindingsAreFilteredAndPagedByKey(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.do(http.MethodPut, w.at("resources", "listeners", name), asDocument(listener(name, "route-"+name))).isWritten(nil)
	}
	w.do(http.MethodPut, w.at("resources", "clusters", "x"), asDocument(`{"name": "x"}`)).isWritten(nil)
	path := w.at("findings")
	w.lists(w.owner, path, "name", "a", "b", "c", "d", "x")
	w.lists(w.owner, path+"?type=listeners", "name", "a", "b", "c", "d")
	w.lists(w.owner, path+"?code=unreachable", "name", "x")
	w.lists(w.owner, path+"?name=b", "name", "b")
	w.lists(w.owner, path+"?severity=error&type=listeners&code=missing_reference&name=c", "name", "c")
	w.lists(w.owner, path+"?type=routes", "name")
	// What is put right on a page that was read moves nothing of the pages that were not.
	if got := w.listed(w.owner, path, "name", 2, func() {
		w.do(http.MethodPut, w.at("resources", "routes", "route-a"), asDocument(`{"name": "route-a"}`)).is(201, nil)
	}); !slices.Equal(got, []string{"a", "b", "c", "d", "x"}) {
		t.Errorf("while one was put right: %q", got)
	}
	w.lists(w.owner, path, "name", "b", "c", "d", "x")
	for _, bad := range []string{"code=none", "type=x", "severity=bad", "name=", "cursor=" + cursor{List: "findings", Name: "2"}.String()} {
		w.do(http.MethodGet, path+"?"+bad, "").isProblem(400, "invalid_request", "?"+bad[:strings.IndexByte(bad, '=')])
	}
}
