package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

func TestResourceIsWrittenReadAndDeleted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "backend")
	w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")

	var first, same, second, gone oapi.WriteResult
	tag := w.do(http.MethodPut, path, `{"labels": {"team": "shop"}, "description": "the backend", "ttl": "30s", "body": `+cluster("backend")+`}`).
		is(201, &first).header.Get("ETag")
	if first.Revision != 1 || first.Changed != 1 || len(first.Resources) != 1 || *first.Resources[0].Etag != tag || tag == "" {
		t.Fatalf("first write: %+v, ETag %s", first, tag)
	}
	var got oapi.Resource
	a := w.do(http.MethodGet, path, "").is(200, &got)
	if a.header.Get("ETag") != tag || got.Revision != 1 || got.Version != *first.Resources[0].Version ||
		(*got.Labels)["team"] != "shop" || *got.Ttl != "30s" || *got.UpdatedBy != "owner" || !strings.Contains(string(*got.Body), "eds_cluster_config") {
		t.Errorf("read back: %s, ETag %s", a.body, a.header.Get("ETag"))
	}
	w.do(http.MethodGet, path, "", "If-None-Match", tag).is(304, nil)

	w.do(http.MethodPut, path, string(a.body)).isWritten(&same) // what was read is what can be written
	if same.Revision != 1 || same.Changed != 0 {
		t.Errorf("its own answer, put back: %+v", same)
	}
	w.do(http.MethodPut, path, `{"labels": {"team": "shop"}, "description": "the backend", "ttl": "30s", "body": `+cluster("backend")+`}`).isWritten(&same)
	if same.Revision != 1 || same.Changed != 0 || *same.Resources[0].Etag != tag {
		t.Errorf("the same document again: %+v", same)
	}
	w.do(http.MethodPut, path, asDocument(clusterWith("backend", "2s")), "If-Match", tag).isWritten(&second)
	if second.Revision != 2 {
		t.Errorf("second write: %+v", second)
	}
	stale := w.do(http.MethodPut, path, asDocument(clusterWith("backend", "3s")), "If-Match", tag)
	stale.isProblem(412, "precondition_failed", "")
	if stale.header.Get("ETag") != *second.Resources[0].Etag {
		t.Errorf("the 412 carries ETag %q, want %q", stale.header.Get("ETag"), *second.Resources[0].Etag)
	}
	w.do(http.MethodPut, path, asDocument(cluster("backend")), "If-None-Match", "*").isProblem(412, "precondition_failed", "")
	w.do(http.MethodPut, path, asDocument(cluster("backend")), "If-None-Match", tag).isProblem(400, "invalid_request", "?If-None-Match")

	w.do(http.MethodDelete, path, "", "If-Match", tag).isProblem(412, "precondition_failed", "")
	w.do(http.MethodDelete, path, "").is(200, &gone)
	if gone.Revision != 3 || gone.Changed != 1 || gone.Resources[0].Deleted == nil {
		t.Errorf("delete: %+v", gone)
	}
	w.do(http.MethodDelete, path, "").is(200, &gone)
	if gone.Revision != 3 || gone.Changed != 0 {
		t.Errorf("delete what is not there: %+v", gone)
	}
	w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")
}

func TestPutTakesYAMLAndEnvoysOwnForm(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "backend")
	var out [3]oapi.WriteResult
	w.do(http.MethodPut, path, asDocument(cluster("backend"))).isWritten(&out[0])
	w.do(http.MethodPut, path, "body:\n  name: backend\n  type: EDS\n  connect_timeout: 1s\n  eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}\n",
		"Content-Type", "application/yaml; charset=utf-8").isWritten(&out[1])
	w.do(http.MethodPut, path, `{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", `+cluster("backend")[1:]).isWritten(&out[2])
	for i, o := range out {
		if o.Revision != 1 || *o.Resources[0].Version != *out[0].Resources[0].Version {
			t.Errorf("form %d: %+v", i, o)
		}
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("old")
	two := fmt.Sprintf(`{"type": "clusters", "name": "a", "body": %s}, {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", %s`, cluster("a"), cluster("b")[1:])
	bad := fmt.Sprintf(`{"resources": [%s, {"type": "clusters", "name": "c", "body": {"name": "c", "connect_timeout": "-1s"}}]}`, two)
	w.do(http.MethodPost, w.at("apply"), bad).isProblem(422, "invalid_resource", "/resources/2/body/connect_timeout")
	w.do(http.MethodGet, w.at("resources", "clusters", "a"), "").is(404, nil)

	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), `{"message": "move", "resources": [`+two+`], "delete": [{"type": "clusters", "name": "old"}]}`).is(200, &out)
	if out.Revision != 2 || out.Changed != 3 || len(out.Resources) != 3 {
		t.Errorf("apply: %+v", out)
	}
	var list oapi.ResourceList
	w.do(http.MethodGet, w.at("resources"), "").is(200, &list)
	if len(list.Items) != 2 || list.Items[0].Name != "a" || list.Items[1].Name != "b" {
		t.Errorf("after it: %+v", list)
	}
	var rev oapi.Revision
	w.do(http.MethodGet, w.at("revisions", "2"), "").is(200, &rev)
	if rev.Kind != "apply" || *rev.Message != "move" || *rev.Actor != "owner" || rev.Changed != 3 {
		t.Errorf("its revision: %+v", rev)
	}
}

