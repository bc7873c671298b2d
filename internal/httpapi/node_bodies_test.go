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

// Asked for bodies, the answer has what the node runs: of what it refused the version that stands in, of a secret nothing that is one.
func TestNodeConfigWithBodiesTellsWhatTheNodeRuns(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.aNodeInTrouble(time.Now())
	a := w.do(http.MethodGet, w.at("nodes", "n", "config")+"?bodies=true", "")
	var got oapi.NodeConfig
	a.is(200, &got)
	if strings.Contains(string(a.body), secretText) {
		t.Fatalf("the secret is told: %s", a.body)
	}
	said := map[string]string{}
	for _, i := range got.Items {
		word := "nothing"
		if i.Body != nil {
			word = string(*i.Body)
		}
		if i.Secret != nil {
			word += " of a " + i.Secret.Kind
		}
		said[fmt.Sprintf("%s/%s", i.Type, i.Name)] = word
	}
	for name, words := range map[string]string{
		"listeners/l": "port", "clusters/late": "late", "secrets/s": "nothing of a generic_secret", "clusters/fresh": "nothing", "clusters/crowd": "nothing",
	} {
		if !strings.Contains(said[name], words) {
			t.Errorf("%s: %s, want %s", name, said[name], words)
		}
	}
	if l := strings.ReplaceAll(said["listeners/l"], " ", ""); !strings.Contains(l, `port_value":1}`) && !strings.Contains(l, `portValue":1}`) {
		t.Errorf("of the listener that it refused: %s, want the last known good version", l)
	}
	if a := w.do(http.MethodGet, w.at("nodes", "n", "config")+"?bodies=perhaps", ""); a.status != 400 {
		t.Errorf("bodies=perhaps: %d", a.status)
	}
}

// The history forgets the version that stands in for a refused one; the refusal keeps its bytes.
func TestNodeConfigWithBodiesOutlivesTheHistory(t *testing.T) {
	t.Parallel()
	w := setup(t)
	good := w.write("clusters", "a", asDocument(clusterWith("a", "1s")))
	poison := w.write("clusters", "a", asDocument(clusterWith("a", "2s")))
	status := w.settledNode(w.fleet.ID, "n", 0)
	status.Refusals = []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "a", Version: poison, Revision: 2, Detail: "no", Action: fleet.ActionKept, Good: good}}
	must(t, w.nodes.Report(t.Context(), status))
	w.db.Exec(t, `DELETE FROM resource_history WHERE revision = 1`)
	got := w.nodeConfig("n", "bodies=true").Items[0]
	if got.Body == nil || !strings.Contains(string(*got.Body), `"1s"`) {
		t.Errorf("%+v", got)
	}
}
