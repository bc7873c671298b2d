package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// TestNodesThatAreTooOldAreWarnedOf: a route that fetches its virtual hosts is refused by
// Envoy 1.36, and its writer is told before any node says so.
func TestNodesThatAreTooOldAreWarnedOf(t *testing.T) {
	t.Parallel()
	w := setup(t)
	server := fleet.NewServerID()
	term, err := w.nodes.Lease(t.Context(), server, "test", time.Minute)
	must(t, err)
	connected := true
	come := func(agent, version string, ids ...string) {
		t.Helper()
		s := fleet.Status{Key: fleet.Key{Tenant: w.tenant.ID, Fleet: w.fleet.ID}, Server: server, Term: term}
		for _, id := range ids {
			s.Nodes = append(s.Nodes, fleet.NodeStatus{Node: id, Connected: connected, Since: time.Now(), Protocol: "delta ADS", Streams: 1, UserAgent: agent, Version: version})
		}
		must(t, w.nodes.Report(t.Context(), s))
	}
	const plain, onDemand = `{"name": "r"}`, `{"name": "r", "vhds": {"config_source": {"ads": {}}}}`
	warned := func(body string) string {
		t.Helper()
		var out oapi.WriteResult
		w.do(http.MethodPut, w.at("resources", "routes", "r"), asDocument(body)).isWritten(&out)
		return strings.Join(each(deref(out.Warnings), func(f oapi.FieldError) string { return f.Code + " " + *f.Pointer + " " + f.Detail }), ";")
	}
	come("envoy", "1.37.0", "new")
	come("gRPC Go", "1.36.0", "another client")
	if got := warned(onDemand); got != "" {
		t.Errorf("no node is too old: %s", got)
	}
	connected = false
	come("envoy", "1.35.0", "gone")
	if got := warned(onDemand); got != "" {
		t.Errorf("the old node is not here any more: %s", got)
	}
	connected = true
	come("envoy", "1.36.4", "a", "b")
	come("envoy", "1.36.1", "c")
	if got := warned(plain); got != "" {
		t.Errorf("the route has its virtual hosts: %s", got)
	}
	got := warned(onDemand)
	for _, part := range []string{"unsupported_by_nodes  ", "Envoy 1.37", `2 nodes with "1.36.4", 1 node with "1.36.1".`, "refuse routes/r"} {
		if !strings.Contains(got, part) {
			t.Errorf("the warning is %q, which does not say %q", got, part)
		}
	}
	for i := range 7 {
		come("envoy", fmt.Sprintf("1.2%d.0", i), fmt.Sprintf("old-%d", i))
	}
	if got = warned(onDemand); !strings.Contains(got, " and more.") || strings.Count(got, " node with ") > 5 {
		t.Errorf("nine versions: %q", got)
	}
	var out oapi.WriteResult
	w.do(http.MethodPost, w.at("apply"), `{"resources": [{"type": "routes", "name": "p", "body": {"name": "p"}}, {"type": "routes", "name": "q", "body": {"name": "q", "vhds": {"config_source": {"ads": {}}}}}],
		"delete": [{"type": "routes", "name": "r"}]}`).is(200, &out)
	if ws := deref(out.Warnings); len(ws) != 1 || *ws[0].Pointer != "/resources/1" {
		t.Errorf("the warnings are %+v", ws)
	}
}
