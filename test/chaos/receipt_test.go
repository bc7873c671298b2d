package chaos

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// late is what a receipt says of a node that has the revision and came after it, as by a clock that was behind when that was committed.
const late = string(client.ReceiptNodeStateLate)

// haveAnswered are the states of nodes that took or refused a revision.
var haveAnswered = []client.GetReceiptParamsState{client.GetReceiptParamsStateAcked, client.GetReceiptParamsStateLate, client.GetReceiptParamsStateNacked}

// anyState are all states that a receipt has.
var anyState = append(slices.Clone(haveAnswered), client.GetReceiptParamsStatePending, client.GetReceiptParamsStateOffline)

// receipt reads what that of a revision says of the nodes that are in one of these states, and notes it.
func (a *tenant) receipt(ctx context.Context, h *history, api *client.ClientWithResponses, revision int64, states []client.GetReceiptParamsState) (map[string]string, error) {
	got := map[string]string{}
	for _, state := range states {
		for ask := (client.GetReceiptParams{State: &state, Limit: &limit}); ; {
			r, err := api.GetReceiptWithResponse(ctx, a.slug, fleetName, revision, &ask)
			if err != nil {
				return nil, err
			}
			if r.JSON200 == nil {
				return nil, fmt.Errorf("the receipt of %d: %d %s", revision, r.StatusCode(), r.Body)
			}
			for _, n := range r.JSON200.Nodes {
				got[n.Id] = string(n.State)
				h.observed(node{a.slug, n.Id}, revision, string(n.State))
			}
			if ask.Cursor = r.JSON200.NextCursor; ask.Cursor == nil {
				break
			}
		}
	}
	return got, nil
}

// last is the last revision of a name.
type last struct {
	key
	version
}

// lasts are those of a tenant's names, the newest first: who has that has mostly all.
func (a *tenant) lasts(h *history) (all []last) {
	for k, versions := range h.truth {
		if k.Tenant == a.slug {
			all = append(all, last{k, versions[len(versions)-1]})
		}
	}
	slices.SortFunc(all, func(x, y last) int { return cmp.Compare(y.Revision, x.Revision) })
	return all
}

// lack is what a receipt says of nodes, and is not to.
type lack struct {
	of         last
	says, want string
	nodes      []string
}

func (l lack) String() string {
	some := l.nodes[:min(len(l.nodes), 10)]
	return fmt.Sprintf("the receipt of revision %d, %s %s number %d, says %s of %d nodes, want %s: %s", l.of.Revision, l.of.Tenant, l.of.Name, l.of.Number, l.says, len(l.nodes), l.want, strings.Join(some, " "))
}

// lacks are what the receipt of a revision lacks that lists the nodes in these states.
func (a *tenant) lacks(t *testing.T, h *history, in *installation, of last, states []client.GetReceiptParamsState) (wrong []lack) {
	t.Helper()
	got := insist(t, func(ctx context.Context) (map[string]string, error) {
		return a.receipt(ctx, h, a.apis[0], of.Revision, states)
	})
	nodes := map[[2]string][]string{}
	for n := range in.refusers {
		want, says := string(acked), cmp.Or(got[n.ID], "nothing")
		if h.refuses(n, content{of.Tenant, of.Name, of.Number}) {
			want = string(nacked)
		}
		if n.Tenant == a.slug && says != want && (want != string(acked) || says != late || in.clock == nil) {
			nodes[[2]string{says, want}] = append(nodes[[2]string{says, want}], n.ID)
		}
	}
	for k, ids := range nodes {
		slices.Sort(ids)
		wrong = append(wrong, lack{of, k[0], k[1], ids})
	}
	slices.SortFunc(wrong, func(x, y lack) int { return cmp.Or(cmp.Compare(x.says, y.says), cmp.Compare(x.want, y.want)) })
	return wrong
}

