package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// limit is how many items a page of an answer has at most.
var limit = 500

// watch asks for receipts of the tenant's newest revisions until ctx ends, with a pause after each, and notes what they say of nodes.
func (a *tenant) watch(ctx context.Context, h *history, rng *rand.Rand, pause time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		revision := h.newest(a.slug) - rng.Int64N(20)
		if revision > 0 {
			_ = a.receipt(ctx, h, a.apis[rng.IntN(len(a.apis))], revision)
		}
	}
}

// receipt notes whom one says to have taken or refused the revision.
func (a *tenant) receipt(ctx context.Context, h *history, api *client.ClientWithResponses, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, state := range []client.GetReceiptParamsState{client.GetReceiptParamsStateAcked, client.GetReceiptParamsStateLate, client.GetReceiptParamsStateNacked} {
		for ask := (client.GetReceiptParams{State: &state, Limit: &limit}); ; {
			r, err := api.GetReceiptWithResponse(ctx, a.slug, fleetName, revision, &ask)
			if err != nil {
				return err
			}
			if r.JSON200 == nil {
				return fmt.Errorf("the receipt of %d: %d", revision, r.StatusCode())
			}
			for _, n := range r.JSON200.Nodes {
				h.observed(node{a.slug, n.Id}, revision, string(n.State))
			}
			if ask.Cursor = r.JSON200.NextCursor; ask.Cursor == nil {
				break
			}
		}
	}
	return nil
}

// newest is the newest revision of a tenant that was acknowledged.
func (h *history) newest(tenant string) (newest int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := max(0, len(h.writes)-100); i < len(h.writes); i++ {
		if w := h.writes[i]; w.Tenant == tenant {
			newest = max(newest, w.Revision)
		}
	}
	return newest
}

// heldUp reports whether the API says of an Envoy that it refuses a version for which nothing stands in, as it is not known what it has. In state of the
// world it gets no clusters then (docs/semantics.md, 3.2): that happens where its server has never seen what the client had, in a fleet that changes too often to settle.
func (a *tenant) heldUp(t *testing.T, in *installation) bool {
	t.Helper()
	return slices.ContainsFunc(in.envoys, func(e *envoy) bool {
		if e.tenant != a {
			return false
		}
		r := answered(t, func() (*client.GetNodeResponse, error) {
			return a.apis[0].GetNodeWithResponse(t.Context(), a.slug, fleetName, e.ID)
		})
		return slices.ContainsFunc(r.JSON200.Refusals, func(x client.Refusal) bool {
			return x.Ended == nil && x.Name == refusedName && x.ActionCode != nil && *x.ActionCode == client.Unknown
		})
	})
}

// free writes a version of that name which nobody refuses, as it is told to do.
func (a *tenant) free(t *testing.T, h *history, writers []*writer) {
	t.Helper()
	for _, w := range writers {
		if w.tenant == a.slug && w.names[0] == refusedName {
			for w.numbers[refusedName]++; !w.put(t.Context(), refusedName) && t.Context().Err() == nil; {
				w.numbers[refusedName] += 3
			}
		}
	}
	a.tell(t, h, writers)
}

// untold tells what the receipt of the last revision of each name does not say yet.
func (a *tenant) untold(t *testing.T, h *history, in *installation) (wrong []string) {
	t.Helper()
	for k, versions := range h.truth {
		if k.Tenant != a.slug {
			continue
		}
		last := versions[len(versions)-1]
		got := a.told(t, h, last.Revision)
		for n := range in.refusers {
			want := string(acked)
			if h.refuses(n, content{k.Tenant, k.Name, last.Number}) {
				want = string(nacked)
			}
			if is := got[n.ID]; n.Tenant == a.slug && is != want && (want != string(acked) || is != late || in.clock == nil) {
				wrong = append(wrong, fmt.Sprintf("the receipt of revision %d, %s %s, says %q of %s, want %s", last.Revision, k.Tenant, k.Name, got[n.ID], n.ID, want))
			}
		}
	}
	return wrong
}

// late is what a receipt says of a node that has the revision and came after it, as by a clock that was behind when that was committed.
const late = string(client.ReceiptNodeStateLate)

// told is what the receipt of a revision says of each node that it has as acked, late or nacked.
func (a *tenant) told(t *testing.T, h *history, revision int64) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, state := range []client.GetReceiptParamsState{client.GetReceiptParamsStateAcked, client.GetReceiptParamsStateNacked} {
		for ask := (client.GetReceiptParams{State: &state, Limit: &limit}); ; {
			r := answered(t, func() (*client.GetReceiptResponse, error) {
				return a.apis[0].GetReceiptWithResponse(t.Context(), a.slug, fleetName, revision, &ask)
			})
			for _, n := range r.JSON200.Nodes {
				got[n.Id] = string(n.State)
				h.observed(node{a.slug, n.Id}, revision, string(n.State))
			}
			if ask.Cursor = r.JSON200.NextCursor; ask.Cursor == nil {
				break
			}
		}
	}
	return got
}

// answered asks until there is an answer with what was asked for: of a connection that broke the next request may still hear.
func answered[A answer](t *testing.T, ask func() (A, error)) (got A) {
	t.Helper()
	world.Eventually(t, hang, "no answer", func() (ok bool) {
		var err error
		got, err = ask()
		return err == nil && got.StatusCode() == http.StatusOK
	})
	return got
}

// tell notes what the API tells of all names.
func (a *tenant) tell(t *testing.T, h *history, writers []*writer) {
	t.Helper()
	api := a.apis[1]
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range writers {
		for _, name := range w.names {
			if w.tenant != a.slug {
				continue
			}
			k := key{a.slug, name}
			var versions []version // the newest first
			for cursor := (*string)(nil); ; {
				r := answered(t, func() (*client.ListResourceHistoryResponse, error) {
					return api.ListResourceHistoryWithResponse(t.Context(), a.slug, fleetName, "clusters", name, &client.ListResourceHistoryParams{Limit: &limit, Cursor: cursor})
				})
				for _, c := range r.JSON200.Items {
					v := version{Revision: c.Revision, Number: -1}
					if c.Message != nil {
						v.Number, _ = strconv.ParseInt(*c.Message, 10, 64)
					}
					v.Rollback = c.Kind != nil && *c.Kind == "rollback"
					versions = append([]version{v}, versions...)
				}
				if cursor = r.JSON200.NextCursor; cursor == nil {
					break
				}
			}
			h.truth[k] = versions
		}
	}
	r := answered(t, func() (*client.ListResourcesOfTypeResponse, error) {
		return api.ListResourcesOfTypeWithResponse(t.Context(), a.slug, fleetName, "clusters", &client.ListResourcesOfTypeParams{Limit: &limit})
	})
	for k := range h.present {
		if k.Tenant == a.slug {
			delete(h.present, k)
		}
	}
	for _, c := range read(r.Body) {
		h.present[key{a.slug, c.Name}] = c.Number
	}
}

// summary tells how much there was to check.
func (h *history) summary() string {
	count := map[string]int{}
	for _, w := range h.writes {
		count[string(w.Outcome)]++
	}
	for _, n := range h.notes {
		count[string(n.Did)]++
	}
	for _, o := range h.observations {
		count["said to be "+o.State]++
	}
	for _, r := range h.requests {
		if strings.HasPrefix(r.Answer, r.Node.Tenant+"/") {
			count["requests answered"]++
		} else {
			count["requests that failed"]++
		}
	}
	return fmt.Sprint(count)
}
