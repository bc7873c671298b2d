package envoyconfig_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/localenvoy"
)

// small is a bootstrap of one listener and one cluster, with the parts of a case in the place of its own.
func small(c form) string {
	part := func(own, other string) string {
		if other != "" {
			return other
		}
		return own
	}
	return c.before + `static_resources:
  listeners:
  - name: web
    address: {socket_address: {address: 127.0.0.1, port_value: ` + part("8080", c.port) + `}}
    ` + c.listener + `
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": ` + part("type.googleapis.com", c.host) + `/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: ` + part("web", c.prefix) + `
          codec_type: ` + part("HTTP2", c.codec) + `
          route_config:
            name: routes
            virtual_hosts: ` + part(`[{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: app, timeout: 5s}}]}]`, c.hosts) + `
          http_filters: ` + part(`[{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]`, c.filters) + `
  clusters:
  - name: app
    type: ` + part("STATIC", c.kind) + `
    connect_timeout: ` + part("1s", c.timeout) + `
    load_assignment: ` + part(`{cluster_name: app, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}]}`, c.endpoints) + `
    ` + c.cluster + "\n"
}

// form is one form of a bootstrap: what of it stands in the place of small's own.
type form struct {
	before, listener, port, host, prefix, codec, hosts, filters, kind, timeout, endpoints, cluster string
	// plain is the form that everybody writes; refused says that Envoy takes the form not, and what is to be told.
	plain   *form
	refused string
}

const router = `type.googleapis.com/envoy.extensions.filters.http.router.v3.Router`

// corpus are forms that people write, and what is to be said of them.
var corpus = map[string]form{
	"plain": {plain: &form{prefix: "web"}},

	"enums in small letters":     {codec: "http2", kind: "static", plain: &form{}},
	"enums as numbers":           {codec: "2", kind: "'0'", plain: &form{}},
	"an enum with a dash":        {cluster: "lb_policy: round-robin", refused: "/static_resources/clusters/0/lb_policy: this is not one of ROUND_ROBIN"},
	"one object for each list":   {hosts: `{name: all, domains: "*", routes: {match: {prefix: /}, route: {cluster: app, timeout: 5s}}}`, endpoints: `{cluster_name: app, endpoints: {lb_endpoints: {endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}}}`, plain: &form{}},
	"lists in lists":             {hosts: `[[{name: all, domains: [["*"], []], routes: [[{match: {prefix: /}, route: {cluster: app, timeout: 5s}}]]}]]`, plain: &form{}},
	"an object for a text":       {prefix: "{a: b}", refused: "/typed_config/stat_prefix: this must be a text, not an object"},
	"booleans as texts":          {listener: `use_original_dst: "true"`, plain: &form{listener: "use_original_dst: true"}},
	"yes":                        {listener: `use_original_dst: yes`, plain: &form{listener: "use_original_dst: true"}},
	"y as a name":                {prefix: "y", refused: "/typed_config/stat_prefix: this must be a text, not true: in YAML y, n, yes, no, on and off are true and false"},
	"a small number as a name":   {prefix: "5", refused: "/typed_config/stat_prefix: this must be a text, not 5: write it in quotes"},
	"a version as a name":        {prefix: "1.40", plain: &form{prefix: `"1.40"`}},
	"a duration as an object":    {timeout: "{seconds: 1}", plain: &form{}},
	"half a duration":            {timeout: "{seconds: '1', nanos: 500000000}", plain: &form{timeout: "1.5s"}},
	"a duration as a number":     {timeout: "100", refused: `/static_resources/clusters/0/connect_timeout: this must be seconds, such as "30s" or "0.25s", not 100`},
	"a duration in milliseconds": {timeout: "100ms", refused: `/static_resources/clusters/0/connect_timeout: this must be seconds`},
	"a number as a text":         {port: `"8080"`, plain: &form{}},
	"a number of base 8":         {listener: "per_connection_buffer_limit_bytes: 0777", plain: &form{listener: "per_connection_buffer_limit_bytes: 511"}},
	"a number of base 16":        {port: "0x1F90", plain: &form{}},
	"a number with an underline": {port: "8_080", refused: `/port_value: this must be a whole number from 0 to 4294967295, not "8_080"`},
	"a wrapper as an object":     {listener: "per_connection_buffer_limit_bytes: {value: 511}", plain: &form{listener: "per_connection_buffer_limit_bytes: 511"}},
	"a null in a list":           {cluster: "lb_subset_config: {subset_selectors: [{keys: [a, ~]}]}", plain: &form{cluster: `lb_subset_config: {subset_selectors: [{keys: [a, ""]}]}`}},
	"anchors and aliases":        {before: "!ignore shared: &limit {value: 511}\n", listener: "per_connection_buffer_limit_bytes: *limit", cluster: "per_connection_buffer_limit_bytes: *limit", plain: &form{listener: "per_connection_buffer_limit_bytes: 511", cluster: "per_connection_buffer_limit_bytes: 511"}},
	"ignored within":             {listener: "!ignore note: {a: 1}", plain: &form{}},
	"a tag of one's own":         {kind: "!enum STATIC", plain: &form{}},
	"a byte order mark":          {before: "\ufeff", plain: &form{}},
	"a version of YAML":          {before: "# of 2009\n%YAML 1.2\n---\n", plain: &form{}},
	"an older version of YAML":   {before: "%YAML 1.1\n--- # begins\n", plain: &form{}},
	"another host of the types":  {host: "types.example", plain: &form{}},
	"the older TypedStruct":      {filters: `[{name: router, typed_config: {"@type": type.googleapis.com/udpa.type.v1.TypedStruct, type_url: ` + router + `, value: {}}}]`, plain: &form{filters: `[{name: router, typed_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: ` + router + `, value: {}}}]`}},
	"an old field of a cluster":  {cluster: "hosts: [{socket_address: {address: 127.0.0.1, port_value: 81}}]", refused: "/static_resources/clusters/0/hosts: Envoy's API has this field no more: write load_assignment"},
	"an old field of a listener": {filters: `[{name: router, config: {}}]`, refused: `/http_filters/0/config: Envoy's API has this field no more: write typed_config, with the "@type" of its message`},
	"an old value":               {cluster: "lb_policy: ORIGINAL_DST_LB", refused: "/static_resources/clusters/0/lb_policy: Envoy's API has this value no more: write CLUSTER_PROVIDED"},
	"an unknown field":           {cluster: "conect_timeout: 1s", refused: "/static_resources/clusters/0/conect_timeout: Cluster has no such field: is connect_timeout meant?"},
	"a bound in a TypedStruct":   {filters: `[{name: fault, typed_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, value: {max_request_bytes: 0}}}, {name: router, typed_config: {"@type": ` + router + `}}]`, refused: "/http_filters/0/typed_config/value/max_request_bytes: value must be greater than 0"},
	"a name in a TypedStruct":    {filters: `[{name: log, typed_config: {"@type": type.googleapis.com/xds.type.v3.TypedStruct, type_url: ` + router + `, value: {upstream_log: [{name: envoy.access_loggers.stdout}]}}}]`, refused: "/http_filters/0/typed_config/value/upstream_log/0/typed_config: typed_config is missing"},
	"an empty Any":               {listener: "metadata: {typed_filter_metadata: {x: {}}}", plain: &form{listener: "metadata: {typed_filter_metadata: {x: {}}}"}},
	"no type":                    {filters: `[{name: router, typed_config: {}}]`, refused: `/typed_config: "@type" is missing`},
}