// answers says whether as many nodes as there are have answered, by the counts of a receipt: one request, where its lists are several.
func (a *tenant) answers(t *testing.T, in *installation, revision int64) bool {
	t.Helper()
	state, one, nodes := client.GetReceiptParamsStatePending, 1, 0
	for n := range in.refusers {
		if n.Tenant == a.slug {
			nodes++
		}
	}
	r := answered(t, func(ctx context.Context) (*client.GetReceiptResponse, error) {
		return a.apis[0].GetReceiptWithResponse(ctx, a.slug, fleetName, revision, &client.GetReceiptParams{State: &state, Limit: &one})
	})
	c := r.JSON200.Counts
	return c.Acked+c.Nacked+c.Late >= nodes
}

// awaitReceipts waits until the receipts of the last revisions of all names say what each node did, and do so one after the other. The lists of one
// that is short of answers are not read.
func (a *tenant) awaitReceipts(t *testing.T, h *history, in *installation, deadline time.Time) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	begun, slow := time.Now(), false
	for again := true; again; {
		again = false
		for _, of := range a.lasts(h) {
			for !a.answers(t, in, of.Revision) || len(a.lacks(t, h, in, of, haveAnswered)) > 0 {
				again = true
				if over := time.Now().After(deadline); over || !slow && time.Since(begun) > hang/10 {
					slow = true
					a.sayWhatLacks(t, h, in, time.Since(begun), over)
				}
				<-tick.C
			}
		}
	}
	t.Logf("the receipts of %s say what all nodes did after %s", a.slug, time.Since(begun).Round(time.Millisecond))
}

// sayWhatLacks says what receipts lack at present, if they do, and ends the test by that if the time is over.
func (a *tenant) sayWhatLacks(t *testing.T, h *history, in *installation, after time.Duration, over bool) {
	t.Helper()
	var said []string
	one := "" // that lacks
	for _, of := range a.lasts(h) {
		for _, l := range a.lacks(t, h, in, of, anyState) {
			said, one = append(said, l.String()), l.nodes[0]
		}
	}
	if len(said) == 0 {
		return
	}
	t.Logf("after %s still:\n%s\n%s", after.Round(time.Second), strings.Join(said, "\n"), in.known(t, a, one))
	if over {
		t.FailNow()
	}
}

// known is what is known of a node: by the API, and by what each server said of it, with when the lease of that ends by the database's clock.
func (in *installation) known(t *testing.T, a *tenant, id string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	conn, err := pgx.Connect(ctx, in.pg.URL(in.DB.Name, localpg.Superuser))
	world.Must(t, err)
	defer conn.Close(ctx) //nolint:errcheck // nothing is pending
	var rows string
	world.Must(t, conn.QueryRow(ctx, `
SELECT coalesce(string_agg(to_jsonb(r)::text, E'\n'), 'no server has said anything of it')
  FROM (SELECT s.server_id, s.connected, coalesce(s.settled, v.settled) AS settled, s.since, x.lease_until - clock_timestamp() AS lease_ends_in, x.lease_until - x.seen_at AS lease
          FROM node_status s JOIN tenants t ON t.id = s.tenant_id LEFT JOIN xds_servers x USING (server_id) LEFT JOIN server_settled v USING (tenant_id, fleet_id, server_id)
         WHERE t.slug = $1 AND s.node_id = $2) r`, a.slug, id).Scan(&rows))
	r := answered(t, func(ctx context.Context) (*client.GetNodeResponse, error) {
		return a.apis[0].GetNodeWithResponse(ctx, a.slug, fleetName, id)
	})
	return fmt.Sprintf("%s\n%s", r.Body, rows)
}

