package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func addresses(prefix string, n int) (es []store.Endpoint) {
	for i := range n {
		es = append(es, store.Endpoint{Address: fmt.Sprintf("%s.%d:80", prefix, i), Weight: 1, Health: store.Healthy})
	}
	return es
}

func (w *world) setEndpoints(cluster string, es ...store.Endpoint) store.EndpointResult {
	w.Helper()
	r, err := w.app.WriteEndpoints(w.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: cluster, Set: es})
	w.ok(err)
	return r
}

func (w *world) removeEndpoints(cluster string, addresses ...string) store.EndpointResult {
	w.Helper()
	write := store.EndpointWrite{Actor: actor, Cluster: cluster}
	for _, a := range addresses {
		write.Remove = append(write.Remove, store.EndpointKey{Address: a})
	}
	r, err := w.app.WriteEndpoints(w.Context(), w.tenant, w.fleet, write)
	w.ok(err)
	return r
}

func (w *world) takeLease(ttl time.Duration, keepLast bool) fleet.LeaseID {
	w.Helper()
	l, err := w.app.TakeEndpointLease(w.Context(), w.tenant, w.fleet, actor, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: ttl, KeepLast: keepLast})
	w.ok(err)
	return l.ID
}

func leased(l fleet.LeaseID, es ...store.Endpoint) []store.Endpoint {
	for i := range es {
		es[i].Lease = l
	}
	return es
}

// join is how these tests build: the document's body, and the addresses behind it.
func join(us []store.Unbuilt) (all [][]store.Built) {
	for _, u := range us {
		docs := u.Documents
		if !slices.ContainsFunc(docs, func(d store.EndpointDocument) bool { return d.Variant == "" }) {
			docs = append(docs, store.EndpointDocument{})
		}
		var bs []store.Built
		for _, d := range docs {
			b := store.Built{Variant: d.Variant, Documented: strings.Count(string(d.Body), "e")}
			if len(u.Endpoints) > 0 && (d.Variant == "" || d.Body != nil) {
				body := string(d.Body)
				for _, e := range u.Endpoints {
					body += "|" + e.Address + string(e.Health[0])
				}
				b.Body, b.Version = []byte(body), "v-"+body
			}
			bs = append(bs, b)
		}
		all = append(all, bs)
	}
	return all
}

// build waits for a turn, builds, and returns the revision.
func (w *world) build() fleet.Revision {
	w.Helper()
	w.exec(`UPDATE endpoint_builds SET next_at = clock_timestamp()`)
	us, turn, err := w.app.ClaimEndpoints(w.Context(), w.tenant, w.fleet)
	w.ok(err)
	if !turn {
		w.Fatal("there was no turn")
	}
	n, err := w.app.CommitEndpoints(w.Context(), w.tenant, w.fleet, us, join(us))
	w.ok(err)
	return n
}

// served is what a proxy is served, by name and variant.
func served(rows []fleet.Row) map[string]string {
	out := map[string]string{}
	for _, r := range rows {
		out[strings.TrimSuffix(r.Name+"/"+r.Variant, "/")] = string(r.Body)
		if r.Deleted {
			out[strings.TrimSuffix(r.Name+"/"+r.Variant, "/")] = "-"
		}
	}
	return out
}

func (w *world) serves(want map[string]string) {
	w.Helper()
	if d := cmp.Diff(want, served(w.load().Rows)); d != "" {
		w.Errorf("what is served (-want +got):\n%s", d)
	}
}

// since is what a reader is told that was at a position.
func (w *world) since(at fleet.Position) map[string]string {
	w.Helper()
	cs := w.catchUp(fleet.Known{Key: w.key(), At: at})
	if len(cs) == 0 {
		return nil
	}
	if cs[0].Reload {
		w.Error("the reader was told to load anew")
	}
	return served(cs[0].Rows)
}

