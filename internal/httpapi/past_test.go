package httpapi

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// lived makes four revisions: two clusters and a secret, another timeout by an editor, a deletion, another key.
func (w *world) lived() {
	w.t.Helper()
	secret := func(s string) string {
		return element("secrets", "s", `{"name": "s", "generic_secret": {"secret": {"inline_string": "`+s+`"}}}`)
	}
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "a", cluster("a")), element("clusters", "b", cluster("b")), secret("hush"))).is(200, nil)
	editor := "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(clusterWith("a", "2s")), "Authorization", editor).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), `{"delete": [{"type": "clusters", "name": "b"}], "message": "b is gone"}`).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(secret("another"))).is(200, nil)
}

func TestListOfRevisions(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	w.refusingNode(w.fleet.ID, "n", fleet.Refusal{Type: fleet.Secret, Name: "s", Version: "v", Revision: 4})
	list := func(query string) (out oapi.RevisionList) {
		w.do(http.MethodGet, w.at("revisions")+query, "").is(200, &out)
		return out
	}
	var got [][]any
	for _, r := range list("?receipts=0").Items {
		got = append(got, []any{r.Revision, r.Kind, deref(r.Actor), deref(r.Message), r.Created, r.Updated, r.Deleted, r.Changed})
		if r.Receipt != nil {
			t.Errorf("a receipt that nobody asked for: %+v", r)
		}
	}
	want := [][]any{
		{int64(4), "apply", "owner", "", 0, 1, 0, 1}, {int64(3), "delete", "owner", "b is gone", 0, 0, 1, 1},
		{int64(2), "put", "editor", "", 0, 1, 0, 1}, {int64(1), "apply", "owner", "", 3, 0, 0, 3},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if one := list(""); one.Items[0].Receipt == nil || one.Items[1].Receipt != nil {
		t.Errorf("the newest receipt alone is told unless more is asked for: %+v", one.Items)
	}
	for _, r := range list("?receipts=4").Items {
		var receipt oapi.Receipt
		w.do(http.MethodGet, w.at("revisions", "1", "receipt"), "").is(200, nil)
		w.do(http.MethodGet, w.at("revisions", fleetRevision(r.Revision), "receipt"), "").is(200, &receipt)
		if string(receipt.State) != string(deref(r.Receipt)) {
			t.Errorf("the list says %q, the receipt %q", deref(r.Receipt), receipt.State)
		}
	}
	for query, want := range map[string]int{
		"?kind=delete": 1, "?actor=owner": 3, "?type=secrets": 2, "?type=clusters&name=b": 2, "?actor=editor&kind=apply": 0,
		"?since=2020-01-01T00:00:00Z": 4, "?until=2020-01-01T00:00:00Z": 0, "?since=2999-01-01T00:00:00Z": 0, "?until=2999-01-01T00:00:00Z": 4,
	} {
		if got := list(query); len(got.Items) != want || got.NextCursor != nil {
			t.Errorf("%s: %d items, want %d", query, len(got.Items), want)
		}
	}
	page := list("?limit=1&actor=owner")
	page = list("?limit=1&actor=owner&cursor=" + *page.NextCursor)
	if len(page.Items) != 1 || page.Items[0].Revision != 3 {
		t.Errorf("the second page is %+v", page)
	}
	for query, where := range map[string]string{"?kind=edit": "?kind", "?name=b": "?name", "?since=yesterday": "?since", "?type=cluster": "?type", "?who=me": "?who"} {
		w.do(http.MethodGet, w.at("revisions")+query, "").isProblem(400, "invalid_request", where)
	}
}

func fleetRevision(n int64) string { return string(rune('0' + n)) }

func TestLatestOfTheHistory(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, path := range []string{w.at("revisions", "latest"), w.at("revisions", "latest", "receipt"), w.at("revisions", "latest", "changes")} {
		w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")
	}
	w.lived()
	var rev oapi.Revision
	w.do(http.MethodGet, w.at("revisions", "latest"), "").is(200, &rev)
	var receipt oapi.Receipt
	w.do(http.MethodGet, w.at("revisions", "latest", "receipt"), "").is(200, &receipt)
	var changes oapi.Comparison
	w.do(http.MethodGet, w.at("revisions", "latest", "changes"), "").is(200, &changes)
	if rev.Revision != 4 || receipt.Revision != 4 || changes.To != 4 || changes.From != 3 {
		t.Errorf("%+v, %+v, %+v", rev, receipt, changes)
	}
	for _, bad := range []string{"newest", "01", "-1", "9999999999999999999"} {
		w.do(http.MethodGet, w.at("revisions", bad), "").isProblem(400, "invalid_request", "?revision")
	}
}

func TestChangesOfARevision(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	compare := func(path string) (out oapi.Comparison) {
		a := w.do(http.MethodGet, path, "").is(200, &out)
		if bytes.Contains(a.body, []byte("hush")) || bytes.Contains(a.body, []byte("another")) {
			t.Errorf("%s shows the secret: %s", path, a.body)
		}
		return out
	}
	second := compare(w.at("revisions", "2", "changes"))
	if len(second.Items) != 1 || second.Items[0].Action != oapi.Update || second.Items[0].Before.Revision != 1 || second.Items[0].After.Revision != 2 ||
		deref(second.Items[0].After.UpdatedBy) != "editor" {
		t.Fatalf("%+v", second)
	}
	if c := deref(second.Items[0].Changes); len(c) != 1 || c[0].Pointer != "/body/connect_timeout" || string(*c[0].Before) != `"1s"` || string(*c[0].After) != `"2s"` {
		t.Errorf("%+v", c)
	}
	if d := deref(second.Items[0].Diff); !strings.Contains(d, "--- clusters/a (revision 1)\n+++ clusters/a (revision 2)\n") || !strings.Contains(d, "-  connect_timeout: \"1s\"\n+  connect_timeout: \"2s\"\n") {
		t.Error(d)
	}
	words := func(c oapi.Comparison) (out []string) {
		for _, d := range c.Items {
			out = append(out, string(d.Action)+" "+d.Name)
		}
		return out
	}
	for path, want := range map[string][]string{
		w.at("revisions", "1", "changes"):                   {"create a", "create b", "create s"},
		w.at("revisions", "3", "changes"):                   {"delete b"},
		w.at("compare") + "?from=1":                         {"update a", "delete b", "update s"},
		w.at("compare") + "?from=1&to=latest":               {"update a", "delete b", "update s"},
		w.at("compare") + "?from=latest&to=1":               {"update a", "create b", "update s"},
		w.at("compare") + "?from=0&to=1":                    {"create a", "create b", "create s"},
		w.at("compare") + "?from=2&to=2":                    nil,
		w.at("compare") + "?from=1&type=clusters":           {"update a", "delete b"},
		w.at("compare") + "?from=1&type=clusters&name=b":    {"delete b"},
		w.at("revisions", "1", "changes") + "?type=secrets": {"create s"},
	} {
		if d := cmp.Diff(want, words(compare(path))); d != "" {
			t.Error(path, d)
		}
	}
	key := compare(w.at("revisions", "4", "changes")).Items[0]
	if !deref(key.Hidden) || len(deref(key.Changes)) != 1 || deref(key.Changes)[0].Pointer != "/version" {
		t.Errorf("of another key: %+v, %s", key, deref(key.Diff))
	}
	// Page by page; what comes meanwhile is not of it.
	var all []string
	cursor := ""
	for range 3 {
		page := compare(w.at("compare") + "?from=1&limit=1" + cursor)
		all = append(all, words(page)...)
		if page.To != 4 {
			t.Errorf("the page is of %d", page.To)
		}
		if page.NextCursor != nil {
			cursor = "&cursor=" + *page.NextCursor
		}
		w.put("c")
	}
	if d := cmp.Diff([]string{"update a", "delete b", "update s"}, all); d != "" {
		t.Error(d)
	}
	w.do(http.MethodGet, w.at("compare"), "").isProblem(400, "invalid_request", "?from")
	w.do(http.MethodGet, w.at("compare")+"?from=9", "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, w.at("compare")+"?from=1&cursor=x", "").isProblem(400, "invalid_request", "?cursor")
	w.do(http.MethodGet, w.at("revisions", "0", "changes"), "").isProblem(404, "not_found", "")
}

func TestResourcesAsTheyWere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	names := func(query string) (out []string) {
		var list oapi.ResourceList
		a := w.do(http.MethodGet, w.at("resources")+query, "").is(200, &list)
		if bytes.Contains(a.body, []byte("hush")) {
			t.Errorf("the secret is shown: %s", a.body)
		}
		for _, r := range list.Items {
			out = append(out, r.Name)
		}
		return out
	}
	for query, want := range map[string][]string{"?revision=0": nil, "?revision=1": {"a", "b", "s"}, "?revision=latest": {"a", "s"}, "?at=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): {"a", "s"}, "?at=2020-01-01T00:00:00Z": nil} {
		if d := cmp.Diff(want, names(query)); d != "" {
			t.Error(query, d)
		}
	}
	var first, second oapi.ResourceList
	w.do(http.MethodGet, w.at("resources", "clusters")+"?revision=2&limit=1", "").is(200, &first)
	w.do(http.MethodGet, w.at("resources", "clusters")+"?revision=2&limit=1&cursor="+*first.NextCursor, "").is(200, &second)
	if len(second.Items) != 1 || second.Items[0].Name != "b" || second.NextCursor != nil {
		t.Errorf("the second page is %+v", second)
	}
	w.do(http.MethodGet, w.at("resources", "clusters")+"?revision=1&cursor="+*first.NextCursor, "").isProblem(400, "invalid_request", "?cursor")
	var a oapi.Resource
	w.do(http.MethodGet, w.at("resources", "clusters", "a")+"?revision=1", "").is(200, &a)
	if a.Revision != 1 || !bytes.Contains(*a.Body, []byte(`"1s"`)) || deref(a.UpdatedBy) != "owner" {
		t.Errorf("%+v", a)
	}
	if p := w.do(http.MethodGet, w.at("resources", "clusters", "b")+"?revision=3", "").isProblem(404, "not_found", ""); deref(p.Detail) != `the fleet had no clusters "b" at revision 3` {
		t.Error(deref(p.Detail))
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "b")+"?revision=2", "").is(200, nil)
	w.do(http.MethodGet, w.at("resources")+"?revision=1&at=2020-01-01T00:00:00Z", "").isProblem(400, "invalid_request", "?at")
	w.do(http.MethodGet, w.at("resources")+"?revision=5", "").isProblem(404, "not_found", "")

	var history oapi.ResourceHistory
	w.do(http.MethodGet, w.at("resources", "clusters", "b", "history"), "").is(200, &history)
	if len(history.Items) != 2 || history.Items[0].Action != oapi.Delete || history.Items[0].Etag != nil || deref(history.Items[0].Message) != "b is gone" ||
		deref(history.Items[0].Kind) != "delete" || history.Items[1].Action != oapi.Create || deref(history.Items[1].Actor) != "owner" {
		t.Errorf("%+v", history)
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "typo", "history"), "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, w.at("resources", "clusters", "a", "history")+"?limit=1", "").is(200, &history)
	after := *history.NextCursor
	history = oapi.ResourceHistory{}
	w.do(http.MethodGet, w.at("resources", "clusters", "a", "history")+"?limit=1&cursor="+after, "").is(200, &history)
	if len(history.Items) != 1 || history.Items[0].Revision != 1 || history.NextCursor != nil {
		t.Errorf("%+v", history)
	}
}

