package httpapi

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// TestSoakTenThousandInOneApply: so many are written at once, and found unchanged; what is too large for one body is told what to do. It is
// a twentieth without FAIRLEAD_SOAK.
func TestSoakTenThousandInOneApply(t *testing.T) {
	t.Parallel()
	many := 500
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		many = 10_000
	}
	w := setup(t)
	body := chainOf(many, 0)
	first := w.apply(body)
	if first.Revision != 1 || first.Changed != many || len(first.Resources) != many {
		t.Errorf("revision %d, %d changed, %d told of", first.Revision, first.Changed, len(first.Resources))
	}
	again := w.apply(body)
	if again.Revision != 1 || again.Changed != 0 {
		t.Errorf("again: revision %d, %d changed", again.Revision, again.Changed)
	}
	for _, path := range []string{"apply", "plan"} {
		p := w.do(http.MethodPost, w.at(path), body+strings.Repeat(" ", maxDocument)).isProblem(413, "body_too_large", "")
		if want := "the body is larger than 4 MiB: send fewer resources at once, in several requests"; deref(p.Detail) != want {
			t.Errorf("%s: %q, want %q", path, deref(p.Detail), want)
		}
	}
}

// unpaced takes off the limits on how often is asked, for tests that ask often.
func (w *world) unpaced(clients int) {
	w.t.Helper()
	for _, l := range []store.LimitName{store.LimitWrites, store.LimitTokenWrites, store.LimitReads, store.LimitTokenReads} {
		w.limit(l, 1<<30)
	}
	wires := &http.Transport{MaxIdleConnsPerHost: clients}
	w.t.Cleanup(wires.CloseIdleConnections)
	w.http = &http.Client{Transport: wires}
}

// TestSoakConditionalWrites: a hundred clients count in 25 clusters, each on If-Match, and once more when somebody was first. 10,000
// times with FAIRLEAD_SOAK, else a fiftieth.
func TestSoakConditionalWrites(t *testing.T) {
	t.Parallel()
	const clients, counters = 100, 25
	each := 2
	if os.Getenv("FAIRLEAD_SOAK") != "" {
		each = 100
	}
	w := setup(t)
	w.unpaced(clients)
	for i := range counters {
		w.put(fmt.Sprint("c", i))
	}
	var stale atomic.Int64
	told := make([][]int64, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for range each {
				told[i] = append(told[i], w.countUp(fmt.Sprint("c", i%counters), &stale))
			}
		})
	}
	all.Wait()

	revisions := slices.Sorted(slices.Values(slices.Concat(told...)))
	for i, r := range revisions {
		if want := int64(counters + 1 + i); r != want {
			t.Fatalf("write %d was told revision %d, want %d: each write is a revision of its own", i, r, want)
		}
	}
	for i := range counters {
		if n, _ := w.count(fmt.Sprint("c", i)); n != 1+clients/counters*each {
			t.Errorf("c%d stands at %d, want %d: a write was lost", i, n, 1+clients/counters*each)
		}
	}
	t.Logf("%d writes, %d times somebody was first", len(revisions), stale.Load())
	if stale.Load() == 0 {
		t.Error("nobody was ever too late: nothing was tried")
	}
}

// count is where a cluster stands, in the seconds of its timeout, and its ETag.
func (w *world) count(name string) (n int, tag string) {
	w.t.Helper()
	var r struct {
		Body struct {
			Timeout string `json:"connect_timeout"`
		}
	}
	tag = w.patiently(http.MethodGet, w.at("resources", "clusters", name), "").is(200, &r).header.Get("ETag")
	d, err := time.ParseDuration(r.Body.Timeout)
	must(w.t, err)
	return int(d.Seconds()), tag
}

// patiently repeats a request until the API has time for it.
func (w *world) patiently(method, path, body string, headers ...string) (a answer) {
	w.t.Helper()
	for a = w.do(method, path, body, headers...); a.status == http.StatusServiceUnavailable; {
		a = w.do(method, path, body, headers...)
	}
	return a
}

// countUp adds one to where a cluster stands, and returns the revision that it made. By its key a repeat is the same write.
func (w *world) countUp(name string, stale *atomic.Int64) int64 {
	w.t.Helper()
	for {
		n, tag := w.count(name)
		a := w.patiently(http.MethodPut, w.at("resources", "clusters", name), asDocument(clusterWith(name, fmt.Sprintf("%ds", n+1))), "If-Match", tag, "Idempotency-Key", rand.Text())
		if a.status == http.StatusPreconditionFailed {
			stale.Add(1)
			continue
		}
		var out oapi.WriteResult
		a.is(200, &out)
		return out.Revision
	}
}