// Endpoints are served beside their document, by revisions of their own, and the document stays what it was.
func TestEndpointsAreServedBesideTheirDocument(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "a", "doc"), put(fleet.Cluster, "c", "C"))
	before := w.documents()
	at := w.load().At

	if r := w.setEndpoints("a", addresses("10.0.0", 2)...); !r.Changed || r.Set != 2 {
		t.Errorf("the first write came to %+v", r)
	}
	if r := w.setEndpoints("a", addresses("10.0.0", 2)...); r.Changed || r.Set != 0 {
		t.Errorf("its repeat came to %+v", r)
	}
	w.serves(map[string]string{"a": "doc", "c": "C"})
	if n := w.build(); n != 2 {
		t.Errorf("the build made revision %d", n)
	}
	if n := w.build(); n != 0 {
		t.Errorf("a build of nothing made revision %d", n)
	}
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h|10.0.0.1:80h", "c": "C"})
	if d := cmp.Diff(map[string]string{"a": "doc|10.0.0.0:80h|10.0.0.1:80h"}, w.since(at)); d != "" {
		t.Error("what a reader is told that was there before:", d)
	}
	if d := cmp.Diff(before, w.documents()); d != "" {
		t.Error("the documents:", d)
	}

	// Another document is served with the endpoints, never without them.
	w.apply(put(fleet.Endpoint, "a", "DOC"))
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h|10.0.0.1:80h", "c": "C"})
	w.build()
	w.serves(map[string]string{"a": "DOC|10.0.0.0:80h|10.0.0.1:80h", "c": "C"})
	w.apply(del(fleet.Endpoint, "a"))
	w.serves(map[string]string{"a": "DOC|10.0.0.0:80h|10.0.0.1:80h", "c": "C"})
	w.build()
	w.serves(map[string]string{"a": "|10.0.0.0:80h|10.0.0.1:80h", "c": "C"})
	if _, err := w.app.Resource(t.Context(), w.tenant, w.fleet, fleet.Endpoint, "a", ""); err == nil {
		t.Error("what has no document is a document")
	}

	// Without endpoints it is the document's again, or gone.
	at = w.load().At
	w.removeEndpoints("a", "10.0.0.0:80", "10.0.0.1:80", "10.0.0.2:80")
	w.build()
	w.serves(map[string]string{"a": "-", "c": "C"})
	if d := cmp.Diff(map[string]string{"a": "-"}, w.since(at)); d != "" {
		t.Error("what a reader is told when the last endpoint went:", d)
	}
	if n := w.count(`SELECT count(*) FROM endpoint_clusters`); n != 0 {
		t.Errorf("%d clusters without endpoints stay", n)
	}
}

// A cluster without a document is the data's: nothing of it is seen where documents are.
func TestEndpointsWithoutADocument(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "C"))
	at := w.load().At
	w.setEndpoints("b", addresses("10.0.0", 1)...)
	w.build()
	w.serves(map[string]string{"b": "|10.0.0.0:80h", "c": "C"})
	if d := cmp.Diff(map[string]string{"b": "|10.0.0.0:80h"}, w.since(at)); d != "" {
		t.Error("what a reader is told:", d)
	}
	if rs := w.documents(); len(rs) != 1 {
		t.Errorf("there are %d documents", len(rs))
	}
	at = w.load().At
	// A rollback to before leaves it, and makes no revision.
	if r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{}); err != nil || r.Changed != 0 {
		t.Errorf("a rollback came to %+v, %v", r, err)
	}
	// So does compaction, of which nobody is to be told.
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 100, History: 100}))
	w.serves(map[string]string{"b": "|10.0.0.0:80h", "c": "C"})
	w.removeEndpoints("b", "10.0.0.0:80")
	w.build()
	if d := cmp.Diff(map[string]string{"b": "-"}, w.since(at)); d != "" {
		t.Error("what a reader is told of its end:", d)
	}
	w.ok(w.app.Compact(t.Context(), w.tenant, w.fleet, store.Floors{Tombstones: 100, History: 100}))
	w.serves(map[string]string{"c": "C"})

	// A document that comes later has no revision before its own.
	w.setEndpoints("b", addresses("10.0.0", 1)...)
	w.build()
	if r := w.apply(put(fleet.Endpoint, "b", "doc")); !r.Created(0) {
		t.Errorf("the document is not new: %+v", r)
	}
	w.build()
	w.serves(map[string]string{"b": "doc|10.0.0.0:80h", "c": "C"})
}

// Who puts endpoints is told where no cluster of the fleet asks for them, of what changes and of what does not.
func TestEndpointsThatNoClusterAsksFor(t *testing.T) {
	w := setup(t)
	asks := func(name, eds string, refs ...fleet.Ref) store.ResourceChange {
		c := put(fleet.Cluster, name, name+eds)
		c.Derived = fleet.Derived{EDSName: eds, Refs: refs}
		return c
	}
	of := func(name string) fleet.Ref { return fleet.Ref{Type: fleet.Endpoint, Name: name} }
	unasked := func(cluster string, want bool) {
		t.Helper()
		for range 2 { // the second changes nothing
			if r := w.setEndpoints(cluster, addresses("10.0.0", 1)...); r.Unasked != want {
				t.Errorf("%s is unasked: %t", cluster, r.Unasked)
			}
		}
	}
	unasked("a", true)
	w.apply(asks("a", "a", of("a")), asks("b", "shop", of("shop")), asks("polls", "polls"), put(fleet.Cluster, "static", "static"))
	unasked("a", false)
	unasked("shop", false)
	unasked("polls", false)
	unasked("b", true)
	unasked("static", true)
	unasked("A", true)
	w.apply(del(fleet.Cluster, "a"), del(fleet.Cluster, "polls"))
	unasked("a", true)
	unasked("polls", true)
	if r := w.removeEndpoints("a", "10.0.0.0:80"); r.Unasked || r.Removed != 1 {
		t.Errorf("a removal came to %+v", r)
	}
}

