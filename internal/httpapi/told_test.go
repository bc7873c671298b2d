package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// causes is what leads to each cause for which a resource is kept from a node, and the finding that tells of it, "" with the reason why there is none.
var causes = map[fleet.Cause]struct {
	write    func(w *world)
	withheld fleet.Withheld
	refusal  *fleet.Refusal
	finding  string
}{
	fleet.CauseMissing: {
		write: func(w *world) {
			w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(listener("l", "r"))).isWritten(nil)
		},
		withheld: fleet.Withheld{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 1},
		finding:  "error missing_reference listeners/l /body" + routeField,
	},
	fleet.CauseRefused: {
		write: func(w *world) {
			w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(listener("l", "r"))).isWritten(nil)
		},
		withheld: fleet.Withheld{Ref: fleet.Ref{Type: fleet.Listener, Name: "l"}, By: fleet.Ref{Type: fleet.Route, Name: "r"}, Revision: 1},
		refusal:  &fleet.Refusal{Type: fleet.Route, Name: "r", Version: "v", Revision: 1, Detail: "no", Action: fleet.ActionRemoved},
		// What the fleet holds is not to blame by itself: the node says so, and the receipt is rejected.
	},
	fleet.CauseSealed: {
		write: func(w *world) {
			w.do(http.MethodPut, w.at("resources", "secrets", "s"), asDocument(`{"name": "s", "generic_secret": {"secret": {"inline_string": "x"}}}`)).isWritten(nil)
		},
		withheld: fleet.Withheld{Ref: fleet.Ref{Type: fleet.Secret, Name: "s"}, By: fleet.Ref{Type: fleet.Secret, Name: "s"}, Revision: 1, Sealed: true},
		finding:  "error sealed_for_another_key secrets/s ",
	},
	fleet.CauseTooLarge: {
		write:    func(w *world) { w.put("a") },
		withheld: fleet.Withheld{Ref: fleet.Ref{Type: fleet.Cluster, Name: "a"}, By: fleet.Ref{Type: fleet.Cluster, Name: "a"}, Revision: 1},
		finding:  "error set_too_large clusters/a ",
	},
}

// TestEachCauseIsToldWherePeopleLook: in the receipt, on the node's page, in an event and, where the fleet's content is to blame, in a finding.
func TestEachCauseIsToldWherePeopleLook(t *testing.T) {
	t.Parallel()
	for _, cause := range fleet.Causes() {
		t.Run(cause.String(), func(t *testing.T) {
			t.Parallel()
			c, ok := causes[cause]
			if !ok {
				t.Fatal("nothing shows where this cause is told: say it here")
			}
			w := setup(t)
			status := w.settledNode(w.fleet.ID, "n", 0)
			c.write(w)
			if cause == fleet.CauseSealed { // the servers have another key than the API
				_, err := w.nodes.LeaseWith(t.Context(), fleet.NewServerID(), "s", time.Hour, store.ServerLoad{SealKey: "another"})
				must(t, err)
			}
			status.Settled, status.Nodes[0].Waits = 1, fleet.Waits{Withheld: []fleet.Withheld{c.withheld}}
			if c.refusal != nil {
				r := *c.refusal
				r.Node = "n"
				status.Refusals = []fleet.Refusal{r}
			}
			must(t, w.nodes.Report(t.Context(), status))
			must(t, w.nodes.TellDenied(t.Context(), []fleet.Denied{{Key: status.Key, Reason: cause.Denied(), Node: "n", Note: "what", Attempts: 1, First: time.Now(), Last: time.Now()}}))

			reason := oapi.WithheldReason(cause.String())
			if !reason.Valid() {
				t.Errorf("the contract has no such reason: %s", reason)
			}
			var r oapi.Receipt
			w.do(http.MethodGet, w.at("revisions", "1", "receipt"), "").is(200, &r)
			kept := func(list *[]oapi.Withheld) bool {
				return slices.ContainsFunc(deref(list), func(h oapi.Withheld) bool { return h.Reason == reason && h.Resource == refOf(c.withheld.Ref) })
			}
			if c.refusal == nil && (r.State != oapi.ReceiptStatePending || r.Counts.Withheld != 1 || !kept(r.Nodes[0].Withheld)) || c.refusal != nil && r.State != oapi.ReceiptStateRejected {
				t.Errorf("the receipt: %+v", r)
			}
			var n oapi.Node
			w.do(http.MethodGet, w.at("nodes", "n"), "").is(200, &n)
			if n.Waits == nil || !kept(&n.Waits.Withheld) {
				t.Errorf("the node's page: %+v", n.Waits)
			}
			var events oapi.EventList
			w.do(http.MethodGet, w.at("events")+"?kind=withheld", "").is(200, &events)
			if len(events.Items) != 1 || deref(events.Items[0].Reason) != oapi.DeniedReason("withheld_"+cause.String()) || !strings.Contains(*events.Items[0].Action, "is kept from it, as ") {
				t.Errorf("the events: %+v", events.Items)
			}
			if got := found(w.findings("")); c.finding != "" && !slices.Contains(got, c.finding) {
				t.Errorf("the findings are %q, want %q", got, c.finding)
			}
		})
	}
}

