package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// toldOf are the findings of a write.
func toldOf(t *testing.T, fs *oapi.WriteFindings) (out []string) {
	t.Helper()
	if fs == nil {
		t.Fatal("nothing is told of findings")
	}
	for _, f := range fs.Items {
		line := fmt.Sprintf("%s %s %s/%s", f.Severity, f.Code, f.Type, f.Name)
		if v := deref(f.Variant); v != "" {
			line += "@" + v
		}
		out = append(out, fmt.Sprintf("%s %s at %s", line, f.Pointer, deref(f.At)))
	}
	return out
}

// TestAWriteTellsItsFindings: what it names and what names it, and nothing else of the fleet.
func TestAWriteTellsItsFindings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const field = "/virtual_hosts/0/routes/0/route/cluster"
	want := func(what, method, path, body string, want ...string) *oapi.WriteFindings {
		t.Helper()
		var r oapi.WriteResult
		w.do(method, path, body).isWritten(&r)
		if got := toldOf(t, r.Findings); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
		}
		return r.Findings
	}
	plain := func(name string) string { return named("clusters", name, `{"name": "`+name+`"}`) }
	to := func(name, cluster string) string {
		return named("routes", name, strings.Replace(fmt.Sprintf(toCluster, cluster), `"r"`, `"`+name+`"`, 1))
	}
	apply := w.at("apply")
	want("clusters", http.MethodPost, apply, applyOf(plain("backend"), plain("other")))
	fs := want("a misspelt cluster", http.MethodPost, apply, applyOf(plain("other"), to("r", "backnd")),
		"error missing_reference routes/r /body"+field+" at /resources/1/body"+field)
	if d := fs.Items[0].Detail; !strings.Contains(d, "is clusters/backend meant?") || *fs.Items[0].To != (oapi.ResourceRef{Type: "clusters", Name: "backnd"}) {
		t.Errorf("%+v", fs.Items[0])
	}
	want("another resource", http.MethodPut, w.at("resources", "clusters", "third"), asDocument(`{"name": "third"}`))
	want("the same again", http.MethodPost, apply, applyOf(to("r", "backnd")), "error missing_reference routes/r /body"+field+" at /resources/0/body"+field)
	want("in the bootstrap", http.MethodPost, apply, applyOf(to("r", "fairlead_xds")), "warning names_bootstrap routes/r /body"+field+" at /resources/0/body"+field)
	want("put right", http.MethodPost, apply, applyOf(to("r", "backend"), to("mirror", "other")))
	fs = want("a cluster in use is deleted", http.MethodPost, apply, `{"delete": [{"type": "clusters", "name": "third"}, {"type": "clusters", "name": "backend"}]}`,
		"error missing_reference routes/r /body"+field+" at /delete/1")
	if d := fs.Items[0].Detail; !strings.Contains(d, "routes/r names clusters/backend, which this deletes: what is sent there fails, requests with 503, but in nodes that keep something withheld or deleted that uses it; keep it") {
		t.Error(d)
	}
	want("a cluster with endpoints", http.MethodPost, apply,
		applyOf(named("clusters", "eds", `{"name": "eds", "type": "EDS", "eds_cluster_config": {"eds_config": {"ads": {}}}}`), named("endpoints", "eds", `{"cluster_name": "eds"}`)))
	want("a write that names the cluster deletes its endpoints", http.MethodPost, apply, strings.TrimSuffix(applyOf(to("r", "eds")), "}")+`, "delete": [{"type": "endpoints", "name": "eds"}]}`,
		"warning missing_reference clusters/eds /body/name at /delete/0")
	want("back to the other", http.MethodPost, apply, applyOf(to("r", "backend")), "error missing_reference routes/r /body"+field+" at /resources/0/body"+field)
	want("a deletion by its path", http.MethodDelete, w.at("resources", "clusters", "other"), "", "error missing_reference routes/mirror /body"+field+" at ")
	want("a rollback", http.MethodPost, w.at("rollback"), `{"revision": 2}`, "error missing_reference routes/r /body"+field+" at /revision")

	w.labeled(1, map[string]*fleet.NodeLabels{"eu1": {Region: "eu"}, "eu2": {Region: "eu"}, "us": {Region: "us"}})
	status := w.settledNode(w.fleet.ID, "unlabeled", 1)
	status.Nodes[0].Labels = &fleet.NodeLabels{Region: "us"}
	must(t, w.nodes.Report(t.Context(), status))
	want("a variant for nobody", http.MethodPut, w.variant("backend", "asia"), `{"selector": "locality.region=asia", "body": {"name": "backend"}}`,
		"warning variant_unmatched clusters/backend@asia /selector at /selector")
	want("a route for some", http.MethodPost, apply, applyOf(to("r", "backend"), `{"type": "clusters", "name": "backend", "variant": "asia", "selector": "locality.region=eu", "body": {"name": "backend"}}`))
	fs = want("the default goes", http.MethodPost, apply, `{"delete": [{"type": "clusters", "name": "backend"}]}`,
		"error missing_for_nodes routes/r /body"+field+" at /delete/0")
	if fs.Items[0].Nodes == nil || *fs.Items[0].Nodes != 2 {
		t.Errorf("%+v", fs.Items[0])
	}
}