// Each variant of a document is served with the endpoints, a new one from the first moment on, and a deleted one ends.
func TestEndpointsOfVariants(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "a", "doc"))
	w.setEndpoints("a", addresses("10.0.0", 1)...)
	w.build()
	variant := fill(store.ResourceChange{Type: fleet.Endpoint, Name: "a", Variant: "eu", Selector: "region=eu", Body: []byte("eu")})
	w.apply(variant)
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h", "a/eu": "doc|10.0.0.0:80h"})
	w.build()
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h", "a/eu": "eu|10.0.0.0:80h"})
	w.apply(store.ResourceChange{Type: fleet.Endpoint, Name: "a", Variant: "eu", Delete: true})
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h", "a/eu": "-"})
	w.build()
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h", "a/eu": "-"})
}

// What was written between the claim and the commit is built by the next turn, and of a document that has changed nothing old is served.
func TestEndpointsThatChangeWhileTheyAreBuilt(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "a", "doc"))
	w.setEndpoints("a", addresses("10.0.0", 1)...)
	claim := func() []store.Unbuilt {
		t.Helper()
		w.exec(`UPDATE endpoint_builds SET next_at = clock_timestamp()`)
		us, turn, err := w.app.ClaimEndpoints(t.Context(), w.tenant, w.fleet)
		if err != nil || !turn || len(us) != 1 {
			t.Fatalf("the claim is %+v, %t, %v", us, turn, err)
		}
		return us
	}
	commit := func(us []store.Unbuilt) fleet.Revision {
		t.Helper()
		n, err := w.app.CommitEndpoints(t.Context(), w.tenant, w.fleet, us, join(us))
		w.ok(err)
		return n
	}
	first := claim()
	if _, turn, err := w.app.ClaimEndpoints(t.Context(), w.tenant, w.fleet); turn || err != nil {
		t.Errorf("a second turn at once: %t, %v", turn, err)
	}
	w.setEndpoints("a", addresses("10.0.1", 1)...)
	second := claim()
	if n := commit(second); n != 2 {
		t.Errorf("the second build made revision %d", n)
	}
	if n := commit(first); n != 0 {
		t.Errorf("a build of what was before made revision %d", n)
	}
	w.serves(map[string]string{"a": "doc|10.0.0.0:80h|10.0.1.0:80h"})

	w.setEndpoints("a", addresses("10.0.2", 1)...)
	stale := claim()
	w.apply(put(fleet.Endpoint, "a", "new"))
	if n := commit(stale); n != 0 {
		t.Errorf("a build of the document before made revision %d", n)
	}
	w.build()
	w.serves(map[string]string{"a": "new|10.0.0.0:80h|10.0.1.0:80h|10.0.2.0:80h"})
}

