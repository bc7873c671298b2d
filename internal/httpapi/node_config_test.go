package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// write puts a document and returns the version that it got.
func (w *world) write(kind, name, document string) string {
	w.t.Helper()
	var out oapi.WriteResult
	w.do(http.MethodPut, w.at("resources", kind, name), document).isWritten(&out)
	return *out.Resources[0].Version
}

func (w *world) nodeConfig(node, query string) oapi.NodeConfig {
	w.t.Helper()
	var out oapi.NodeConfig
	w.do(http.MethodGet, w.at("nodes", node, "config")+"?"+query, "").is(200, &out)
	return out
}

// inState are the items as "type/name state".
func inState(items []oapi.NodeResource) []string {
	return each(items, func(i oapi.NodeResource) string { return fmt.Sprintf("%s/%s %s", i.Type, i.Name, i.State) })
}

const secretText = "nobody-may-see-this"

// aNodeInTrouble is a fleet at revision 6 whose node n has settled at 5.
func (w *world) aNodeInTrouble(at time.Time) (good, poison, fresh, crowd string) {
	w.t.Helper()
	listener := func(ttl string, port int) string {
		return fmt.Sprintf(`{"ttl": %q, "body": {"name": "l", "address": {"socket_address": {"address": "127.0.0.1", "port_value": %d}}}}`, ttl, port)
	}
	good = w.write("listeners", "l", listener("30s", 1))                                                                                // 1
	w.write("secrets", "s", `{"ttl": "60s", "body": {"name": "s", "generic_secret": {"secret": {"inline_string": "`+secretText+`"}}}}`) // 2
	poison = w.write("listeners", "l", listener("40s", 2))                                                                              // 3
	fresh = w.write("clusters", "fresh", asDocument(cluster("fresh")))                                                                  // 4
	crowd = w.write("clusters", "crowd", asDocument(cluster("crowd")))                                                                  // 5
	w.write("clusters", "late", `{"ttl": "1.5s", "body": `+cluster("late")+`}`)                                                         // 6
	status := w.settledNode(w.fleet.ID, "n", 5)
	status.Refusals = []fleet.Refusal{
		{Node: "n", Type: fleet.Listener, Name: "l", Version: poison, Revision: 3, Detail: "<b>no</b>", Action: fleet.ActionKept, Good: good, At: at},
		{Node: "n", Type: fleet.Cluster, Name: "fresh", Version: fresh, Revision: 4, Detail: "no luck", Action: fleet.ActionRemoved, At: at},
		{Node: "n", Type: fleet.Cluster, Name: "crowd", Version: crowd, Revision: 5, Detail: "no more", Action: fleet.ActionNoSuspect, At: at},
	}
	must(w.t, w.nodes.Report(w.t.Context(), status))
	return good, poison, fresh, crowd
}

