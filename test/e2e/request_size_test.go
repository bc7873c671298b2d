package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestSoakT40_LargestRequest: what a real Envoy says at once when it comes back with 10,000
// clusters and their endpoints fits into a request, with names as long as they get (128
// bytes). Every day a twentieth of them has to fit into a twentieth. In delta, since in state
// of the world no versions are reported. docs/servers.md has the figures.
func TestSoakT40_LargestRequest(t *testing.T) {
	const limit = 4 << 20
	n := 10_000
	if os.Getenv("FAIRLEAD_SOAK") == "" {
		n = 500
	}
	for name, service := range map[string]func(i int) string{
		"names of 128 bytes": func(i int) string { return fmt.Sprintf("service-%0120d", i) },
		"names of a mesh": func(i int) string {
			return fmt.Sprintf("outbound|8080||service-%05d.namespace-%02d.svc.cluster.local", i, i%20)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.fill(n, service)
			p := world.NewTap(t, w.XDS().Address)
			e := w.Launch("large", p.Address, true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			world.Must(t, e.Ready(ctx))
			w.taken(static("last", "1s"))
			before := p.Cut()
			world.Eventually(t, time.Minute, "it did not come back", func() bool { return p.Sees(before, fleet.Cluster) && p.Sees(before, fleet.Endpoint) })
			w.taken(static("last", "2s"))
			first, again := largestOf(p.Requests(0)), largestOf(p.Requests(before))
			t.Logf("%d names: the largest request has %d bytes, the largest of those that come back %d", n, first.Size, again.Size)
			if most := max(first.Size, again.Size); most > limit*n/10_000 {
				t.Errorf("%d bytes for %d names, more than fit", most, n)
			}
			if len(again.Reported) < n {
				t.Errorf("it reported %d versions: the measure is of something else", len(again.Reported))
			}
		})
	}
}

func largestOf(requests []world.Asked) (most world.Asked) {
	for _, a := range requests {
		if a.Size > most.Size {
			most = a
		}
	}
	return most
}

// fill writes so many clusters and their endpoints.
func (w *installation) fill(n int, service func(i int) string) {
	w.T.Helper()
	const batch = 500
	for at := 0; at < n; at += batch {
		var rs []world.Resource
		for i := at; i < min(n, at+batch); i++ {
			rs = append(rs, world.Cluster(service(i), "1s"), world.Endpoints(service(i), "127.0.0.1:80"))
		}
		w.Apply(world.Together(rs...))
	}
}

// taken waits until all nodes have ACKed a resource that is written now.
func (w *installation) taken(r world.Resource) {
	w.T.Helper()
	revision := w.Put(r)
	world.Eventually(w.T, time.Minute, r.Name+" was not taken", func() bool { return w.Receipt(revision).State == "delivered" })
}