// Revisions of endpoints are told as one line for a run, count as nobody's write, and are kept for ten minutes of ten a second.
func TestRevisionsOfEndpointsAreFolded(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "a", "doc"))
	for i := range 5 {
		w.setEndpoints("a", addresses(fmt.Sprint("10.0.", i), 1)...)
		w.build()
	}
	one := fleet.Revision(1)
	if _, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Expect: &one, Changes: []store.ResourceChange{put(fleet.Cluster, "b", "B")}}); err != nil {
		t.Errorf("a write that expects the last write: %v", err)
	}
	if _, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Expect: &one, Changes: []store.ResourceChange{put(fleet.Cluster, "b", "C")}}); !isStale(err) {
		t.Errorf("a write that expects the one before it: %v", err)
	}
	w.setEndpoints("a", addresses("10.0.9", 1)...)
	w.build()
	type line struct {
		Revision, From fleet.Revision
		Kind           string
	}
	lines := func(q store.RevisionFilter) (out []line) {
		t.Helper()
		rs, _, err := w.app.Revisions(t.Context(), w.tenant, w.fleet, q)
		w.ok(err)
		for _, r := range rs {
			out = append(out, line{r.Revision, r.RunFrom, r.Kind})
		}
		return out
	}
	want := []line{{8, 8, "endpoints"}, {7, 0, "apply"}, {6, 2, "endpoints"}, {1, 0, "apply"}}
	if d := cmp.Diff(want, lines(store.RevisionFilter{})); d != "" {
		t.Error("the history:", d)
	}
	if d := cmp.Diff(want[:3], lines(store.RevisionFilter{Limit: 3})); d != "" {
		t.Error("a page of it:", d)
	}
	if d := cmp.Diff([]line{want[0], want[2]}, lines(store.RevisionFilter{Kind: "endpoints"})); d != "" {
		t.Error("those of endpoints:", d)
	}
	// A revision within a run can be gone back to, and its history costs a row.
	if r, err := w.app.Rollback(t.Context(), w.tenant, w.fleet, 4, store.Write{}); err != nil || r.Changed != 1 {
		t.Errorf("a rollback into the run: %+v, %v", r, err)
	}

	w.exec(`UPDATE fleet_heads SET revision = 9 + 6020`)
	w.exec(`INSERT INTO fleet_history (tenant_id, fleet_id, revision, token, at, kind, message, actor, changes, run_from)
	        SELECT tenant_id, fleet_id, n, gen_random_uuid(), at, 'endpoints', '', '', 1, 10 FROM fleet_history CROSS JOIN generate_series(10, 9 + 6020) n WHERE revision = 9`)
	w.setEndpoints("a", addresses("10.1.0", 1)...)
	w.build()
	if n := w.count(`SELECT count(*) FROM fleet_history WHERE revision BETWEEN 10 AND 31`); n != 1 {
		t.Errorf("%d of the revisions stay that are older than 6,000", n)
	}
	if n := w.count(`SELECT count(*) FROM fleet_history WHERE revision <= 9`); n != 5 { // 1, the last ones of the runs up to 6 and 8, 7 and 9
		t.Errorf("%d of the revisions before the run stay", n)
	}
}

// What of a lease: it runs out, is renewed without a revision, and ends.
func TestLeasesOfEndpoints(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "a", "e"))
	short, long := w.takeLease(time.Hour, false), w.takeLease(time.Hour, false)
	w.setEndpoints("a", slices.Concat(leased(short, addresses("10.0.0", 2)...), leased(long, addresses("10.0.1", 1)...), addresses("10.0.2", 1))...)
	w.build()
	w.lapse(short)
	if l, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, short); err != nil || l.TTL != time.Hour || time.Until(l.ExpiresAt) > time.Hour {
		t.Errorf("the renewal is %+v, %v", l, err)
	}
	w.sweepLeases()
	w.serves(map[string]string{"a": "e|10.0.0.0:80h|10.0.0.1:80h|10.0.1.0:80h|10.0.2.0:80h"})
	if n := w.count(`SELECT revision FROM fleet_heads`); n != 2 {
		t.Errorf("a renewal made revision %d", n)
	}

	w.lapse(short)
	if ks := w.sweepLeases(); !slices.Contains(ks, w.key()) {
		t.Errorf("the sweep tells of %v", ks)
	}
	w.build()
	w.serves(map[string]string{"a": "e|10.0.1.0:80h|10.0.2.0:80h"})
	_, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, short)
	w.is(err, fleet.ErrNotFound)
	_, err = w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Cluster: "a", Set: leased(short, addresses("10.0.3", 1)...)})
	w.is(err, fleet.ErrConflict)

	w.ok(w.app.EndEndpointLease(t.Context(), w.tenant, w.fleet, actor, long))
	w.is(w.app.EndEndpointLease(t.Context(), w.tenant, w.fleet, actor, long), fleet.ErrNotFound)
	w.build()
	w.serves(map[string]string{"a": "e|10.0.2.0:80h"})

	// An endpoint that comes under another lease goes with that one alone.
	first, second := w.takeLease(time.Hour, false), w.takeLease(time.Hour, false)
	w.setEndpoints("a", leased(first, addresses("10.0.4", 1)...)...)
	w.setEndpoints("a", leased(second, addresses("10.0.4", 1)...)...)
	w.lapse(first)
	w.sweepLeases()
	w.build()
	w.serves(map[string]string{"a": "e|10.0.2.0:80h|10.0.4.0:80h"})
	if n := w.count(`SELECT count(*) FROM endpoint_leases`); n != 1 {
		t.Errorf("%d leases stay", n)
	}
	w.sameTotals()
}

