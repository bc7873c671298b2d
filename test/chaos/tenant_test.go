package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// watch asks for receipts of the tenant's newest revisions until ctx ends, and notes what they say of nodes.
func (a *tenant) watch(ctx context.Context, h *history, rng *rand.Rand) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
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
	limit := 500
	for _, state := range []client.GetReceiptParamsState{client.GetReceiptParamsStateAcked, client.GetReceiptParamsStateNacked} {
		r, err := api.GetReceiptWithResponse(ctx, a.slug, fleetName, revision, &client.GetReceiptParams{State: &state, Limit: &limit})
		if err != nil {
			return err
		}
		if r.JSON200 == nil {
			return fmt.Errorf("the receipt of %d: %d", revision, r.StatusCode())
		}
		for _, n := range r.JSON200.Nodes {
			h.observed(node{a.slug, n.Id}, revision, string(n.State))
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

// untold tells what the receipt of the last revision of each name does not say yet.
func (a *tenant) untold(t *testing.T, h *history, in *installation) (wrong []string) {
	t.Helper()
	for k, versions := range h.truth {
		if k.Tenant != a.slug {
			continue
		}
		last := versions[len(versions)-1]
		got := map[string]string{}
		limit := 500
		for _, state := range []client.GetReceiptParamsState{client.GetReceiptParamsStateAcked, client.GetReceiptParamsStateNacked} {
			r := answered(t, func() (*client.GetReceiptResponse, error) {
				return a.apis[0].GetReceiptWithResponse(t.Context(), a.slug, fleetName, last.Revision, &client.GetReceiptParams{State: &state, Limit: &limit})
			})
			for _, n := range r.JSON200.Nodes {
				got[n.Id] = string(n.State)
				h.observed(node{a.slug, n.Id}, last.Revision, string(n.State))
			}
		}
		for n := range in.refusers {
			want := string(acked)
			if h.refuses(n, content{k.Tenant, k.Name, last.Number}) {
				want = string(nacked)
			}
			if n.Tenant == a.slug && got[n.ID] != want {
				wrong = append(wrong, fmt.Sprintf("the receipt of revision %d, %s %s, says %q of %s, want %s", last.Revision, k.Tenant, k.Name, got[n.ID], n.ID, want))
			}
		}
	}
	return wrong
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
	api, limit := a.apis[1], 500
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