// TestStoredContentThatAsksForATypeThatIsNotServed: an older server took it. It is found at the place at which a write of it is refused, also in the answer of a write
// that touches it.
func TestStoredContentThatAsksForATypeThatIsNotServed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const served = `{"name": "l", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 1}}, "filter_chains": [{}]}`
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(served)).isWritten(nil)
	body, err := proto.Marshal(&listenerv3.Listener{Name: "l", FcdsConfig: &listenerv3.Listener_FcdsConfig{
		Name: "chains", ConfigSource: &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}},
	}})
	must(t, err)
	super := w.db.Connect(t, w.db.Owner)
	defer func() { _ = super.Close(context.WithoutCancel(t.Context())) }()
	tag, err := super.Exec(t.Context(), `UPDATE bodies b SET body = $1 FROM resources r WHERE r.name = 'l' AND b.tenant_id = r.tenant_id AND b.hash = r.body_hash`, body)
	must(t, err)
	if tag.RowsAffected() != 1 {
		t.Fatalf("%d bodies", tag.RowsAffected())
	}
	list := w.findings("?severity=error")
	if got, want := found(list), []string{"error unserved_type listeners/l /body/fcds_config/config_source"}; !slices.Equal(got, want) || !strings.Contains(list.Items[0].Detail, "write the filter chains as filter_chains") {
		t.Errorf("got %q, want %q: %+v", got, want, list.Items)
	}
	w.do(http.MethodPut, w.at("resources", "listeners", "l"), asDocument(strings.Replace(served, `"port_value": 1`, `"port_value": 2`, 1))).isWritten(nil)
	if got := found(w.findings("?severity=error")); len(got) > 0 {
		t.Errorf("written again: %q", got)
	}
}

// TestTheEndOfATokenIsFound in the fleet that it is bound to, before and after it, and no longer when it is revoked.
func TestTheEndOfATokenIsFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	day := 24 * time.Hour
	other := w.newFleet(w.tenant, "other").ID
	token := func(name string, ends time.Duration, bound *fleet.ID) string {
		w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleCI, Name: name, ExpiresAt: time.Now().Add(ends), Fleet: bound})
		list, _, err := w.store.Tokens(t.Context(), w.tenant.ID, store.CredentialFilter{Prefix: name})
		must(t, err)
		return list[0].ID.String()
	}
	token("soon", 13*day, &w.fleet.ID)
	over := token("over", -time.Hour, &w.fleet.ID)
	token("later", 15*day, &w.fleet.ID)
	token("long over", -15*day, &w.fleet.ID)
	token("elsewhere", day, &other)
	of := func() (out []string) {
		for _, f := range w.findings("?code=token_expires").Items {
			name, _, _ := strings.Cut(f.Detail, " (")
			out = append(out, fmt.Sprintf("%s %s", f.Severity, name))
		}
		slices.Sort(out)
		return out
	}
	if got, want := of(), []string{`warning the API token "over"`, `warning the API token "soon"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	w.do(http.MethodDelete, "/v1/tenants/acme/tokens/"+over, "").is(204, nil)
	if got, want := of(), []string{`warning the API token "soon"`}; !slices.Equal(got, want) {
		t.Errorf("with one revoked: got %q, want %q", got, want)
	}
}