// lapse lets a lease run out, and be due.
func (w *world) lapse(ids ...fleet.LeaseID) {
	w.Helper()
	for _, id := range ids {
		w.exec(`UPDATE endpoint_leases SET expires_at = clock_timestamp() - interval '1 ms', due_at = clock_timestamp() - interval '1 ms' WHERE id = $1`, id.String())
	}
}

// sweep sweeps as if the last one was half a second ago, and no outage for long.
func (w *world) sweepLeases() []fleet.Key {
	w.Helper()
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms', recovered_at = least(recovered_at, clock_timestamp() - interval '2 days')`)
	return w.sweepOnly()
}

func (w *world) sweepOnly() []fleet.Key {
	w.Helper()
	ks, err := w.app.SweepEndpoints(w.Context())
	w.ok(err)
	return ks
}

// sameTotals checks what is counted against what there is.
func (w *world) sameTotals() {
	w.Helper()
	if n := w.count(`SELECT count(*) FROM endpoint_clusters c
		 CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(e.bytes), 0) AS bytes FROM endpoints e WHERE e.cluster = c.cluster AND e.fleet_id = c.fleet_id) e
		 WHERE (c.endpoints, c.bytes) IS DISTINCT FROM (e.n, e.bytes)`); n != 0 {
		w.Errorf("%d clusters count wrong", n)
	}
	if n := w.count(`SELECT h.bytes - (SELECT coalesce(sum(r.bytes), 0) FROM resources r) - (SELECT coalesce(sum(c.counted), 0) FROM endpoint_clusters c) FROM fleet_heads h`); n != 0 {
		w.Errorf("the head counts %d bytes too many", n)
	}
	if n := w.count(`SELECT h.resources - (SELECT count(*) FROM resources r WHERE NOT r.deleted) - (SELECT count(*) FROM endpoint_clusters c WHERE c.counted > 0) FROM fleet_heads h`); n != 0 {
		w.Errorf("the head counts %d resources too many", n)
	}
}

// While the database could not be reached no lease runs out, nor before its time has passed once more; and then no cluster loses half of its endpoints at once.
func TestNoLeaseRunsOutWhileTheDatabaseIsAway(t *testing.T) {
	w := setup(t)
	l, other := w.takeLease(time.Minute, false), w.takeLease(time.Minute, false)
	w.setEndpoints("all", leased(l, addresses("10.0.0", 3)...)...)
	w.setEndpoints("most", slices.Concat(leased(l, addresses("10.0.1", 3)...), leased(other, addresses("10.0.1.9", 2)...))...)
	w.setEndpoints("few", slices.Concat(leased(l, addresses("10.0.2", 1)...), leased(other, addresses("10.0.2.9", 3)...))...)
	w.build()
	whole := served(w.load().Rows)

	w.lapse(l, other)
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '1 minute', recovered_at = clock_timestamp() - interval '2 days', idle = false`)
	w.sweepOnly()
	if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, other); err != nil {
		t.Error(err)
	}
	w.build()
	w.serves(whole)

	// The time of one of them passes after that.
	pass := func(by string) {
		t.Helper()
		w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms', recovered_at = recovered_at - $1::interval, outage_at = outage_at - $1::interval`, by)
		w.exec(`UPDATE endpoint_leases SET due_at = clock_timestamp() - interval '1 ms'`)
		w.sweepOnly()
		w.build()
	}
	pass("59 s")
	w.serves(whole)
	pass("2 s")
	less := map[string]string{"all": whole["all"], "most": whole["most"], "few": "|10.0.2.9.0:80h|10.0.2.9.1:80h|10.0.2.9.2:80h"}
	w.serves(less)
	held, _, err := w.app.Endpoints(t.Context(), w.tenant, w.fleet, "all", "", 0)
	if err != nil || len(held) != 3 || !held[0].Held {
		t.Errorf("the endpoints that stay are %+v, %v", held, err)
	}
	// What is held stays for as long as it is needed.
	pass("1 hour")
	w.serves(less)
	w.setEndpoints("all", addresses("10.9.0", 3)...)
	w.setEndpoints("most", addresses("10.9.1", 1)...)
	w.sweepLeases()
	w.exec(`UPDATE endpoint_leases SET due_at = clock_timestamp() - interval '1 ms'`)
	w.sweepLeases()
	w.build()
	w.serves(map[string]string{"all": "|10.9.0.0:80h|10.9.0.1:80h|10.9.0.2:80h", "most": "|10.0.1.9.0:80h|10.0.1.9.1:80h|10.9.1.0:80h", "few": less["few"]})
	w.sameTotals()
}