// What is forgotten says so, and names what can be had.
func TestWhatIsForgotten(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.lived()
	must(t, w.store.Compact(t.Context(), w.tenant.ID, w.fleet.ID, store.Floors{Tombstones: 3, History: 3}))
	for _, path := range []string{
		w.at("revisions", "3", "changes"), w.at("compare") + "?from=2", w.at("compare") + "?from=4&to=1", w.at("resources") + "?revision=2",
		w.at("revisions", "2"), w.at("revisions", "1", "receipt"), w.at("resources", "clusters", "a") + "?revision=1", w.at("resources") + "?at=2020-01-01T00:00:00Z", w.at("resources", "clusters") + "?revision=0",
	} {
		if p := w.do(http.MethodGet, path, "").isProblem(410, "forgotten", ""); !strings.HasSuffix(deref(p.Detail), "whose content is kept is 3") {
			t.Errorf("%s: %s", path, deref(p.Detail))
		}
	}
	for _, path := range []string{w.at("rollback"), w.at("rollback", "plan")} {
		w.do(http.MethodPost, path, `{"revision": 2}`).isProblem(410, "forgotten", "")
		w.do(http.MethodPost, path, `{"revision": 99}`).isProblem(404, "not_found", "")
	}
	w.do(http.MethodGet, w.at("revisions", "99"), "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, w.at("revisions", "99", "receipt"), "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, w.at("revisions", "4", "changes"), "").is(200, nil)
	w.do(http.MethodGet, w.at("compare")+"?from=3", "").is(200, nil)
	w.do(http.MethodGet, w.at("resources")+"?revision=3", "").is(200, nil)
}