// TestWhatAReceiptLacks: what one says is compared with what nodes did, in whatever state and on whatever page it has them.
func TestWhatAReceiptLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says    map[string][]string // by state
		stepped bool                // the clock
		want    []string
	}{
		"all have answered":                           {says: map[string][]string{"acked": {"n1", "n3"}, "nacked": {"n2"}}},
		"the clock was behind":                        {says: map[string][]string{"late": {"n1", "n3"}, "nacked": {"n2"}}, stepped: true},
		"it came later, and the clock makes no steps": {says: map[string][]string{"acked": {"n1"}, "late": {"n3"}, "nacked": {"n2"}}, want: []string{"says late of 1 nodes, want acked: n3"}},
		"it refused, and came later":                  {says: map[string][]string{"acked": {"n1", "n3"}, "late": {"n2"}}, stepped: true, want: []string{"says late of 1 nodes, want nacked: n2"}},
		"it refused, and is said to have taken it":    {says: map[string][]string{"acked": {"n1", "n2", "n3"}}, want: []string{"says acked of 1 nodes, want nacked: n2"}},
		"it took it, and is said to have refused":     {says: map[string][]string{"acked": {"n1"}, "nacked": {"n2", "n3"}}, want: []string{"says nacked of 1 nodes, want acked: n3"}},
		"it is pending":                               {says: map[string][]string{"pending": {"n1", "n3"}, "nacked": {"n2"}}, want: []string{"says pending of 2 nodes, want acked: n1 n3"}},
		"it is offline":                               {says: map[string][]string{"acked": {"n1", "n3"}, "offline": {"n2"}}, want: []string{"says offline of 1 nodes, want nacked: n2"}},
		"it is not there":                             {says: map[string][]string{"acked": {"n3"}, "nacked": {"n2"}}, stepped: true, want: []string{"says nothing of 1 nodes, want acked: n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, err := client.NewClientWithResponses(receipts(t, c.says))
			world.Must(t, err)
			a := &tenant{slug: "acme", apis: []*client.ClientWithResponses{api}}
			in := &installation{refusers: map[node]bool{{"acme", "n1"}: false, {"acme", "n2"}: true, {"acme", "n3"}: false, {"umbrella", "n4"}: false}}
			if c.stepped {
				in.clock = &clock{}
			}
			h := newHistory(func(n node, c content) bool { return in.refusers[n] && refusable(c) })
			h.truth[key{"acme", refusedName}], h.truth[key{"umbrella", "a"}] = []version{{4, 2, false}, {5, 3, false}}, []version{{9, 1, false}}
			for _, of := range a.lasts(h) {
				if of.Revision != 5 {
					t.Errorf("it asks for revision %d", of.Revision)
				}
				if wrong := a.lacks(t, h, in, of, haveAnswered); len(wrong) != len(c.want) {
					t.Errorf("of those that have answered it says %v", wrong)
				}
				var said []string
				for _, l := range a.lacks(t, h, in, of, anyState) {
					said = append(said, strings.TrimPrefix(l.String(), "the receipt of revision 5, acme "+refusedName+" number 3, "))
				}
				if !slices.Equal(said, c.want) {
					t.Errorf("it says %q, want %q", said, c.want)
				}
			}
			if want := len(c.says["pending"])+len(c.says["offline"]) == 0 && len(c.says["acked"])+len(c.says["late"])+len(c.says["nacked"]) == 3; a.answers(t, in, 5) != want {
				t.Errorf("all have answered: %v, want %v", !want, want)
			}
		})
	}
}

// receipts are an API of receipts alone, which say this, with a page for each node.
func receipts(t *testing.T, says map[string][]string) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		state, from := r.URL.Query().Get("state"), r.URL.Query().Get("cursor")
		nodes, more := "", ""
		for i, id := range says[state] {
			if id > from {
				nodes = fmt.Sprintf(`{"id": %q, "state": %q}`, id, state)
				if i < len(says[state])-1 {
					more = fmt.Sprintf(`, "next_cursor": %q`, id)
				}
				break
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"revision": 5, "state": "pending", "committed_at": "2026-01-02T03:04:05Z", "counts": {"acked": %d, "late": %d, "nacked": %d, "pending": %d, "offline": %d}, "nodes": [%s]%s}`,
			len(says["acked"]), len(says["late"]), len(says["nacked"]), len(says["pending"]), len(says["offline"]), nodes, more)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
