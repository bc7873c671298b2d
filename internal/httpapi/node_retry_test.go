package httpapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	var refusals []fleet.Refusal
	for i := range maxRetryRefs + 1 {
		refusals = append(refusals, fleet.Refusal{Type: fleet.Cluster, Name: fmt.Sprintf("c%03d", i), Version: "v", Revision: 1, Detail: "no"})
	}
	refusals = append(refusals, fleet.Refusal{Type: fleet.Listener, Revision: 1, Detail: "nobody's fault"})
	w.refusingNode(w.fleet.ID, "a/b", refusals...)
	retry := w.at("nodes", "a/b", "retry")

	var out oapi.Retry
	w.do(http.MethodPost, retry, "").is(200, &out)
	if out.Node != "a/b" || out.State != "live" || out.Retried != maxRetryRefs+1 || len(out.Resources) != maxRetryRefs {
		t.Errorf("%s is %s, %d retried, %d named", out.Node, out.State, out.Retried, len(out.Resources))
	}
	if d := cmp.Diff(oapi.ResourceRef{Type: "clusters", Name: "c000"}, out.Resources[0]); d != "" {
		t.Error(d)
	}
	var n oapi.Node
	w.do(http.MethodGet, w.at("nodes", "a/b"), "").is(200, &n)
	for _, r := range n.Refusals {
		if r.ResolvedAt == nil || r.ResolvedBy != nil || *r.Ended != oapi.RefusalEndOffered {
			t.Errorf("%s has not ended as it is offered again: %+v", r.Name, r)
		}
	}
	w.do(http.MethodPost, retry, "").isProblem(409, "nothing_refused", "")
	w.do(http.MethodPost, w.at("nodes", "nobody", "retry"), "").isProblem(404, "not_found", "")

	var audited int
	super := w.db.Connect(t, w.db.Owner)
	defer super.Close(t.Context()) //nolint:errcheck // only read from
	must(t, super.QueryRow(t.Context(), `SELECT count(*) FROM audit_events WHERE action = 'node.retry' AND object = 'node a/b'`).Scan(&audited))
	if audited != 1 {
		t.Errorf("%d audit events, want one: what was refused did not happen", audited)
	}
}
