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

// What a node does not ask for is not called synced, and its page says what it asks for.
func TestWhatANodeDoesNotAskForIsNotSynced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	for _, name := range []string{"l", "m"} {
		w.write("listeners", name, asDocument(fmt.Sprintf(`{"name": %q, "address": {"socket_address": {"address": "127.0.0.1", "port_value": 1}}}`, name)))
	}
	w.write("runtimes", "r", asDocument(`{"name": "r", "layer": {"a": 1}}`))
	status := w.settledNode(w.fleet.ID, "n", 4)
	subs := &status.Nodes[0].Subscribes
	page := func() (n oapi.Node) {
		t.Helper()
		w.do(http.MethodGet, w.at("nodes", "n"), "").is(200, &n)
		return n
	}
	if n := page(); n.Subscribes != nil {
		t.Errorf("before it is told: %+v", *n.Subscribes)
	}
	subs.Types[fleet.Cluster], subs.Types[fleet.Listener] = fleet.AsksAll, fleet.AsksNames
	subs.Listeners = []string{"m"}
	must(t, w.nodes.Report(t.Context(), status))
	want := []oapi.NodeSubscription{{Type: oapi.Clusters, Wildcard: true}, {Type: oapi.Listeners, Names: &[]string{"m"}}}
	if n := page(); n.Subscribes == nil || !cmp.Equal(want, *n.Subscribes) {
		t.Errorf("its page: %+v", n.Subscribes)
	}
	all := []string{"clusters/a synced", "listeners/l not_subscribed", "listeners/m synced", "runtimes/r not_subscribed"}
	if d := cmp.Diff(all, inState(w.nodeConfig("n", "").Items)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{all[1], all[3]}, inState(w.nodeConfig("n", "state=not_subscribed").Items)); d != "" {
		t.Error(d)
	}
	if got := w.why("n", "type=runtimes&name=r").Items[0].Because; !strings.Contains(got, "does not ask for it") {
		t.Error(got)
	}
	subs.Listeners, subs.Many = nil, 57
	must(t, w.nodes.Report(t.Context(), status))
	if n := page(); *(*n.Subscribes)[1].Named != 57 || (*n.Subscribes)[1].Names != nil {
		t.Errorf("many names: %+v", *n.Subscribes)
	}
}
