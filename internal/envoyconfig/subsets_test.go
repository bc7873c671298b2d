package envoyconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/envoyconfig"
)

// TestNumbersWhereASubsetHasTexts: what stands without quotes is a number to Envoy, and not the text that a route or another endpoint has.
func TestNumbersWhereASubsetHasTexts(t *testing.T) {
	t.Parallel()
	endpoint := func(version string) string {
		return "{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 1}}}, metadata: {filter_metadata: {envoy.lb: {version: " + version + "}}}}"
	}
	cluster := func(name, subset string, versions ...string) string {
		var all []string
		for _, v := range versions {
			all = append(all, endpoint(v))
		}
		return fmt.Sprintf("  - {name: %s, type: static%s, load_assignment: {cluster_name: %[1]s, endpoints: [{lb_endpoints: [%[3]s]}]}}\n", name, subset, strings.Join(all, ", "))
	}
	route := func(version string) string {
		return `  listeners:
  - name: l
    address: {socket_address: {address: 0.0.0.0, port_value: 81}}
    filter_chains:
    - filters:
      - name: h
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: x
          route_config: {name: r, virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: c, metadataMatch: {filterMetadata: {envoy.lb: {version: ` + version + `}}}}}]}]}
`
	}
	const (
		in    = "note: clusters/%s: line %d: /static_resources/clusters/%d/load_assignment/endpoints/0/lb_endpoints/%d/metadata/filter_metadata/envoy.lb/version: this is %s\n"
		at    = "note: listeners/l: line 11: /static_resources/listeners/0/filter_chains/0/filters/0/typed_config/route_config/virtual_hosts/0/routes/0/route/%s/envoy.lb/version: this is %s\n"
		camel = "metadataMatch/filterMetadata"
		quote = "; if a text is meant, write it in quotes"
		other = ", and a text in %s: to a subset they are different values"
	)
	for name, c := range map[string]struct{ in, want string }{
		"texts":          {"static_resources:\n  clusters:\n" + cluster("c", "", `"1.10"`) + route(`"1.10"`), ""},
		"numbers":        {"static_resources:\n  clusters:\n" + cluster("c", "", "2") + cluster("d", "", "2", "3"), ""},
		"not as written": {"static_resources:\n  clusters:\n" + cluster("c", "", "1.10"), fmt.Sprintf(in, "c", 3, 0, 0, "served as the number 1.1, not as 1.10"+quote)},
		"a route's text": {"static_resources:\n" + route(`"1.10"`) + "  clusters:\n" + cluster("c", "", "1.10"),
			fmt.Sprintf(in, "c", 13, 0, 0, "served as the number 1.1, not as 1.10"+fmt.Sprintf(other, "listeners/l")+quote)},
		"a route's number":  {"static_resources:\n" + route("2") + "  clusters:\n" + cluster("c", "", `"2"`), fmt.Sprintf(at, camel, "served as the number 2"+fmt.Sprintf(other, "clusters/c")+quote)},
		"a default":         {"static_resources:\n  clusters:\n" + cluster("c", ", lb_subset_config: {default_subset: {version: yes}}", "'yes'"), "note: clusters/c: line 3: /static_resources/clusters/0/lb_subset_config/default_subset/version: this is served as the boolean true" + fmt.Sprintf(other, "clusters/c") + quote + "\n"},
		"another cluster's": {"static_resources:\n  clusters:\n" + cluster("c", "", "2", "3") + cluster("d", "", `"2"`), fmt.Sprintf(in, "c", 3, 0, 0, "served as the number 2"+fmt.Sprintf(other, "clusters/d")+quote)},
		"the same cluster's, as a write is warned": {"static_resources:\n  clusters:\n" + cluster("c", "", `"1"`, "2"),
			fmt.Sprintf(in, "c", 3, 0, 1, "a number here and a text at another endpoint: to a subset they are different values; write all of them as texts")},
		"of other metadata": {`{"static_resources": {"clusters": [{"name": "c", "metadata": {"filter_metadata": {"envoy.lb": {"version": 1.10}}}}]}}`, ""},
	} {
		r, err := envoyconfig.Read([]byte(c.in), envoyconfig.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, left, _ := strings.Cut("\n"+shown(t, r), "\nnote: "); cmp.Diff(strings.TrimPrefix(c.want, "note: "), left) != "" {
			t.Errorf("%s: %s", name, cmp.Diff(strings.TrimPrefix(c.want, "note: "), left))
		}
	}
}