func TestListsGoPageByPage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var parts []string
	for i := range 7 {
		parts = append(parts, fmt.Sprintf(`{"type": "clusters", "name": "c/%d", "body": %s}`, i, cluster(fmt.Sprintf("c/%d", i))))
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+strings.Join(parts, ",")+`]}`).is(200, nil)
	for _, list := range []string{w.at("resources"), w.at("resources", "clusters")} {
		var names []string
		for cursor, pages := "", 0; ; pages++ {
			var page oapi.ResourceList
			w.do(http.MethodGet, list+"?limit=3"+cursor, "").is(200, &page)
			for _, r := range page.Items {
				names = append(names, r.Name)
			}
			if page.NextCursor == nil {
				if pages != 2 {
					t.Errorf("%d more pages", pages)
				}
				break
			}
			cursor = "&cursor=" + *page.NextCursor
		}
		if got := strings.Join(names, " "); got != "c/0 c/1 c/2 c/3 c/4 c/5 c/6" {
			t.Errorf("%s: %s", list, got)
		}
	}
	var revisions oapi.RevisionList
	w.put("x")
	w.do(http.MethodGet, w.at("revisions")+"?limit=1", "").is(200, &revisions)
	if len(revisions.Items) != 1 || revisions.Items[0].Revision != 2 || revisions.NextCursor == nil {
		t.Fatalf("first page: %+v", revisions)
	}
	cursor := *revisions.NextCursor
	revisions = oapi.RevisionList{}
	w.do(http.MethodGet, w.at("revisions")+"?limit=1&cursor="+cursor, "").is(200, &revisions)
	if len(revisions.Items) != 1 || revisions.Items[0].Revision != 1 || revisions.NextCursor != nil {
		t.Errorf("second page: %+v", revisions)
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, list := range []string{"resources", "revisions", "nodes", "credentials"} {
		a := w.do(http.MethodGet, w.at(list), "").is(200, nil)
		if strings.TrimSpace(string(a.body)) != `{"items":[]}` {
			t.Errorf("%s: %s", list, a.body)
		}
	}
}

func TestRollbackRestoresTheOldVersions(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.put("backend")
	var second, back oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "clusters", "backend"), asDocument(clusterWith("backend", "9s"))).isWritten(&second)
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "message": "it was better"}`).is(200, &back)
	var now oapi.Resource
	tag := w.do(http.MethodGet, w.at("resources", "clusters", "backend"), "").is(200, &now).header.Get("ETag")
	if back.Revision != 3 || back.Changed != 1 || now.Version != *first.Resources[0].Version || tag == *first.Resources[0].Etag {
		t.Errorf("rollback %+v, now %+v, first %+v", back, now, first)
	}
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 99}`).isProblem(404, "not_found", "")
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 0}`).isProblem(400, "invalid_request", "/revision")
}

func TestIdempotencyKeyMakesRepeatsHarmless(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := `{"resources": [{"type": "clusters", "name": "a", "body": ` + cluster("a") + `}]}`
	var all sync.WaitGroup
	var revisions [20]int64
	for i := range revisions {
		all.Go(func() {
			var out oapi.WriteResult
			a := w.do(http.MethodPost, w.at("apply"), body, "Idempotency-Key", "deploy-1")
			if err := json.Unmarshal(a.body, &out); err != nil || a.status != 200 || out.Changed != 1 {
				t.Errorf("repeat %d: %d %s", i, a.status, a.body)
			}
			revisions[i] = out.Revision
		})
	}
	all.Wait()
	for _, r := range revisions {
		if r != 1 {
			t.Errorf("revisions %v", revisions)
			break
		}
	}
	other := strings.Replace(body, `"1s"`, `"2s"`, 1)
	w.do(http.MethodPost, w.at("apply"), other, "Idempotency-Key", "deploy-1").isProblem(422, "idempotency_key_reused", "?Idempotency-Key")
	var next oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), other, "Idempotency-Key", "deploy-2").is(200, &next)
	if next.Revision != 2 {
		t.Errorf("another key: %+v", next)
	}
	var back [2]oapi.WriteResult
	for i := range back {
		w.do(http.MethodPost, w.at("rollback"), `{"revision": 1}`, "Idempotency-Key", "back").is(200, &back[i])
	}
	if back[0].Revision != 3 || back[1].Revision != 3 {
		t.Errorf("rollback twice: %+v", back)
	}
}

func TestConcurrentIfMatchLosesNoUpdate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tag := *w.put("backend").Resources[0].Etag
	var all sync.WaitGroup
	won := make(chan string, 10)
	for i := range 10 {
		all.Go(func() {
			a := w.do(http.MethodPut, w.at("resources", "clusters", "backend"), asDocument(clusterWith("backend", fmt.Sprintf("%ds", i+2))), "If-Match", tag)
			if a.status == 200 {
				won <- string(a.body)
			} else if a.status != 412 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Errorf("%d writers won", len(won))
	}
}
