package httpapi

import (
	"encoding/json"
	"net/http/httptest"
	"slices"

	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
)

func TestUnknownFieldIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	w.do(http.MethodPut, path, `{"body": `+cluster("a")+`, "lables": {}}`).isProblem(422, "invalid_resource", "/lables")
	w.do(http.MethodPut, path, `{"body": {"name": "a", "conect_timeout": "1s"}}`).isProblem(422, "invalid_resource", "/body/conect_timeout")
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "body": {"name": "a", "x": 1}}]}`).
		isProblem(422, "invalid_resource", "/resources/0/body/x")
	w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "b", "colour": "red"}`).isProblem(400, "invalid_request", "/colour")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "b", "role": "viewer", "ROLE": "owner"}`).isProblem(400, "invalid_request", "/ROLE")
}

// What is missing in a path, between two slashes or behind the last one, is told by its name.
func TestAnEmptyPartOfThePathIsNamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for request, name := range map[string]string{
		"DELETE endpoints//-/10.0.0.1:80": "cluster", "DELETE endpoints/a//10.0.0.1:80": "locality", "PUT endpoints//-/10.0.0.1:80": "cluster",
		"GET resources//a": "type", "GET nodes//config": "node", "GET revisions//receipt": "revision",
	} {
		method, path, _ := strings.Cut(request, " ")
		p := w.do(method, w.at()+"/"+path, "").isProblem(400, "invalid_request", "?"+name)
		if f := (*p.Errors)[0]; f.Code != "required" || !strings.HasPrefix(f.Detail, "nothing stands in the path where {"+name+"} belongs: /v1/tenants/{tenant}/fleets/{fleet}/") {
			t.Errorf("%s: %s: %s", request, f.Code, f.Detail)
		}
	}
	for _, path := range []string{"endpoints/a/-/", "endpoints/", "resources/clusters/", "nodes/", "leases/"} {
		if p := w.do(http.MethodDelete, w.at()+"/"+path, "").isProblem(404, "not_found", ""); !strings.HasSuffix(deref(p.Detail), "; nothing stands behind the last slash of this one") {
			t.Errorf("%s: %s", path, deref(p.Detail))
		}
	}
}

// What is wrong with a parameter is told with what to write.
func TestABadParameterIsToldWithWhatToWrite(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for query, want := range map[string]string{
		"resources?limit=x":                      "this must be a whole number, given once",
		"resources?bodies=no":                    "this must be true or false, given once",
		"resources?revision=007":                 `string doesn't match the regular expression "^(latest|0|[1-9][0-9]{0,17})$": The number of a revision, or ` + "`latest`" + ` for the newest one.`,
		"resources?at=yesterday":                 "this is no time: write one such as 2026-05-01T12:00:00Z; the + of an offset is %2B in a query",
		"resources?at=2026-05-01T12:00:00+01:00": "this is no time: write one such as 2026-05-01T12:00:00Z; the + of an offset is %2B in a query",
		"revisions/latest/receipt?wait=1m":       `string doesn't match the regular expression "^[0-9]+(\.[0-9]+)?(ms|s)$": How long to wait at most, such as ` + "`30s` or `1500ms`; at most `60s`.",
		"compare":                                "it is missing: The revision to compare, its number or `latest`; 0 is the empty fleet before the first one.",
		"events?node=a&node=b":                   "this must be one value, given once",
	} {
		path, q, _ := strings.Cut(query, "?")
		parameter, _, _ := strings.Cut(q, "=")
		if q == "" {
			parameter = "from"
		}
		p := w.do(http.MethodGet, w.at(strings.Split(path, "/")...)+"?"+q, "").isProblem(400, "invalid_request", "?"+parameter)
		if got := (*p.Errors)[0].Detail; got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	p := w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "b", "role": "viewer", "expires_at": "soon"}`).isProblem(400, "invalid_request", "/expires_at")
	if got := (*p.Errors)[0].Detail; got != "this is no time: write one such as 2026-05-01T12:00:00Z" {
		t.Error(got)
	}
	p = w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "Edge"}`).isProblem(400, "invalid_request", "/name")
	if got := (*p.Errors)[0].Detail; !strings.HasSuffix(got, ": Lower-case letters, digits and inner hyphens.") {
		t.Error(got)
	}
}

func TestWrongEnumIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"body": {"name": "a", "type": "EDDS"}}`).isProblem(422, "invalid_resource", "/body/type")
	w.do(http.MethodPut, w.at("resources", "cluster", "a"), asDocument(cluster("a"))).isProblem(400, "invalid_request", "?type")
	w.do(http.MethodPost, "/v1/tenants/acme/tokens", `{"name": "b", "role": "god"}`).isProblem(400, "invalid_request", "/role")
}

func TestNameThatDiffersFromTheURLIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	path := w.at("resources", "clusters", "a")
	w.do(http.MethodPut, path, asDocument(cluster("b"))).isProblem(422, "invalid_resource", "/body/name")
	w.do(http.MethodPut, path, `{"name": "b", "body": `+cluster("a")+`}`).isProblem(422, "invalid_resource", "/name")
	w.do(http.MethodPut, path, `{"type": "listeners", "body": `+cluster("a")+`}`).isProblem(422, "invalid_resource", "/type")
	w.do(http.MethodPut, path, `{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", `+cluster("b")[1:]).isProblem(422, "invalid_resource", "/name")
}

func TestT09_BodyOfFiveMegabytesIsRefusedBeforeItIsParsed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	big := bytes.Repeat([]byte("{"), 5<<20) // would not parse
	for _, path := range []string{w.at("resources", "clusters", "a"), w.at("apply")} {
		method := http.MethodPut
		if strings.HasSuffix(path, "apply") {
			method = http.MethodPost
		}
		w.send(method, path, bytes.NewReader(big)).isProblem(413, "body_too_large", "")
		w.send(method, path, noLength{bytes.NewReader(big)}).isProblem(413, "body_too_large", "")
	}
	w.send(http.MethodPost, "/v1/tenants/acme/fleets", bytes.NewReader(big[:100<<10])).isProblem(413, "body_too_large", "")
	if !t.Failed() {
		w.put("the-server-goes-on")
	}
}

// noLength hides the length of a body, so that it is sent in chunks.
type noLength struct{ r *bytes.Reader }

func (n noLength) Read(p []byte) (int, error) { return n.r.Read(p) }

func TestT09_LimitIsExact(t *testing.T) {
	t.Parallel()
	w := setup(t)
	doc := asDocument(cluster("a"))
	for _, c := range []struct{ size, status int }{{maxDocument - 1, 201}, {maxDocument, 200}, {maxDocument + 1, 413}} {
		body := doc + strings.Repeat(" ", c.size-len(doc))
		w.do(http.MethodPut, w.at("resources", "clusters", "a"), body).is(c.status, nil)
	}
}

func TestT09_ResourceOfMoreThanAMegabyteIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	body := `{"name": "a", "metadata": {"filter_metadata": {"x": {"y": "` + strings.Repeat("z", 1<<20) + `"}}}}`
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(body)).isProblem(422, "invalid_resource", "/body")
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "body": `+body+`}]}`).isProblem(422, "invalid_resource", "/resources/0/body")
}

func TestT19_NestedAnyBombIsRefusedQuickly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const deep = 5000
	bomb := strings.Repeat(`{"@type":"type.googleapis.com/google.protobuf.Any","value":`, deep) + "{}" + strings.Repeat("}", deep)
	body := `{"body": {"name": "a", "typed_extension_protocol_options": {"x": ` + bomb + `}}}`
	a := w.do(http.MethodPut, w.at("resources", "clusters", "a"), body)
	if a.status != 400 && a.status != 422 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if !strings.Contains(string(a.body), "/body/typed_extension_protocol_options") {
		t.Errorf("no path: %.400s", a.body)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	costs(resource.JSON, []byte(`{"type": "clusters", "name": "a", `+body[1:]), func(request string, _ int, took time.Duration) {
		if took > 2*time.Second {
			t.Errorf("%s took %v", request, took)
		}
	})
}

func TestT18_DuplicateYAMLKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.do(http.MethodPut, w.at("resources", "clusters", "a"), "body:\n  name: a\n  name: b\n", "Content-Type", "application/yaml")
	a.isProblem(400, "invalid_document", "/body/name")
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"body": {"name": "a", "name": "b"}}`).isProblem(400, "invalid_document", "/body/name")
}

func TestT18_YAMLBombIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%[1]c: &%[1]c [", c) + strings.Repeat(fmt.Sprintf("*%c,", c-1), 9) + "]\n"
	}
	p := w.do(http.MethodPut, w.at("resources", "clusters", "a"), bomb, "Content-Type", "application/yaml").isProblem(400, "invalid_document", "")
	if f := deref(p.Errors); len(f) != 1 || f[0].Code != "limit" || !strings.Contains(f[0].Detail, "aliases and merge keys repeat more than 20000") {
		t.Errorf("%+v", f)
	}
	doc := "\ufeff!ignore x: &x {name: a, type: static}\nbody: *x\n"
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), doc, "Content-Type", "application/yaml").is(201, nil)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), "\ufeff"+asDocument(cluster("a"))).is(200, nil)
}

func TestTTLBelowZeroIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"ttl": "-1s", "body": `+cluster("a")+`}`).isProblem(422, "invalid_resource", "/ttl")
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"delivery": "always", "body": `+cluster("a")+`}`).isProblem(422, "invalid_resource", "/delivery")
	w.do(http.MethodPut, w.at("resources", "routes", "r"), `{"delivery": "by-name", "body": {"name": "r"}}`).isProblem(422, "invalid_resource", "/delivery")
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "ttl": "-1s", "body": `+cluster("a")+`}]}`).
		isProblem(422, "invalid_resource", "/resources/0/ttl")
}

func TestTenantThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.do(http.MethodPut, "/v1/tenants/nobody/fleets/edge/resources/clusters/a", asDocument(cluster("a"))).isProblem(404, "not_found", "")
	w.do(http.MethodPut, "/v1/tenants/acme/fleets/nowhere/resources/clusters/a", asDocument(cluster("a"))).isProblem(404, "not_found", "")
}

func TestEveryFaultOfAnApplyIsTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	p := w.do(http.MethodPost, w.at("apply"), `{"resources": [
		{"type": "clusters", "name": "a", "body": {"name": "a", "connect_timeout": "-1s"}},
		{"type": "clusters", "name": "b", "body": `+cluster("b")+`},
		{"type": "clusters", "name": "c", "body": {"name": "c", "nope": 1}}]}`).isProblem(422, "invalid_resource", "/resources/0/body/connect_timeout")
	found := fmt.Sprint(pointers(deref(p.Errors)))
	if !strings.Contains(found, "/resources/2/body/nope") {
		t.Errorf("faults at %s", found)
	}
}

func TestT17_EncodedBodyIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, path := range []string{w.at("apply"), w.at("rollback"), "/v1/tenants/acme/fleets"} {
		w.do(http.MethodPost, path, "x", "Content-Encoding", "gzip").isProblem(415, "unsupported_encoding", "?Content-Encoding")
	}
}

func TestWrongContentTypeIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, ct := range []string{"text/plain", "application/xml", "", "application/jsonx", "nonsense/"} {
		w.do(http.MethodPost, w.at("apply"), `{}`, "Content-Type", ct).isProblem(415, "unsupported_media_type", "?Content-Type")
		w.do(http.MethodPost, "/v1/tenants/acme/fleets", `{"name": "x"}`, "Content-Type", ct).isProblem(415, "unsupported_media_type", "?Content-Type")
	}
	w.do(http.MethodPost, "/v1/tenants/acme/fleets", "name: x", "Content-Type", "application/yaml").isProblem(415, "unsupported_media_type", "?Content-Type")
}

func TestMalformedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, body := range []string{"", "{", "null", "[]", `"x"`, "{} {}", "\x00", "\xff\xfe"} {
		for _, path := range []string{w.at("apply"), w.at("rollback"), "/v1/tenants/acme/fleets", "/v1/tenants/acme/tokens"} {
			if a := w.do(http.MethodPost, path, body); a.status != 400 && a.status != 422 {
				t.Errorf("POST %s %q: %d %s", path, body, a.status, a.body)
			}
		}
		if a := w.do(http.MethodPut, w.at("resources", "clusters", "a"), body); a.status != 400 && a.status != 422 {
			t.Errorf("PUT %q: %d %s", body, a.status, a.body)
		}
	}
}

func TestNULReachesNoColumn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	nul := `\u0000`
	for method, requests := range map[string][][2]string{
		http.MethodPost: {
			{"/v1/tenants/acme/fleets", `{"name": "x", "description": "` + nul + `"}`},
			{"/v1/tenants/acme/tokens", `{"name": "` + nul + `", "role": "viewer"}`},
			{w.at("credentials"), `{"description": "` + nul + `"}`},
			{w.at("credentials"), `{"nodes": "` + nul + `"}`},
			{w.at("rollback"), `{"revision": 1, "message": "` + nul + `"}`},
			{w.at("apply"), `{"resources": [], "message": "` + nul + `"}`},
			{w.at("apply"), `{"resources": [{"type": "clusters", "name": "` + nul + `", "body": {"name": "` + nul + `"}}]}`},
		},
		http.MethodPut: {
			{w.at("resources", "clusters", "a"), `{"description": "` + nul + `", "body": ` + cluster("a") + `}`},
			{w.at("resources", "clusters", "a"), `{"labels": {"a": "` + nul + `"}, "body": ` + cluster("a") + `}`},
			{w.at("resources", "clusters") + "/%00", asDocument(cluster("a"))},
		},
		http.MethodGet: {
			{w.at("resources", "clusters") + "/%00", ""}, {w.at("resources", "clusters") + "/%ff", ""}, {w.at("nodes") + "/%00", ""},
			{"/v1/tenants/%00", ""}, {"/v1/tenants/acme/fleets/%ff", ""}, {w.at("resources", "clusters", "a") + "?variant=%00", ""},
		},
	} {
		for _, r := range requests {
			if a := w.do(method, r[0], r[1]); a.status < 400 || a.status >= 500 {
				t.Errorf("%s %s %s: %d %s", method, r[0], r[1], a.status, a.body)
			}
		}
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for path, where := range map[string]string{
		w.at("resources") + "?limit=0":                          "?limit",
		w.at("resources") + "?limit=501":                        "?limit",
		w.at("resources") + "?limit=x":                          "?limit",
		w.at("resources") + "?limit=99999999999999999999999":    "?limit",
		w.at("resources") + "?cursor=%21":                       "?cursor",
		w.at("resources", "clusters") + "?cursor=e30":           "?cursor",
		w.at("revisions") + "?cursor=x":                         "?cursor",
		w.at("nodes") + "?cursor=x":                             "?cursor",
		"/v1/tenants/acme/fleets?cursor=x":                      "?cursor",
		"/v1/tenants?cursor=x":                                  "?cursor",
		w.at("revisions", "x"):                                  "?revision",
		w.at("revisions", "-1"):                                 "?revision",
		w.at("revisions", "99999999999999999999"):               "?revision",
		w.at("revisions", "1", "receipt") + "?wait=61s":         "?wait",
		w.at("revisions", "1", "receipt") + "?wait=-1s":         "?wait",
		w.at("revisions", "1", "receipt") + "?wait=tomorrow":    "?wait",
		w.at("resources", "clusters", strings.Repeat("n", 513)): "?name",
		w.at("resources", "clusters", strings.Repeat("ü", 300)): "?name",
		w.at("nodes", strings.Repeat("n", 513)):                 "?node",
		w.at("resources", "clusters", "a") + "?variant=%00":     "?variant",
	} {
		w.do(http.MethodGet, path, "").isProblem(400, "invalid_request", where)
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, path := range []string{"/nothing", "/v1", "/v2/tenants", w.at("resources", "clusters", "a", "b"), w.at("nodes") + "/"} {
		w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")
	}
	for path, allow := range map[string]string{
		"/v1/whoami": "GET, HEAD", w.at("apply"): "POST", w.at("resources", "clusters", "a/b"): "GET, HEAD, PUT, DELETE", "/v1/tenants": "GET, HEAD, POST",
	} {
		a := w.do(http.MethodPatch, path, "")
		a.isProblem(405, "method_not_allowed", "")
		if got := strings.Join(a.header.Values("Allow"), ", "); got != allow {
			t.Errorf("%s: Allow is %q, want %q", path, got, allow)
		}
	}
}

func pointers(faults []oapi.FieldError) (out []string) {
	for _, f := range faults {
		out = append(out, deref(f.Pointer))
	}
	return out
}

// Null is not another way to leave a field out, whether the field has a default or not.
func TestNullIsNoValueOfAField(t *testing.T) {
	t.Parallel()
	k, err := theContract()
	must(t, err)
	spec, err := oapi.GetSpec()
	must(t, err)
	passed := k.validate(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || rules[op.OperationID].document {
				continue
			}
			nulls(op.RequestBody.Value.Content.Get("application/json").Schema.Value, "", func(pointer, body string) {
				r := httptest.NewRequestWithContext(t.Context(), method, strings.NewReplacer("{", "", "}", "").Replace(path), strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				answer := httptest.NewRecorder()
				passed.ServeHTTP(answer, r)
				var p oapi.Problem
				if answer.Code == http.StatusBadRequest {
					must(t, json.Unmarshal(answer.Body.Bytes(), &p))
				}
				if p.Errors == nil || !slices.ContainsFunc(*p.Errors, func(f oapi.FieldError) bool { return deref(f.Pointer) == pointer }) {
					t.Errorf("%s: %s: %d: %s", op.OperationID, body, answer.Code, answer.Body)
				}
			})
		}
	}
}

// nulls gives a body with null for each field of a schema that may not be null, and the field's place.
func nulls(s *openapi3.Schema, at string, each func(pointer, body string)) {
	for name, field := range s.Properties {
		under := func(pointer, body string) { each(pointer, fmt.Sprintf("{%q: %s}", name, body)) }
		if !field.Value.Nullable {
			under(at+"/"+name, "null")
		}
		nulls(field.Value, at+"/"+name, under)
	}
	if s.Items != nil {
		nulls(s.Items.Value, at+"/0", func(pointer, body string) { each(pointer, "["+body+"]") })
	}
}
