package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// request is one that went through an Envoy.
type request struct {
	Node         node
	Name         string // of the cluster that it was for; "": the one that the route names, which is always there
	Since, Ended int64  // what was in force at Since may have been when it began
	Answer       string // who answered, or what else came
	Clock        string // when it did
}

// requested notes one that has ended.
func (h *history) requested(r request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	r.Ended = h.clock
	h.requests = append(h.requests, r)
}

// whole is a set, with all that the client has to remove for it.
func (h *history) whole(n node, contents []content) []content {
	for name, number := range h.holds(n) {
		if number != 0 && !slices.ContainsFunc(contents, func(o content) bool { return o.Name == name }) {
			contents = append(contents, content{n.Tenant, name, 0})
		}
	}
	return contents
}

// backendOf names who answers for a content: one of two of each tenant.
func backendOf(c content) string { return fmt.Sprintf("%s/%d", c.Tenant, c.Number%2) }

// sight is what an Envoy may have in force.
type sight struct {
	serves bool
	may    map[string][]int64 // by name: what it took last, and all that it was given since
}

func (s *sight) note(n note) {
	switch n.Did {
	case forgot:
		s.serves, s.may = false, map[string][]int64{}
	case serves:
		s.serves = true
	case received:
		for _, c := range n.Contents {
			s.may[c.Name] = append(s.of(c.Name), c.Number)
		}
	case acked:
		for _, c := range n.Contents {
			all := s.of(c.Name)
			at := len(all) - 1
			for at > 0 && all[at] != c.Number {
				at--
			}
			s.may[c.Name] = slices.Clone(all[at:])
		}
	}
}

func (s *sight) of(name string) []int64 {
	if all := s.may[name]; len(all) > 0 {
		return all
	}
	return []int64{0}
}

// checkRequests: a request to a cluster that the Envoy has is answered, and by whom a content leads to that it may have then. Those may fail whose
// cluster it may not have, and those between the end of an Envoy and the first answer of the next one.
func (h *history) checkRequests(say func(string, ...any)) {
	notes := map[node][]note{}
	for _, n := range h.notes {
		notes[n.Node] = append(notes[n.Node], n)
	}
	of := map[node][]request{}
	for _, r := range h.requests {
		of[r.Node] = append(of[r.Node], r)
	}
	tenants := h.tenants()
	for n, requests := range of {
		slices.SortFunc(requests, func(a, b request) int { return int(a.Since - b.Since) })
		at, then := 0, &sight{may: map[string][]int64{}}
		for _, r := range requests {
			for ; at < len(notes[n]) && notes[n][at].At <= r.Since; at++ {
				then.note(notes[n][at])
			}
			h.checkRequest(r, tenants, then, notes[n][at:], say)
		}
	}
}

// checkRequest judges one, before which the Envoy had what then says; after is what it noted from then on.
func (h *history) checkRequest(r request, tenants map[string]bool, then *sight, after []note, say func(string, ...any)) {
	may, judged := slices.Clone(then.of(r.Name)), then.serves
	for _, n := range after {
		if n.At > r.Ended {
			break
		}
		judged = judged && n.Did != forgot
		for _, c := range n.Contents {
			if c.Name == r.Name && n.Did == received {
				may = append(may, c.Number)
			}
		}
	}
	tenant, _, answered := strings.Cut(r.Answer, "/")
	answered = answered && tenants[tenant]
	if answered && tenant != r.Node.Tenant {
		say("crossed: %v was answered by %s", r.Node, r.Answer)
		return
	}
	if answered && r.Name == "" || !judged {
		return
	}
	if r.Name == "" {
		say("failed: at %s, %d to %d, %v answered the route %q", r.Clock, r.Since, r.Ended, r.Node, r.Answer)
		return
	}
	for _, number := range may {
		if !answered && number == 0 || answered && r.Answer == backendOf(content{tenant, r.Name, number}) {
			return
		}
	}
	say("failed: at %s, %d to %d, %v answered %q for %s, of which it may have number %v%s", r.Clock, r.Since, r.Ended, r.Node, r.Answer, r.Name, may, h.tale(r.Node, r.Name))
}

func swapName(n int64) string { return fmt.Sprint("swap-", n%3) }

// swap is the document that moves the tenant's route to the next cluster, which comes with it, while the one before goes.
func (a *tenant) swap(n int64) string {
	name := swapName(n)
	doc := world.Together(
		world.NewResource("routes", "r", fmt.Sprintf(`{name: r, virtual_hosts: [{name: all, domains: ["*"], routes: [
			{match: {prefix: /swap}, route: {cluster: %s, timeout: 0s}}, {match: {prefix: /}, route: {cluster_header: x-cluster, timeout: 0s}}]}]}`, name)),
		world.Cluster(name, fmt.Sprint(60+n%1000, "s")), world.Endpoints(name, a.backends[n%2]))
	if n > 0 {
		doc += world.Removal(world.NewResource("clusters", swapName(n-1), ""), world.NewResource("endpoints", swapName(n-1), ""))
	}
	return doc
}

// apply makes one revision of a document, and asks with one key until it is answered or ctx ends.
func (a *tenant) apply(ctx context.Context, t *testing.T, doc, key string) (done bool) {
	for at := 0; ctx.Err() == nil; at++ {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		r, err := a.apis[at%len(a.apis)].ApplyWithBodyWithResponse(asking, a.slug, fleetName, &client.ApplyParams{IdempotencyKey: &key}, "application/yaml", strings.NewReader(doc))
		cancel()
		switch {
		case err != nil || r.StatusCode() >= http.StatusInternalServerError || r.StatusCode() == http.StatusTooManyRequests || r.StatusCode() == http.StatusConflict:
		case r.JSON200 != nil:
			return true
		default:
			t.Errorf("an apply was refused: %d %s", r.StatusCode(), r.Body)
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false
}

// next swaps the route's cluster. What was not answered before is sent again.
func (a *tenant) next(ctx context.Context, t *testing.T) {
	if a.key == "" {
		a.key = uuid.NewString()
	}
	if a.apply(ctx, t, a.swap(a.swaps+1), a.key) {
		a.swaps, a.key = a.swaps+1, ""
	}
}

// move swaps the route's cluster until ctx ends. The last swap may not be answered.
func (a *tenant) move(ctx context.Context, t *testing.T, pause time.Duration) {
	for ctx.Err() == nil {
		a.next(ctx, t)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// backend answers every request with a name.
func backend(t testing.TB, name string) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}
