package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func (w *world) why(node, query string) oapi.NodeReasons {
	w.t.Helper()
	var out oapi.NodeReasons
	w.do(http.MethodGet, w.at("nodes", node, "why")+"?"+query, "").is(200, &out)
	return out
}

func TestWhyANodeHasIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")                                                                                                     // 1
	w.put("b")                                                                                                     // 2
	w.do(http.MethodPut, w.variant("a", "eu"), variantOf("a", "locality.region=eu", 0, "1s")).isWritten(nil)       // 3
	w.do(http.MethodPut, w.variant("a", "canary"), variantOf("a", "metadata.canary", 1, "2s")).isWritten(nil)      // 4
	w.do(http.MethodPut, w.variant("only", "eu"), variantOf("only", "locality.region=eu", 0, "1s")).isWritten(nil) // 5
	w.labeled(5, map[string]*fleet.NodeLabels{"eu": {Region: "eu"}, "us": {Region: "us"}, "both": {Region: "eu", Zone: "z", MetadataJSON: []byte(`{"canary": 12345678901234567890}`)}})
	for node, want := range map[string][]string{
		"eu":   {`a: the variant "eu" matches: locality.region=eu`, "b: it has no variants: it is for every node of the fleet", `only: the variant "eu" matches: locality.region=eu`},
		"us":   {"a: none of its variants matches the node: the default one is for it", "b: it has no variants: it is for every node of the fleet"},
		"both": {`a: the variant "canary" matches: metadata.canary; of those that match it has the highest priority, or the name that sorts first among equals`, "b: it has no variants: it is for every node of the fleet", `only: the variant "eu" matches: locality.region=eu`},
	} {
		got := each(w.why(node, "").Items, func(i oapi.NodeReason) string { return i.Resource.Name + ": " + i.Because })
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", node, d)
		}
	}
	both := w.why("both", "type=clusters&name=a")
	if len(both.Items) != 1 {
		t.Fatalf("%+v", both)
	}
	i := both.Items[0]
	if *i.Why.Selector != "metadata.canary" || *i.Why.Priority != 1 || (*i.Why.Requirements)[0].Requirement != "metadata.canary" || !(*i.Why.Requirements)[0].Holds || *i.Resource.Variant != "canary" || *i.Resource.Revision != 4 {
		t.Errorf("%+v", i)
	}
	if over := i.Why.PassedOver; len(over) != 1 || over[0].Variant != "eu" || !over[0].Matches || *over[0].Requirements[0].Has != "eu" {
		t.Errorf("%+v", i.Why.PassedOver)
	}
	if *both.Labels.Zone != "z" || (*both.Labels.Metadata)["canary"] == nil || both.LabelsUnknown != nil {
		t.Errorf("%+v", both.Labels)
	}
	none := w.why("us", "type=clusters&name=only").Items
	if len(none) != 1 || none[0].Resource.State != oapi.NodeResourceStateUnmatched || none[0].Why.PassedOver[0].Requirements[0].Holds || *none[0].Why.PassedOver[0].Requirements[0].Has != "us" {
		t.Errorf("%+v", none)
	}
	w.do(http.MethodGet, w.at("nodes", "us", "why")+"?type=clusters&name=nothing", "").isProblem(404, "not_found", "")
	w.do(http.MethodGet, w.at("nodes", "us", "why")+"?name=a", "").isProblem(400, "invalid_request", "?name")
	w.do(http.MethodGet, w.at("nodes", "nobody", "why"), "").isProblem(404, "not_found", "")
	first := w.why("eu", "limit=2")
	rest := w.why("eu", "limit=2&cursor="+*first.NextCursor)
	if len(first.Items) != 2 || len(rest.Items) != 1 || rest.NextCursor != nil {
		t.Errorf("pages of %d and %d", len(first.Items), len(rest.Items))
	}
	w.refusingNode(w.fleet.ID, "no", fleet.Refusal{Type: fleet.Cluster, Name: "b", Version: *w.why("us", "type=clusters&name=b").Items[0].Resource.Version, Revision: 2, Detail: "no", Action: fleet.ActionRemoved})
	if got := w.why("no", "type=clusters&name=b").Items[0].Because; !strings.Contains(got, "refused the version of revision 2") {
		t.Errorf("%s", got)
	}
	var n oapi.Node
	w.do(http.MethodGet, w.at("nodes", "both"), "").is(200, &n)
	if n.Labels == nil || *n.Labels.Region != "eu" {
		t.Errorf("the node's page: %+v", n.Labels)
	}
}

// What nothing names is asked for by nobody, and is not called synced.
func TestWhatNobodyNamesIsNotSynced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a") // it names the endpoints a
	for _, name := range []string{"a", "b"} {
		w.do(http.MethodPut, w.at("resources", "endpoints", name), asDocument(`{"cluster_name": "`+name+`"}`)).isWritten(nil)
	}
	w.settledNode(w.fleet.ID, "n", 2)
	want := []string{"clusters/a synced", "endpoints/a synced", "endpoints/b pending"}
	if got := inState(w.nodeConfig("n", "").Items); !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
	w.settledNode(w.fleet.ID, "m", 3)
	want[2] = "endpoints/b unreferenced"
	if got := inState(w.nodeConfig("m", "").Items); !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for state, want := range map[string][]string{
		"synced": {"clusters/a synced", "endpoints/a synced"}, "unreferenced": {"endpoints/b unreferenced"}, "pending": {}, "unmatched": {},
	} {
		if got := inState(w.nodeConfig("m", "state="+state).Items); !cmp.Equal(got, want) {
			t.Errorf("%s: %v", state, got)
		}
	}
	if got := w.why("m", "type=endpoints&name=b").Items[0].Because; !strings.Contains(got, "nothing in the fleet names it") {
		t.Error(got)
	}
}

