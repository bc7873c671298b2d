package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestSchemasOfTypesAndWhatTheyReferTo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var list oapi.SchemaList
	w.do(http.MethodGet, "/v1/schemas", "", "Authorization", "Bearer "+w.token(w.tenant, auth.RoleCI, &w.fleet.ID)).is(200, &list)
	if len(list.Items) != len(fleet.Types()) {
		t.Errorf("%+v", list)
	}
	for _, item := range list.Items {
		var s struct {
			ID         string                     `json:"$id"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		a := w.do(http.MethodGet, item.Path, "").is(200, &s)
		if s.ID != item.Path || s.Properties["@type"] == nil || a.header.Get("Content-Type") != schemaMedia {
			t.Errorf("%s: %s %v", item.Path, s.ID, a.header)
		}
	}
	text := string(w.do(http.MethodGet, "/v1/schemas/listeners", "").is(200, nil).body)
	_, ref, _ := strings.Cut(text, `"$ref":"/v1/schemas/type/`)
	ref, _, _ = strings.Cut(ref, `"`)
	w.do(http.MethodGet, "/v1/schemas/type/"+ref, "").is(200, nil)
	w.do(http.MethodGet, "/v1/schemas/colours", "").isProblem(400, "invalid_request", "?type")
	if p := w.do(http.MethodGet, "/v1/schemas/type/a.b", "").isProblem(404, "not_found", ""); *p.Missing != oapi.MissingSchema {
		t.Errorf("%+v", p)
	}
}

func TestASchemaIsKeptByTheClient(t *testing.T) {
	t.Parallel()
	w := setup(t)
	a := w.do(http.MethodGet, "/v1/schemas/clusters", "", "Accept-Encoding", "identity").is(200, nil)
	tag := a.header.Get("ETag")
	if !strings.Contains(a.header.Get("Cache-Control"), "max-age") || tag == "" {
		t.Errorf("%v", a.header)
	}
	packed := w.do(http.MethodGet, "/v1/schemas/clusters", "", "Accept-Encoding", "gzip").is(200, nil)
	if packed.header.Get("Content-Encoding") != "gzip" || len(packed.body) > len(a.body)/5 || len(packed.body) > 20<<10 {
		t.Errorf("%d bytes of %d: %v", len(packed.body), len(a.body), packed.header)
	}
	for _, header := range []string{"br", "gzip;q=0", "gzip; q=0.0, br"} {
		if plain := w.do(http.MethodGet, "/v1/schemas/clusters", "", "Accept-Encoding", header).is(200, nil); plain.header.Get("Content-Encoding") != "" || len(plain.body) != len(a.body) {
			t.Errorf("%q: %v", header, plain.header)
		}
	}
	if packed := w.do(http.MethodGet, "/v1/schemas/clusters", "", "Accept-Encoding", "br;q=1.0, gzip;q=0.5"); packed.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", packed.header)
	}
	again := w.do(http.MethodGet, "/v1/schemas/clusters", "", "If-None-Match", tag).is(304, nil)
	if again.header.Get("ETag") != tag || len(again.body) > 0 {
		t.Errorf("%v", again.header)
	}
	w.do(http.MethodGet, "/v1/schemas/clusters", "", "If-None-Match", `"other"`).is(200, nil)
	if c := w.do(http.MethodGet, "/v1/schemas", "").is(200, nil).header.Get("Cache-Control"); c != "no-store" {
		t.Errorf("another answer has %q", c)
	}
}
