package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi/oapi"
)

// Of the resources that are named alone something changes, by the same rules as of all.
func TestRollbackOfSomeResources(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "a", cluster("a")), element("clusters", "b", cluster("b")), element("listeners", "l", luaListener("l", "x")))).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), applied(element("clusters", "a", clusterWith("a", "2s")), element("clusters", "b", clusterWith("b", "2s")), element("clusters", "new", cluster("new")))).is(200, nil)
	w.do(http.MethodDelete, w.at("resources", "listeners", "l"), "").is(200, nil)

	var out oapi.WriteResult
	body := `{"revision": 1, "resources": [{"type": "clusters", "name": "a"}, {"type": "clusters", "name": "new"}]}`
	first := w.do(http.MethodPost, w.at("rollback"), body, "Idempotency-Key", "k").is(200, &out)
	if out.Revision != 4 || out.Changed != 2 {
		t.Errorf("the rollback is %+v", out)
	}
	for name, want := range map[string]string{"a": `"1s"`, "b": `"2s"`} {
		if got := string(w.do(http.MethodGet, w.at("resources", "clusters", name), "").is(200, nil).body); !strings.Contains(got, want) {
			t.Errorf("%s is %s", name, got)
		}
	}
	w.do(http.MethodGet, w.at("resources", "clusters", "new"), "").isProblem(404, "not_found", "")
	var rev oapi.Revision
	w.do(http.MethodGet, w.at("revisions", "4"), "").is(200, &rev)
	if rev.Kind != "rollback" || deref(rev.Message) != "rollback of 2 resources to revision 1" {
		t.Errorf("the history has %+v", rev)
	}
	if again := w.do(http.MethodPost, w.at("rollback"), body, "Idempotency-Key", "k").is(200, nil); string(again.body) != string(first.body) {
		t.Errorf("the repeat is %s, was %s", again.body, first.body)
	}
	// A repeat without the key finds nothing to do.
	w.do(http.MethodPost, w.at("rollback"), body).is(200, &out)
	if out.Revision != 4 || out.Changed != 0 {
		t.Errorf("the second rollback is %+v", out)
	}

	editor := "Bearer " + w.token(w.tenant, auth.RoleEditor, nil)
	for why, c := range map[string]struct {
		body       string
		status     int
		code, spot string
	}{
		"guarded":       {`{"revision": 1, "resources": [{"type": "listeners", "name": "l"}]}`, 403, "guarded", "/resources/listeners/l/body" + luaAt},
		"never there":   {`{"revision": 1, "resources": [{"type": "clusters", "name": "a"}, {"type": "clusters", "name": "typo"}]}`, 422, "unknown_resource", "/resources/1"},
		"no variant":    {`{"revision": 1, "resources": [{"type": "clusters", "name": "a", "variant": "eu"}]}`, 422, "unknown_resource", "/resources/0"},
		"twice":         {`{"revision": 1, "resources": [{"type": "clusters", "name": "a"}, {"type": "clusters", "name": "a"}]}`, 400, "invalid_request", "/resources/1"},
		"none":          {`{"revision": 1, "resources": []}`, 400, "invalid_request", "/resources"},
		"moved":         {`{"revision": 1, "expected_revision": 3, "resources": [{"type": "clusters", "name": "b"}]}`, 412, "precondition_failed", "/expected_revision"},
		"not kept":      {`{"revision": 9, "resources": [{"type": "clusters", "name": "b"}]}`, 404, "not_found", ""},
		"unknown field": {`{"revision": 1, "resources": [{"type": "clusters", "name": "b", "selector": "x"}]}`, 400, "invalid_request", "/resources/0/selector"},
	} {
		t.Run(why, func(t *testing.T) {
			a := w.do(http.MethodPost, w.at("rollback"), c.body, "Authorization", editor)
			a.t = t
			a.isProblem(c.status, c.code, c.spot)
		})
	}
	w.do(http.MethodPost, w.at("rollback"), `{"revision": 1, "resources": [{"type": "clusters", "name": "b"}]}`, "Authorization", editor).is(200, &out)
	if out.Revision != 5 || out.Changed != 1 {
		t.Errorf("of an editor the rollback is %+v", out)
	}
}
