package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

const envoyFile = `
node: {id: edge-1}
static_resources:
  listeners:
  - name: l
    address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config: {name: r, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: a}}]}]}
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
  clusters:
  - {name: a, connect_timeout: 1s}
  - {name: b, no_such_field: 1}
`

func TestImportMakesDocumentsForAPlan(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var got oapi.Imported
	w.do(http.MethodPost, w.at("import")+"?rds=true", envoyFile, "Content-Type", "application/yaml").is(200, &got)
	var names []string
	for _, r := range got.Resources {
		names = append(names, string(r.Type)+"/"+r.Name)
	}
	if !slices.Equal(names, []string{"clusters/a", "listeners/l", "routes/r"}) {
		t.Errorf("%v", names)
	}
	if len(got.LeftOut) != 1 || got.LeftOut[0].What != "clusters/b" || len(got.Notes) != 1 || got.Notes[0].What != "node" {
		t.Errorf("%+v", got)
	}
	if list := w.do(http.MethodGet, w.at("resources"), "").is(200, nil); strings.Contains(string(list.body), `"name"`) {
		t.Errorf("it wrote something: %s", list.body)
	}
	w.do(http.MethodPost, w.at("plan"), asJSON(t, map[string]any{"resources": got.Resources})).is(200, nil)
	w.do(http.MethodPost, w.at("apply"), asJSON(t, map[string]any{"resources": got.Resources})).is(200, nil)
	for body, code := range map[string]string{"{}": "", `{"static_resources": {}, "static_resources": {}}`: "", "[]": "", `{"a"`: ""} {
		w.do(http.MethodPost, w.at("import"), body).isProblem(400, "invalid_document", code)
	}
	for _, path := range []string{"import", "plan", "apply"} {
		p := w.do(http.MethodPost, w.at(path), envoyFile+"---\nresources: []\n", "Content-Type", "application/yaml").isProblem(400, "invalid_document", "")
		if line := strings.Count(envoyFile, "\n") + 1; !strings.Contains((*p.Errors)[0].Detail, fmt.Sprintf("line %d, column 1: a second YAML document begins here", line)) {
			t.Errorf("%s: of a second document it says %s", path, asJSON(t, p))
		}
	}
	w.do(http.MethodPost, w.at("import"), strings.Repeat(" ", 5<<20)).isProblem(413, "body_too_large", "")
	w.do(http.MethodPost, w.at("import"), "{}", "Content-Type", "text/plain").isProblem(415, "unsupported_media_type", "")
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	must(t, err)
	return string(out)
}