// A lease that keeps the last ones leaves them to a cluster that has no others; any other lease empties it.
func TestALeaseThatKeepsTheLastEndpoints(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "documented", "e"))
	feed, program := w.takeLease(time.Hour, true), w.takeLease(time.Hour, false)
	w.setEndpoints("last", leased(feed, addresses("10.0.0", 2)...)...)
	w.setEndpoints("documented", leased(feed, addresses("10.0.1", 1)...)...)
	w.setEndpoints("other", leased(program, addresses("10.0.2", 1)...)...)
	w.build()
	w.lapse(feed, program)
	w.sweepLeases()
	w.build()
	w.serves(map[string]string{"last": "|10.0.0.0:80h|10.0.0.1:80h", "documented": "e", "other": "-"})
	if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, feed); err != nil {
		t.Errorf("a lease that is held is renewed: %v", err)
	}
	es, _, err := w.app.Endpoints(t.Context(), w.tenant, w.fleet, "last", "", 0)
	if err != nil || len(es) != 2 || es[0].Held {
		t.Errorf("after the renewal: %+v, %v", es, err)
	}
}

// Renewals that come together go in few statements, and each has its own answer.
func TestRenewalsGoTogether(t *testing.T) {
	w := setup(t)
	const n = 200
	ids := make([]fleet.LeaseID, n)
	for i := range ids {
		ids[i] = w.takeLease(time.Minute, false)
	}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			l, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, ids[i])
			if err != nil || l.ID != ids[i] {
				t.Errorf("renewal %d: %+v, %v", i, l, err)
			}
			if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, fleet.NewLeaseID()); err == nil {
				t.Error("a lease that is nowhere was renewed")
			}
		})
	}
	all.Wait()
	if made := w.count(`SELECT count(DISTINCT xmin::text) FROM endpoint_leases`); made > n/2 { // the transactions that wrote them last
		t.Errorf("%d leases were renewed by %d transactions", n, made)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.app.RenewEndpointLease(ended, w.tenant, w.fleet, ids[0]); err == nil {
		t.Log("it was made before its caller went")
	}
}

// The limits of a fleet hold of endpoints too.
func TestLimitsOfEndpoints(t *testing.T) {
	w := setup(t)
	few, bytes := int64(2), int64(1000)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitResources: &few, store.LimitFleetBytes: &bytes}))
	w.setEndpoints("a", addresses("10.0.0", 1)...)
	w.build()
	w.apply(put(fleet.Cluster, "c", "C"))
	_, err := w.try(put(fleet.Cluster, "d", "D"))
	w.is(err, fleet.ErrLimit)
	_, err = w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Cluster: "b", Set: addresses("10.0.0", 1)})
	w.is(err, fleet.ErrLimit)
	_, err = w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Cluster: "a", Set: addresses("10.0.0", 20)})
	w.is(err, fleet.ErrLimit)
	if es, _, err := w.app.Endpoints(t.Context(), w.tenant, w.fleet, "a", "", 0); err != nil || len(es) != 1 {
		t.Errorf("what was refused left %d endpoints, %v", len(es), err)
	}
	w.removeEndpoints("a", "10.0.0.0:80")
	w.build()
	w.apply(put(fleet.Cluster, "d", "D"))
	w.sameTotals()
}