func read(t *testing.T, in string) envoyconfig.Result {
	t.Helper()
	r, err := envoyconfig.Read([]byte(in), envoyconfig.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, in)
	}
	return r
}

// TestEnvoysFormsAreImported: each form of the corpus becomes the documents that its plain form becomes; what is refused leaves that
// resource out alone, with the place and the line.
func TestEnvoysFormsAreImported(t *testing.T) {
	t.Parallel()
	for name, c := range corpus {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := read(t, small(c))
			if c.plain != nil {
				if diff := cmp.Diff(shown(t, read(t, small(*c.plain))), shown(t, r)); diff != "" || len(r.Documents) != 2 || len(r.Left) != 0 {
					t.Errorf("%d documents, %+v\n%s", len(r.Documents), r.Left, diff)
				}
				return
			}
			if len(r.Documents) != 1 || len(r.Left) != 1 || r.Left[0].Stays || !strings.HasPrefix(r.Left[0].Why, "line ") || !strings.Contains(r.Left[0].Why, c.refused) {
				t.Errorf("%d documents, %+v", len(r.Documents), r.Left)
			}
		})
	}
}

// TestImportSaysWhatEnvoySays: what an import leaves out, Envoy refuses; what it takes, Envoy starts with.
func TestImportSaysWhatEnvoySays(t *testing.T) {
	t.Parallel()
	bin := envoyBinary(t)
	for name, c := range corpus {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := small(c)
			takes, said := validate(t, bin, in)
			r := read(t, in)
			if left := slices.ContainsFunc(r.Left, func(l envoyconfig.Left) bool { return !l.Stays }); left == takes {
				t.Errorf("Envoy takes it: %t; left out of the import: %t, %+v\n%s", takes, left, r.Left, said)
			}
			if !takes || c.plain == nil || *c.plain == (form{}) {
				return // it becomes what the plain one becomes
			}
			if again, said := validate(t, bin, bootstrapOf(t, r)); !again {
				t.Errorf("Envoy refuses what the import made of it: %s", said)
			}
		})
	}
}

func envoyBinary(t *testing.T) string {
	t.Helper()
	bin, err := localenvoy.Find(t.Context(), localenvoy.FindConfig{Fetch: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// validate asks Envoy whether it takes a bootstrap.
func validate(t *testing.T, bin, in string) (takes bool, said string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bootstrap.yaml")
	if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, bin, "--mode", "validate", "-c", file, "--disable-hot-restart", "-l", "error").CombinedOutput()
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	return err == nil, string(out)
}

// bootstrapOf is a bootstrap with the documents.
func bootstrapOf(t *testing.T, r envoyconfig.Result) string {
	t.Helper()
	static := map[string][]json.RawMessage{}
	for _, d := range r.Documents {
		static[d.Type.Slug()] = append(static[d.Type.Slug()], d.Body)
	}
	out, err := json.Marshal(map[string]any{"static_resources": static})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
