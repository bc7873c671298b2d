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
			asking, cancel := context.WithTimeout(ctx, patience)
			_, _ = a.receipt(asking, h, a.apis[rng.IntN(len(a.apis))], revision, haveAnswered) // as far as it comes
			cancel()
		}
	}
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

// heldUp reports whether the API says of one of these nodes that it refuses a version for which nothing stands in, as it is not known what it has. In state of the
// world it gets no clusters then (docs/semantics.md, 3.2): that happens where its server has never seen what the client had, in a fleet that changes too often to settle.
func (a *tenant) heldUp(t *testing.T, nodes map[node]bool) bool {
	t.Helper()
	for n := range nodes {
		if n.Tenant != a.slug {
			continue
		}
		r := answered(t, func(ctx context.Context) (*client.GetNodeResponse, error) {
			return a.apis[0].GetNodeWithResponse(ctx, a.slug, fleetName, n.ID)
		})
		if slices.ContainsFunc(r.JSON200.Refusals, func(x client.Refusal) bool {
			return x.Ended == nil && x.Name == refusedName && x.ActionCode != nil && *x.ActionCode == client.Unknown
		}) {
			return true
		}
	}
	return false
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

// insist asks until there is an answer: of a connection that broke the next request may still hear.
func insist[A any](t *testing.T, ask func(context.Context) (A, error)) A {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := ask(ctx)
		if err == nil {
			return got
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no answer within %s: %v", hang, err)
		case <-tick.C:
		}
	}
}

// answered insists on what was asked for.
func answered[A answer](t *testing.T, ask func(context.Context) (A, error)) A {
	t.Helper()
	return insist(t, func(ctx context.Context) (A, error) {
		got, err := ask(ctx)
		if err == nil && got.StatusCode() != http.StatusOK {
			err = fmt.Errorf("%d %s", got.StatusCode(), got.GetBody())
		}
		return got, err
	})
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
				r := answered(t, func(ctx context.Context) (*client.ListResourceHistoryResponse, error) {
					return api.ListResourceHistoryWithResponse(ctx, a.slug, fleetName, "clusters", name, &client.ListResourceHistoryParams{Limit: &limit, Cursor: cursor})
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
	r := answered(t, func(ctx context.Context) (*client.ListResourcesOfTypeResponse, error) {
		return api.ListResourcesOfTypeWithResponse(ctx, a.slug, fleetName, "clusters", &client.ListResourcesOfTypeParams{Limit: &limit})
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