// TestAWriteTellsOfDomains: those of virtual hosts that stand alone, beside those of their route.
func TestAWriteTellsOfDomains(t *testing.T) {
	t.Parallel()
	w := setup(t)
	vhds := `"vhds": {"config_source": {"ads": {}, "resource_api_version": "V3"}}`
	host := func(name string, domains string) string {
		return named("virtual-hosts", name, `{"name": "`+name+`", "domains": [`+domains+`]}`)
	}
	var r oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), applyOf(named("routes", "r", `{"name": "r", "virtual_hosts": [{"name": "v", "domains": ["a.example"]}], `+vhds+`}`), host("r/one", `"one.example"`))).is(200, &r)
	if got := toldOf(t, r.Findings); len(got) != 0 {
		t.Errorf("%q", got)
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(host("r/two", `"two.example", "ONE.example", "a.example"`), host("q/two", `"one.example"`))).is(200, &r)
	want := []string{"error duplicate_domain virtual-hosts/r/two /body/domains/1 at /resources/0/body/domains/1", "error duplicate_domain virtual-hosts/r/two /body/domains/2 at /resources/0/body/domains/2"}
	if got := toldOf(t, r.Findings); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFindingsOfAWriteAreBounded: many are counted, and a hundred listed; of what names what goes a number is looked at.
func TestFindingsOfAWriteAreBounded(t *testing.T) {
	t.Parallel()
	w := setup(t)
	docs := []string{named("clusters", "c", `{"name": "c"}`)}
	for i := range maxReferrers + 1 {
		docs = append(docs, named("routes", fmt.Sprint("r", i), strings.Replace(fmt.Sprintf(toCluster, "c"), `"r"`, fmt.Sprintf(`"r%d"`, i), 1)))
	}
	var r oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), applyOf(docs...)).is(200, &r)
	if r.Findings.Errors != 0 || deref(r.Findings.More) {
		t.Errorf("%+v", r.Findings)
	}
	w.do(http.MethodDelete, w.at("resources", "clusters", "c"), "").is(200, &r)
	if fs := r.Findings; fs.Errors != maxReferrers || len(fs.Items) != maxWriteFindings || !deref(fs.More) {
		t.Errorf("%d errors, %d listed, more %v", fs.Errors, len(fs.Items), deref(fs.More))
	}
	read := 0
	for _, f := range r.Findings.Items {
		if f.Pointer != "/body" {
			read++
		}
	}
	if read != maxReferrerRead {
		t.Errorf("%d bodies of referrers were read", read)
	}
}

// TestAWriteTellsOfCertificates of secrets that it writes, whose bodies are sealed.
func TestAWriteTellsOfCertificates(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cert, key := pair(t) // for a day
	var r oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", "secrets", "tls"),
		asDocument(`{"name": "tls", "tls_certificate": {"certificate_chain": {"inline_string": `+quoted(cert)+`}, "private_key": {"inline_string": `+quoted(key)+`}}}`)).isWritten(&r)
	if got := toldOf(t, r.Findings); len(got) != 1 || !strings.HasPrefix(got[0], "warning certificate_expires secrets/tls /body/tls_certificate at /body/tls_certificate") {
		t.Errorf("%q", got)
	}
	// A folder that was exported has keep in the place of the body, which tells of no less.
	w.do(http.MethodPut, w.at("resources", "clusters", "a"), asDocument(cluster("a"))).isWritten(nil)
	kept := `{"resources": [{"type": "secrets", "name": "tls", "keep": true}, {"type": "clusters", "name": "a", "keep": true}]}`
	for _, path := range []string{"apply", "plan"} {
		var r oapi.WriteResult
		w.do(http.MethodPost, w.at(path), kept).is(200, &r)
		got := toldOf(t, r.Findings)
		if !slices.Equal(got, []string{"warning missing_reference clusters/a /body at /resources/1", "warning certificate_expires secrets/tls /body/tls_certificate at /resources/0"}) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestAWriteTellsWhoLacksContrib: the nodes are read for it, though no selector asks for them.
func TestAWriteTellsWhoLacksContrib(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	kafka := asDocument(`{"name": "kafka", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 1}}, "filter_chains": [{"filters": [
		{"name": "k", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker", "stat_prefix": "k"}}]}]}`)
	const at = "/body/filter_chains/0/filters/0/typed_config"
	for name, c := range map[string]struct {
		has  fleet.Contrib
		want []string
	}{
		"it does not tell": {0, nil},
		"it has it":        {fleet.ContribTold | envoyversion.ContribOfType([]byte("envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker")), nil},
		"it has it not":    {fleet.ContribTold, []string{"error needs_contrib listeners/kafka " + at + " at " + at}},
	} {
		w.labeled(1, map[string]*fleet.NodeLabels{"n1": {Contrib: c.has}})
		var r oapi.WriteResult
		w.do(http.MethodPut, w.at("resources", "listeners", "kafka"), kafka).isWritten(&r)
		if got := toldOf(t, r.Findings); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