func TestNodeConfigTellsWhatANodeHoldsAndWhy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at := time.Now().UTC().Truncate(time.Microsecond)
	good, poison, fresh, crowd := w.aNodeInTrouble(at)
	a := w.do(http.MethodGet, w.at("nodes", "n", "config"), "")
	var got oapi.NodeConfig
	a.is(200, &got)
	if strings.Contains(string(a.body), secretText) || strings.Contains(string(a.body), "body") || strings.Contains(string(a.body), "<b>") {
		t.Errorf("a body, or markup unescaped: %s", a.body)
	}
	if got.Node != "n" || got.State != oapi.NodeStateRefusing || got.Settled != 5 || got.Revision != 6 || *got.UserAgent != "envoy" ||
		*got.Version != "1.40.0" || *got.Protocol != "delta ADS" || got.NextCursor != nil {
		t.Errorf("%s", a.body)
	}
	version := func(kind, name string) *string {
		var r oapi.Resource
		w.do(http.MethodGet, w.at("resources", kind, name), "").is(200, &r)
		return &r.Version
	}
	p := func(s string) *string { return &s }
	code := func(c oapi.ActionCode) *oapi.ActionCode { return &c }
	n := func(i int64) *int64 { return &i }
	yes, no := true, false
	const drops = "an Envoy over delta xDS drops what is not renewed"
	want := []oapi.NodeResource{
		{Type: oapi.Clusters, Name: "crowd", State: oapi.NodeResourceStateRefused, RefusedVersion: &crowd, RefusedRevision: n(5), Detail: p("no more"),
			Action: p("nothing sent: no resource could be held responsible"), ActionCode: code(oapi.NoSuspect), Since: &at},
		{Type: oapi.Clusters, Name: "fresh", State: oapi.NodeResourceStateAbsent, RefusedVersion: &fresh, RefusedRevision: n(4), Detail: p("no luck"),
			Action: p("removed from this node: no version of it was ever accepted"), ActionCode: code(oapi.Removed), Since: &at},
		{Type: oapi.Clusters, Name: "late", State: oapi.NodeResourceStatePending, Version: version("clusters", "late"), Revision: n(6),
			Ttl: p("1.5s"), TtlSent: &yes, TtlDetail: p(drops)},
		{Type: oapi.Listeners, Name: "l", State: oapi.NodeResourceStateRefused, Version: &good, Revision: n(1), RefusedVersion: &poison, RefusedRevision: n(3),
			Detail: p("<b>no</b>"), Action: p("kept the last known good version"), ActionCode: code(oapi.Kept), Since: &at, Ttl: p("30s"), TtlSent: &yes, TtlDetail: p(drops)},
		{Type: oapi.Secrets, Name: "s", State: oapi.NodeResourceStateUnreferenced, Version: version("secrets", "s"), Revision: n(2),
			Ttl: p("60s"), TtlSent: &no, TtlDetail: p("clients ignore the ttl of secrets")},
	}
	if d := cmp.Diff(want, got.Items); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The database filters by what it works out itself; what is told must agree with it.
func TestNodeConfigPagesAndFilters(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.aNodeInTrouble(time.Now())
	whole := inState(w.nodeConfig("n", "").Items)
	for _, state := range []string{"unreferenced", "pending", "refused", "absent"} {
		var want []string
		for _, item := range whole {
			if strings.HasSuffix(item, " "+state) {
				want = append(want, item)
			}
		}
		if d := cmp.Diff(want, inState(w.nodeConfig("n", "state="+state).Items)); d != "" || len(want) == 0 {
			t.Errorf("%s: %s", state, d)
		}
	}
	if got := inState(w.nodeConfig("n", "type=clusters&state=refused").Items); len(got) != 1 || got[0] != "clusters/crowd refused" {
		t.Errorf("refused clusters: %v", got)
	}
	var paged []string
	for query := "limit=2"; ; {
		page := w.nodeConfig("n", query)
		paged = append(paged, inState(page.Items)...)
		if page.NextCursor == nil {
			break
		}
		query = "limit=2&cursor=" + *page.NextCursor
	}
	if d := cmp.Diff(whole, paged); d != "" {
		t.Error(d)
	}
	path := w.at("nodes", "n", "config")
	for query, where := range map[string]string{"type=cluster": "?type", "state=bad": "?state", "limit=501": "?limit", "cursor=x": "?cursor"} {
		w.do(http.MethodGet, path+"?"+query, "").isProblem(400, "invalid_request", where)
	}
	var list oapi.ResourceList
	w.do(http.MethodGet, w.at("resources")+"?limit=1", "").is(200, &list)
	w.do(http.MethodGet, path+"?cursor="+*list.NextCursor, "").isProblem(400, "invalid_request", "?cursor")
}

func TestNodeConfigOfAnUnknownNodeSaysWhereToLook(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.settledNode(w.fleet.ID, "router-1", 0)
	for _, path := range []string{w.at("nodes", "Router-1", "config"), w.at("nodes", "Router-1")} {
		p := w.do(http.MethodGet, path, "").isProblem(404, "not_found", "")
		if !strings.Contains(*p.Detail, "no node of this id") || !strings.Contains(*p.Detail, "list of nodes") {
			t.Errorf("%s: %s", path, *p.Detail)
		}
	}
	if got := w.nodeConfig("router-1", ""); len(got.Items) != 0 || got.Items == nil || got.State != oapi.NodeStateLive {
		t.Errorf("of an empty fleet: %+v", got)
	}
}

