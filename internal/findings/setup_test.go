package findings_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

var now = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// stored compiles documents in YAML, and reads the facts out of what would be stored.
func stored(t testing.TB, docs ...string) []findings.Resource {
	t.Helper()
	c := resource.NewCompiler(resource.Config{VersionKey: bytes.Repeat([]byte("versions"), 4)})
	var out []findings.Resource
	for _, text := range docs {
		j, err := resource.ToJSON(resource.YAML, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		d, err := resource.ParseDocument(j)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := c.Compile(fleet.Key{}, d)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		facts, err := resource.FactsOf(r.Type, r.Value)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, findings.Resource{Ref: fleet.Ref{Type: r.Type, Name: r.Name}, Variant: r.Variant, Selector: r.Selector, Priority: r.Priority, Facts: &facts, ByName: r.ByName})
	}
	return out
}

// lines are findings without their sentences: "error missing_reference routes/r@variant /pointer -> clusters/c (3 nodes)".
func lines(fs []findings.Finding) (out []string) {
	for _, f := range fs {
		line := fmt.Sprintf("%s %s %s/%s", f.Severity, f.Code, f.Type, f.Name)
		if f.Variant != "" {
			line += "@" + f.Variant
		}
		if f.Pointer != "" {
			line += " " + f.Pointer
		}
		if f.To.Name != "" {
			line += fmt.Sprintf(" -> %s/%s", f.To.Type, f.To.Name)
		}
		if f.ToVariant != "" {
			line += "@" + f.ToVariant
		}
		if f.Nodes > 0 {
			line += fmt.Sprintf(" (%d nodes)", f.Nodes)
		}
		out = append(out, line)
	}
	return out
}

const (
	at      = "/body/filter_chains/0/filters/0/typed_config"
	hcmType = "'@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: s"
	tlsType = "'@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3."
)

// with puts fields of the document before its body.
func with(doc, fields string) string { return strings.Replace(doc, "body:", fields+", body:", 1) }

// variant makes of a document one of the name's variants.
func variant(doc, name, selector string) string {
	return with(doc, fmt.Sprintf("variant: %s, selector: %q", name, selector))
}

func cluster(name string) string {
	return fmt.Sprintf("{type: clusters, name: %s, body: {name: %[1]s}}", name)
}

func edsCluster(name string) string {
	return fmt.Sprintf("{type: clusters, name: %s, body: {name: %[1]s, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}}", name)
}

func endpoints(name string) string {
	return fmt.Sprintf("{type: endpoints, name: %s, body: {cluster_name: %[1]s}}", name)
}

// route is a route whose one virtual host sends all to an action.
func route(name, action string) string {
	return fmt.Sprintf("{type: routes, name: %s, body: {name: %[1]s, virtual_hosts: [{name: v, domains: ['*'], routes: [{match: {prefix: /}, route: {%s}}]}]}}", name, action)
}

// rds is a listener whose routes are fetched by name.
func rds(name, route string) string {
	return listener(name, hcmType+", rds: {route_config_name: "+route+", config_source: {ads: {}}}")
}

func listener(name, config string) string {
	return fmt.Sprintf("{type: listeners, name: %s, body: {name: %[1]s, address: {socket_address: {address: 0.0.0.0, port_value: 1}}, filter_chains: [{filters: [{name: f, typed_config: {%s}}]}]}}", name, config)
}

func secret(name string) string {
	return fmt.Sprintf("{type: secrets, name: %s, body: {name: %[1]s, generic_secret: {secret: {inline_string: x}}}}", name)
}

// nodes are nodes of these ids.
func nodes(ids ...string) (out []fleet.Node) {
	for _, id := range ids {
		out = append(out, fleet.Node{ID: id})
	}
	return out
}

// check is findings.Check of what nothing ends.
func check(f findings.Fleet) []findings.Finding {
	got, err := findings.Check(f)
	if err != nil {
		panic(err)
	}
	return got
}