// Writers, leases that end and sweeps at the same time leave no deadlock, and counts that are right.
func TestEndpointsBesideEachOther(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Endpoint, "c0", "e"))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 15 {
				l := w.takeLease(time.Hour, n%2 == 0)
				for c := range 3 {
					_, err := w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: fmt.Sprint("c", (c+i)%3), Set: leased(l, addresses(fmt.Sprintf("10.%d.%d", i, n), 3)...)})
					if err != nil && !strings.Contains(err.Error(), "there is no lease") {
						t.Error(err)
					}
				}
				if n%3 == 0 {
					if err := w.app.EndEndpointLease(t.Context(), w.tenant, w.fleet, actor, l); err != nil && !errors.Is(err, fleet.ErrNotFound) { // it was swept
						t.Error(err)
					}
				}
			}
		})
	}
	all.Go(func() {
		for range 15 {
			w.exec(`UPDATE endpoint_leases SET expires_at = clock_timestamp() - interval '1 s', due_at = clock_timestamp() - interval '1 s' WHERE get_byte(uuid_send(id), 15) % 3 = 0`)
			w.sweepLeases()
			w.build()
		}
	})
	all.Go(func() {
		for n := range 15 {
			if _, err := w.try(put(fleet.Endpoint, "c2", fmt.Sprint("e", n)), put(fleet.Endpoint, "c0", fmt.Sprint("e", n))); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	w.build()
	w.sameTotals()
}

// A time without leases is no outage: the first one after it goes by its time, with the cluster's last endpoint.
func TestATimeWithoutLeasesIsNoOutage(t *testing.T) {
	w := setup(t)
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '1 day', recovered_at = clock_timestamp() - interval '2 days'`)
	for range 2 {
		l := w.takeLease(5*time.Second, false)
		w.setEndpoints("a", leased(l, addresses("10.0.0", 1)...)...)
		w.build()
		w.sweepOnly()
		w.serves(map[string]string{"a": "|10.0.0.0:80h"})
		w.lapse(l)
		w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms', recovered_at = clock_timestamp() - interval '6 s'`)
		w.sweepOnly()
		w.build()
		w.serves(map[string]string{"a": "-"})
		w.sweepOnly() // without leases
		w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '1 day'`)
	}
}

// TestT44_WhatIsServedOfVariantsCounts: each variant of a cluster's document is served with all of its endpoints, is stored so, and is loaded by every xDS server.
func TestT44_WhatIsServedOfVariantsCounts(t *testing.T) {
	w := setup(t)
	most := int64(1_000_000)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitFleetBytes: &most}))
	w.apply(put(fleet.Endpoint, "a", "doc"))
	for i := range 5 {
		w.setEndpoints("a", addresses(fmt.Sprintf("10.0.%d", i), 1000)...) // 380 kB in all
	}
	w.build()
	one := func(name string) store.ResourceChange {
		return variant(put(fleet.Endpoint, "a", "doc of "+name), name, "node.id="+name, 0)
	}
	w.apply(one("v1"))
	w.sameTotals()
	if _, err := w.try(one("v2")); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("a third time 380 kB of a fleet that may have a megabyte: %v", err)
	}
	w.build()
	w.sameTotals()
	if _, err := w.try(one("v2")); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("likewise, when the second is built: %v", err)
	}
	if _, err := w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: "a", Set: addresses("10.1.0", 2000)}); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("endpoints that are served twice: %v", err)
	}
	served := 0
	for _, r := range w.load().Rows {
		served += len(r.Body)
	}
	if int64(served) > most {
		t.Errorf("an xDS server loads %d bytes of a fleet that may have %d", served, most)
	}
	w.apply(store.ResourceChange{Type: fleet.Endpoint, Name: "a", Variant: "v1", Delete: true})
	w.build()
	w.sameTotals()
	w.apply(one("v2"))
	w.build()
	w.sameTotals()
}

// TestT44_VariantsBeforeTheirEndpointsCount: those that a cluster has before it has endpoints, and those that come before these are built.
func TestT44_VariantsBeforeTheirEndpointsCount(t *testing.T) {
	w := setup(t)
	most := int64(600_000)
	w.ok(w.app.SetLimits(t.Context(), w.tenant, actor, map[store.LimitName]*int64{store.LimitFleetBytes: &most}))
	several := func(name string, n int) (cs []store.ResourceChange) {
		for i := range n {
			v := fmt.Sprint("v", i)
			cs = append(cs, variant(put(fleet.Endpoint, name, "doc of "+v), v, "node.id="+v, 0))
		}
		return cs
	}
	w.apply(append(several("a", 30), put(fleet.Endpoint, "a", "doc"))...)
	if _, err := w.app.WriteEndpoints(t.Context(), w.tenant, w.fleet, store.EndpointWrite{Actor: actor, Cluster: "a", Set: addresses("10.0.0", 1000)}); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("76 kB that are served 31 times: %v", err)
	}
	w.setEndpoints("b", addresses("10.0.0", 1000)...)
	if _, err := w.try(several("b", 30)...); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("likewise, before the endpoints are built: %v", err)
	}
	w.setEndpoints("a", addresses("10.0.1", 50)...)
	w.build()
	w.sameTotals()
}

// TestT44_LeasesThatAreHeldHoldUpNoOther: what is held has a share of each sweep. Here a sweep ends two leases, elsewhere 20,000.
func TestT44_LeasesThatAreHeldHoldUpNoOther(t *testing.T) {
	w := setup(t)
	var held []fleet.LeaseID
	for i := range 3 {
		l := w.takeLease(time.Hour, true)
		w.setEndpoints(fmt.Sprint("held", i), leased(l, addresses("10.0.0", 1)...)...)
		held = append(held, l)
	}
	fresh := w.takeLease(time.Hour, false)
	w.setEndpoints("fresh", leased(fresh, addresses("10.0.1", 1)...)...)
	w.build()
	w.lapse(held...)
	w.sweepLeases()
	if n := w.count(`SELECT count(*) FROM endpoint_leases WHERE held_since IS NOT NULL`); n != 3 {
		t.Fatalf("%d leases are held", n)
	}
	w.exec(`UPDATE endpoint_leases SET due_at = clock_timestamp() - interval '1 s' WHERE held_since IS NOT NULL`) // their second has passed
	w.lapse(fresh)
	w.exec(`UPDATE endpoint_clock SET swept_at = clock_timestamp() - interval '500 ms', recovered_at = least(recovered_at, clock_timestamp() - interval '2 days')`)
	w.exec(`SELECT endpoints_sweep(2)`)
	if n := w.count(`SELECT count(*) FROM endpoints WHERE cluster = 'fresh'`); n != 0 {
		t.Error("what has expired waits behind what is held")
	}
	if n := w.count(`SELECT count(*) FROM endpoint_leases WHERE due_at > clock_timestamp()`); n != 1 {
		t.Errorf("%d of the leases that are held were looked at, want 1", n)
	}
}

// A lease that was held, and is renewed, is looked at when its new time is over, however late it was to be looked at before.
func TestARenewedLeaseIsDueInTime(t *testing.T) {
	w := setup(t)
	l := w.takeLease(5*time.Second, true)
	w.setEndpoints("last", leased(l, addresses("10.0.0", 1)...)...)
	w.build()
	w.lapse(l)
	w.exec(`UPDATE endpoint_leases SET held_since = clock_timestamp() - interval '1 hour'`)
	w.sweepLeases()
	if n := w.count(`SELECT extract(epoch FROM due_at - swept_at)::integer FROM endpoint_leases, endpoint_clock`); n != 10 {
		t.Errorf("a lease that is held for an hour is looked at %d s after the sweep", n)
	}
	if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, l); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`SELECT extract(epoch FROM due_at - clock_timestamp())::integer FROM endpoint_leases`); n > 5 {
		t.Errorf("renewed for 5 s, it is looked at in %d s", n)
	}
}

// TestALeaseIsRenewedInItsFleetAlone: renewals of a tenant's fleets go in one statement, and each has its own answer.
func TestALeaseIsRenewedInItsFleetAlone(t *testing.T) {
	w := setup(t)
	other, err := w.app.CreateFleet(t.Context(), w.tenant, actor, "another", "")
	w.ok(err)
	l := w.takeLease(time.Minute, true)
	var told atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, w.fleet, l); err != nil {
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() {
			for range 50 {
				if _, err := w.app.RenewEndpointLease(t.Context(), w.tenant, other.ID, l); err == nil {
					told.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := told.Load(); n > 0 {
		t.Errorf("%d times another fleet was told that it had renewed the lease, and its end", n)
	}
}

// TestT44_ALockedClusterStopsNoClock: an apply has the lock of a cluster for as long as it takes. The sweep passes by what it cannot have, and all else expires; what was passed by
// follows, as what has expired and not as what is held.
func TestT44_ALockedClusterStopsNoClock(t *testing.T) {
	w := setup(t)
	own, shared, other := w.takeLease(time.Hour, false), w.takeLease(time.Hour, false), w.takeLease(time.Hour, false)
	w.setEndpoints("busy", append(leased(own, addresses("10.0.0", 1)...), leased(shared, addresses("10.0.1", 1)...)...)...)
	w.setEndpoints("free", append(leased(other, addresses("10.0.2", 1)...), leased(shared, addresses("10.0.3", 1)...)...)...)
	w.build()
	conn := w.db.Connect(t, w.db.Owner)
	tx, err := conn.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `SELECT FROM endpoint_clusters WHERE cluster = 'busy' FOR NO KEY UPDATE`)
	w.ok(err)
	w.lapse(own, shared, other)
	w.sweepLeases()
	if n := w.count(`SELECT count(*) FROM endpoints WHERE cluster = 'free'`); n != 0 {
		t.Errorf("%d endpoints are left of the cluster that nobody has", n)
	}
	if n := w.count(`SELECT count(*) FROM endpoint_leases WHERE held_since IS NULL`); n != 2 {
		t.Errorf("%d leases wait for the cluster that somebody has, want 2", n)
	}
	w.ok(tx.Rollback(t.Context()))
	w.exec(`UPDATE endpoint_leases SET due_at = due_at - interval '500 ms'`) // half a second later
	w.sweepLeases()
	if n := w.count(`SELECT count(*) FROM endpoints`) + w.count(`SELECT count(*) FROM endpoint_leases`); n != 0 {
		t.Errorf("%d endpoints and leases are left", n)
	}
}