func TestNodeConfigIsSyncedAtTheRevisionThatBroughtIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.settledNode(w.fleet.ID, "n", 1)
	w.put("b")
	w.write("clusters", "a", `{"labels": {"team": "shop"}, "body": `+cluster("a")+`}`) // a revision, and the same version
	want := []string{"clusters/a synced", "clusters/b pending"}
	if d := cmp.Diff(want, inState(w.nodeConfig("n", "").Items)); d != "" {
		t.Error(d)
	}
}

// What is withheld from a node was never sent to it, and that the node goes away does not change it.
func TestWhatIsWithheldFromANodeThatIsGoneIsNotSynced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	w.put("b")
	status := w.settledNode(w.fleet.ID, "n", 2)
	b := fleet.Ref{Type: fleet.Cluster, Name: "b"}
	status.Nodes[0].Waits = fleet.Waits{Withheld: []fleet.Withheld{{Ref: b, By: fleet.Ref{Type: fleet.Secret, Name: "s"}, Revision: 2}}}
	for _, connected := range []bool{true, false} {
		settled := fleet.Revision(2)
		status.Nodes[0].Connected, status.Nodes[0].Settled = connected, &settled
		must(t, w.nodes.Report(t.Context(), status))
		if d := cmp.Diff([]string{"clusters/a synced", "clusters/b pending"}, inState(w.nodeConfig("n", "").Items)); d != "" {
			t.Errorf("connected %t: %s", connected, d)
		}
		for state, want := range map[string][]string{"synced": {"clusters/a synced"}, "pending": {"clusters/b pending"}} {
			if d := cmp.Diff(want, inState(w.nodeConfig("n", "state="+state).Items)); d != "" {
				t.Errorf("connected %t, those %s: %s", connected, state, d)
			}
		}
		if got, want := w.why("n", "type=clusters&name=b").Items[0].Because, "it has no variants: it is for every node of the fleet; it is withheld: it names secrets/s, which the node has not"; got != want {
			t.Errorf("connected %t: %s", connected, got)
		}
	}
	status.Nodes[0].Waits.Withheld = append(status.Nodes[0].Waits.Withheld, fleet.Withheld{Ref: b, By: fleet.Ref{Type: fleet.Secret, Name: "s"}, Revision: 1})
	must(t, w.nodes.Report(t.Context(), status)) // of two revisions
	if got := w.why("n", "type=clusters&name=b").Items[0].Because; strings.Count(got, "secrets/s") != 1 {
		t.Errorf("of two revisions: %s", got)
	}
	for want, waits := range map[string]fleet.Waits{"has not answered: something that it needs is still open, or the node is stuck": {Warming: []fleet.Ref{b}}, "has not confirmed it yet": {}} {
		settled := fleet.Revision(1)
		status.Nodes[0].Connected, status.Nodes[0].Settled, status.Nodes[0].Waits = true, &settled, waits
		must(t, w.nodes.Report(t.Context(), status))
		if got := w.why("n", "type=clusters&name=b").Items[0].Because; !strings.Contains(got, want) {
			t.Errorf("%+v: %s", waits, got)
		}
	}
}

func TestNodeConfigWhenTheSubstituteIsRefusedToo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good := w.write("clusters", "a", asDocument(clusterWith("a", "1s")))
	poison := w.write("clusters", "a", asDocument(clusterWith("a", "2s")))
	status := w.settledNode(w.fleet.ID, "n", 0)
	status.Refusals = []fleet.Refusal{
		{Node: "n", Type: fleet.Cluster, Name: "a", Version: poison, Revision: 2, Detail: "first", Action: fleet.ActionKept, Good: good},
		{Node: "n", Type: fleet.Cluster, Name: "a", Version: good, Revision: 1, Detail: "second", Action: fleet.ActionStandInRefused, Beside: true},
	}
	must(t, w.nodes.Report(t.Context(), status))
	got := w.nodeConfig("n", "").Items[0]
	if got.State != oapi.NodeResourceStateRefused || *got.Version != good || *got.Detail != "first" || *got.ActionCode != oapi.StandInRefused ||
		*got.Action != "left alone: the version that stood in for it was refused too; another stream with this node id goes on as it is" {
		t.Errorf("%+v", got)
	}
	w.write("clusters", "a", asDocument(clusterWith("a", "3s"))) // ends both
	if got := inState(w.nodeConfig("n", "").Items); got[0] != "clusters/a pending" {
		t.Errorf("after a new version: %v", got)
	}
}