// What a node that polls over REST never asks for is not called synced, and why says that it polls.
func TestWhatAPollingNodeNeverAsksFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	polls := strings.Replace(cluster("p"), `"ads": {}`, `"api_config_source": {"api_type": "REST", "transport_api_version": "V3", "cluster_names": ["fairlead_xds"], "refresh_delay": "1s"}`, 1)
	if polls == cluster("p") {
		t.Fatalf("no source of endpoints in %s", polls)
	}
	w.put("a")
	w.do(http.MethodPut, w.at("resources", "clusters", "p"), asDocument(polls)).isWritten(nil)
	for _, name := range []string{"a", "p"} {
		w.do(http.MethodPut, w.at("resources", "endpoints", name), asDocument(`{"cluster_name": "`+name+`"}`)).isWritten(nil)
	}
	status := w.settledNode(w.fleet.ID, "n", 4)
	status.Nodes[0].Protocol = "REST LDS"
	must(t, w.nodes.Report(t.Context(), status))
	if d := cmp.Diff([]string{"clusters/a synced", "clusters/p synced", "endpoints/a not_subscribed", "endpoints/p synced"}, inState(w.nodeConfig("n", "").Items)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"endpoints/a not_subscribed"}, inState(w.nodeConfig("n", "state=not_subscribed").Items)); d != "" {
		t.Error(d)
	}
	if got := w.why("n", "type=endpoints&name=a").Items[0]; got.Resource.State != oapi.NodeResourceStateNotSubscribed || !strings.Contains(got.Because, "polls over REST, and does not ask for it") {
		t.Errorf("%s: %s", got.Resource.State, got.Because)
	}
}

// manyVariants writes so many variants of each name, each with a selector of as many requirements as there may be, which ask for one label of the
// node n. That has as much of it as is kept.
func (w *world) manyVariants(each int, names ...string) {
	w.t.Helper()
	var docs []string
	for _, name := range names {
		for i := range each {
			var requirements []string
			for j := range 31 {
				requirements = append(requirements, fmt.Sprintf("metadata.x!=%d", 100+j))
			}
			requirements = append(requirements, fmt.Sprintf("metadata.x!=v%d", i))
			docs = append(docs, fmt.Sprintf(`{"type": "clusters", "name": %q, "variant": "v%d", "selector": %q, "priority": %[2]d, "body": {"name": %[1]q}}`, name, i, strings.Join(requirements, ",")))
		}
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+strings.Join(docs, ",")+`]}`).is(200, nil)
	w.labeled(1, map[string]*fleet.NodeLabels{"n": {MetadataJSON: []byte(`{"x": "` + strings.Repeat("y", 16_000) + `"}`)}})
}

// TestT09_WhyIsBoundedInBytes: a label, which may be long, is asked for by each of a selector's requirements, and a name has as many variants as the fleet
// may have resources.
func TestT09_WhyIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.manyVariants(150, "a")
	a := w.do(http.MethodGet, w.at("nodes", "n", "why")+"?type=clusters&name=a", "")
	var out oapi.NodeReasons
	a.is(200, &out)
	if len(a.body) > 2<<20 {
		t.Errorf("the answer of one name has %d bytes", len(a.body))
	}
	why := out.Items[0].Why
	if *out.Items[0].Resource.Variant != "v149" || len(*why.Requirements) != 32 || len(why.PassedOver) != 100 || deref(why.MorePassedOver) != 49 {
		t.Errorf("the node has %s, %d are told and %d more", *out.Items[0].Resource.Variant, len(why.PassedOver), deref(why.MorePassedOver))
	}
	if has := *why.PassedOver[0].Requirements[0].Has; has != strings.Repeat("y", 256) {
		t.Errorf("%d bytes are told of a label", len(has))
	}
}

// TestWhyTellsFirstOfVariantsThatMatch, where there are too many to tell of all.
func TestWhyTellsFirstOfVariantsThatMatch(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var docs []string
	for i := range 120 {
		region := "us"
		if i >= 110 {
			region = "eu"
		}
		docs = append(docs, fmt.Sprintf(`{"type": "clusters", "name": "a", "variant": "v%03d", "selector": "locality.region=%s", "body": {"name": "a"}}`, i, region))
	}
	w.do(http.MethodPost, w.at("apply"), `{"resources": [`+strings.Join(docs, ",")+`]}`).is(200, nil)
	w.labeled(1, map[string]*fleet.NodeLabels{"n": {Region: "eu"}})
	i := w.why("n", "type=clusters&name=a").Items[0]
	told := each(i.Why.PassedOver, func(v oapi.VariantReason) string { return v.Variant })
	if *i.Resource.Variant != "v110" || len(told) != 100 || told[0] != "v111" || told[8] != "v119" || told[9] != "v000" || deref(i.Why.MorePassedOver) != 19 || !strings.Contains(i.Because, "highest priority") {
		t.Errorf("%s, %q, %d more, %s", *i.Resource.Variant, told, deref(i.Why.MorePassedOver), i.Because)
	}
}
