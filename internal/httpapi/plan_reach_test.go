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

// reachOf is what a plan says of whom it reaches: of all, and of each resource.
func reachOf(p oapi.Plan) string {
	if p.Reach == nil {
		return "nothing"
	}
	views := each(p.Reach.Views, func(v oapi.PlanView) string { return fmt.Sprintf("%d as %s", v.Nodes, v.Example) })
	resources := each(p.Resources, func(r oapi.PlannedResource) string {
		return fmt.Sprintf("%s%s %d", r.Name, deref(r.Variant), deref(r.Nodes))
	})
	return fmt.Sprintf("%d of %d (%s): %s; %s", p.Reach.Reached, p.Reach.Nodes, strings.Join(views, ", "), strings.Join(p.Reach.Ids, " "), strings.Join(resources, ", "))
}

func TestAPlanTellsWhomItReaches(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a") // 1
	if got, want := reachOf(w.plan(applyOf(named("clusters", "a", clusterWith("a", "5s"))))), "0 of 0 (): ; a 0"; got != want {
		t.Errorf("without nodes: %s, want %s", got, want)
	}
	w.labeled(1, map[string]*fleet.NodeLabels{"eu1": {Region: "eu"}, "eu2": {Region: "eu"}, "us": {Region: "us"}, "unlabeled": {Region: "asia"}})
	eu := func(timeout string) string {
		return `{"type": "clusters", "name": "a", "variant": "eu", "selector": "locality.region=eu", "body": ` + clusterWith("a", timeout) + `}`
	}
	for _, c := range []struct{ name, body, want string }{
		{"all", applyOf(named("clusters", "a", clusterWith("a", "5s"))), "4 of 4 (4 as eu1): eu1 eu2 unlabeled us; a 4"},
		{"unchanged", applyOf(named("clusters", "a", cluster("a"))), "0 of 4 (): ; a 0"},
		{"kept", `{"resources": [{"type": "clusters", "name": "a", "keep": true}]}`, "0 of 4 (): ; a 0"},
		{"new", applyOf(named("clusters", "a", cluster("a")), named("clusters", "b", cluster("b"))), "4 of 4 (4 as eu1): eu1 eu2 unlabeled us; a 0, b 4"},
		{"a variant for some", applyOf(eu("2s")), "2 of 4 (2 as eu1): eu1 eu2; aeu 2"},
		{"a variant with the same content", applyOf(eu("1s")), "0 of 4 (): ; aeu 0"},
		{"deleted", `{"delete": [{"type": "clusters", "name": "a"}]}`, "4 of 4 (4 as eu1): eu1 eu2 unlabeled us; a 4"},
		{"both", applyOf(eu("2s"), named("clusters", "a", clusterWith("a", "3s"))), "4 of 4 (2 as eu1, 2 as unlabeled): eu1 eu2 unlabeled us; aeu 2, a 4"},
	} {
		if got := reachOf(w.plan(c.body)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(eu("2s"))).is(200, nil) // 2
	if got, want := reachOf(w.plan(applyOf(named("clusters", "a", clusterWith("a", "3s"))))), "2 of 4 (2 as unlabeled): unlabeled us; a 2"; got != want {
		t.Errorf("beside a variant: %s, want %s", got, want)
	}
	// The ids come in pages.
	var ids []string
	query := "?limit=1"
	for range 4 {
		var p oapi.Plan
		w.do(http.MethodPost, w.at("plan")+query, `{"delete": [{"type": "clusters", "name": "a", "variant": "eu"}]}`).is(200, &p)
		ids = append(ids, p.Reach.Ids...)
		if p.Reach.NextCursor == nil {
			break
		}
		query = "?limit=1&cursor=" + *p.Reach.NextCursor
	}
	if d := cmp.Diff([]string{"eu1", "eu2"}, ids); d != "" {
		t.Error(d)
	}
	w.do(http.MethodPost, w.at("plan")+"?cursor=x", applyOf(eu("2s"))).isProblem(400, "invalid_request", "")
}

func TestAPlanTellsWhatWouldBeWithheld(t *testing.T) {
	t.Parallel()
	w := setup(t)
	listener := func(route string) string {
		return named("listeners", "l", `{"name": "l", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}, "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {`+
			`"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "in", `+
			`"rds": {"route_config_name": "`+route+`", "config_source": {"ads": {}, "resource_api_version": "V3"}}, `+
			`"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`)
	}
	waits := func(p oapi.Plan) string {
		return strings.Join(each(p.Resources, func(r oapi.PlannedResource) string { return fmt.Sprint(r.Name, " ", deref(r.WithheldBy)) }), ", ")
	}
	route := named("routes", "r", `{"name": "r"}`)
	if got, want := waits(w.plan(applyOf(listener("r")))), "l [{r routes}]"; got != want {
		t.Errorf("without its route: %s, want %s", got, want)
	}
	if got, want := waits(w.plan(applyOf(listener("r"), route))), "l [], r []"; got != want {
		t.Errorf("with its route: %s, want %s", got, want)
	}
	w.do(http.MethodPost, w.at("apply"), applyOf(listener("r"), route)).is(200, nil)
	if got, want := waits(w.plan(strings.TrimSuffix(applyOf(listener("r")), "}")+`, "delete": [{"type": "routes", "name": "r"}]}`)), "l [], r []"; got != want {
		t.Errorf("that is unchanged: %s, want %s", got, want)
	}
}