func TestWhoIsSentATTL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		t               fleet.Type
		agent, protocol string
		want            string
	}{
		{fleet.Listener, "envoy", "delta ADS", "yes"}, {fleet.Cluster, "envoy", "delta CDS", "yes"}, {fleet.Runtime, "envoy", "delta ADS", "yes"},
		{fleet.Extension, "envoy", "delta ADS", "yes"}, {fleet.ScopedRoute, "envoy", "delta ADS", "yes"}, {fleet.VirtualHost, "envoy", "delta ADS", "yes"},
		{fleet.Route, "envoy", "delta ADS", "no"}, {fleet.Endpoint, "gRPC Go", "delta ADS", "no"}, {fleet.Secret, "", "", "no"},
		{fleet.Listener, "envoy", "SotW ADS", "no"}, {fleet.Cluster, "envoy", "SotW CDS", "no"}, {fleet.Cluster, "envoy", "REST", "no"},
		{fleet.Cluster, "gRPC Go", "SotW ADS", "unknown"}, {fleet.Cluster, "gRPC Go", "delta ADS", "unknown"}, {fleet.Cluster, "", "delta ADS", "unknown"},
		{fleet.Cluster, "envoy", "", "unknown"}, {fleet.Cluster, "Envoy", "delta ADS", "unknown"},
	} {
		word := ttlFor(c.t, store.NodeView{UserAgent: c.agent, Protocol: c.protocol})
		got := map[bool]string{true: "yes", false: "no"}[word.sent]
		if !word.known {
			got = "unknown"
		}
		if got != c.want || word.why == "" {
			t.Errorf("%s to %q over %q: %s (%s), want %s", c.t, c.agent, c.protocol, got, word.why, c.want)
		}
	}
}

// What is read can be written again, to the letter.
func TestTTLIsAnsweredAsItIsTaken(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, ttl := range []string{"1s", "1.5s", "1.001s", "90s", "3600s", "31622399s"} {
		w.write("clusters", "a", `{"ttl": "`+ttl+`", "body": `+cluster("a")+`}`)
		a := w.do(http.MethodGet, w.at("resources", "clusters", "a"), "")
		var got oapi.Resource
		a.is(200, &got)
		if *got.Ttl != ttl {
			t.Errorf("%s is answered as %s", ttl, *got.Ttl)
		}
		var again oapi.WriteResult
		w.do(http.MethodPut, w.at("resources", "clusters", "a"), string(a.body)).isWritten(&again)
		if again.Changed != 0 {
			t.Errorf("%s: the same document again changed something", ttl)
		}
	}
}

func TestTTLWarnings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "clusters", "name": "a", "ttl": "30s", "body": `+cluster("a")+`},
		{"type": "routes", "name": "r", "ttl": "30s", "body": {"name": "r"}}]}`).is(200, &out)
	codes := each(*out.Warnings, func(f oapi.FieldError) string { return f.Code + " " + *f.Pointer })
	if d := cmp.Diff([]string{"ttl_delta_only /resources/0/ttl", "ttl_without_effect /resources/1/ttl"}, codes); d != "" {
		t.Error(d)
	}
	p := w.do(http.MethodPut, w.at("resources", "clusters", "a"), `{"ttl": "0.9s", "body": `+cluster("a")+`}`).isProblem(422, "invalid_resource", "/ttl")
	if f := (*p.Errors)[0]; f.Code != "ttl_invalid" || !strings.Contains(f.Detail, "at least 1s") {
		t.Errorf("%+v", f)
	}
}
