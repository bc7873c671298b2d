package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/test/pinned"
)

func (w *world) limit(name store.LimitName, most int64) {
	w.Helper()
	w.ok(w.app.SetLimits(w.Context(), w.tenant, actor, map[store.LimitName]*int64{name: &most}))
}

// atLimit checks that err is the one of that limit, with its numbers.
func (w *world) atLimit(err error, want store.LimitError) {
	w.Helper()
	var got *store.LimitError
	if !errors.As(err, &got) || !errors.Is(err, fleet.ErrLimit) {
		w.Fatalf("the error is %v, want %+v", err, want)
	}
	if d := cmp.Diff(want, *got); d != "" {
		w.Error(d)
	}
}

// stored is all that a refused write could have left behind.
func (w *world) stored() (n int) {
	w.Helper()
	return w.count(`SELECT (SELECT count(*) FROM bodies) + (SELECT count(*) FROM resource_history) + (SELECT count(*) FROM audit_events)
		+ (SELECT sum(revision) FROM fleet_heads) + (SELECT count(*) FROM fleets) + (SELECT count(*) FROM api_tokens) + (SELECT count(*) FROM node_credentials)`)
}

// clusterOf is a cluster that counts so many bytes.
func clusterOf(name string, bytes int) store.ResourceChange {
	return put(fleet.Cluster, name, (name + strings.Repeat("x", bytes))[:bytes-len(name)])
}

func TestT09_ResourcesOfAFleet(t *testing.T) {
	w := setup(t)
	w.limit(store.LimitResources, 3)
	w.apply(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "2"))
	w.apply(put(fleet.Cluster, "c", "3")) // at the limit
	before := w.stored()
	_, err := w.try(put(fleet.Cluster, "a", "new"), put(fleet.Cluster, "d", "4"))
	w.atLimit(err, store.LimitError{What: store.LimitResources, Limit: 3, Used: 3, Wanted: 4})
	variant := store.ResourceChange{Type: fleet.Cluster, Name: "a", Variant: "v", Selector: "node.id=x", Body: []byte("v")}
	_, err = w.try(fill(variant))
	w.atLimit(err, store.LimitError{What: store.LimitResources, Limit: 3, Used: 3, Wanted: 4})
	if after := w.stored(); after != before {
		t.Errorf("refused writes left %d behind", after-before)
	}
	w.apply(del(fleet.Cluster, "b"), put(fleet.Cluster, "d", "4")) // one for another
	w.limit(store.LimitResources, 1)
	w.apply(put(fleet.Cluster, "a", "another"))                   // not one more
	w.apply(del(fleet.Cluster, "d"), put(fleet.Cluster, "c", "")) // less, and still above
	_, err = w.try(put(fleet.Cluster, "d", "4"))
	w.atLimit(err, store.LimitError{What: store.LimitResources, Limit: 1, Used: 2, Wanted: 3})
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, 2, store.Write{Actor: actor})
	w.atLimit(err, store.LimitError{What: store.LimitResources, Limit: 1, Used: 2, Wanted: 3})
	w.apply(del(fleet.Cluster, "a"), del(fleet.Cluster, "c"))
	w.apply(put(fleet.Cluster, "d", "4"))
}

func TestT09_BytesOfAFleet(t *testing.T) {
	w := setup(t)
	w.limit(store.LimitFleetBytes, 1000)
	w.apply(clusterOf("a", 500))
	for extra, fits := range map[int]bool{499: true, 500: true, 501: false} {
		before := w.stored()
		_, err := w.try(clusterOf("b", extra))
		if fits {
			w.ok(err)
			w.apply(del(fleet.Cluster, "b"))
			continue
		}
		w.atLimit(err, store.LimitError{What: store.LimitFleetBytes, Limit: 1000, Used: 500, Wanted: 1001})
		if after := w.stored(); after != before {
			t.Errorf("refused writes left %d behind", after-before)
		}
	}
	w.apply(clusterOf("b", 500))
	same := clusterOf("b", 500)
	same.Name = "c" // the same bytes under another name are bytes for the servers
	_, err := w.try(fill(same))
	w.atLimit(err, store.LimitError{What: store.LimitFleetBytes, Limit: 1000, Used: 1000, Wanted: 1500})
	w.limit(store.LimitFleetBytes, 600)
	w.apply(clusterOf("b", 400))
	w.apply(fill(store.ResourceChange{Type: fleet.Cluster, Name: "b", Body: clusterOf("b", 400).Body, TTL: time.Hour})) // not a byte more
	for _, more := range []store.ResourceChange{{}, {Description: "d"}, {Variant: "b", Selector: "abc"}, {Labels: map[string]string{"a": "b"}}} {
		more.Type, more.Name, more.Body = fleet.Cluster, "b", clusterOf("b", 401).Body
		_, err = w.try(fill(more))
		want := int64(901 + len(more.Description))
		if more.Labels != nil {
			want += int64(len(`{"a": "b"}`))
		}
		if more.Variant != "" { // one more
			want = 900 + 401 + int64(len("b"+"abc"))
		}
		w.atLimit(err, store.LimitError{What: store.LimitFleetBytes, Limit: 600, Used: 900, Wanted: want})
	}
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, 1, store.Write{Actor: actor})
	w.ok(err)
	w.limit(store.LimitFleetBytes, 500)
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, w.load().At.Revision-1, store.Write{Actor: actor})
	w.atLimit(err, store.LimitError{What: store.LimitFleetBytes, Limit: 500, Used: 500, Wanted: 900})
	w.apply(del(fleet.Cluster, "a"))
}

// A history is cut at its limit by the next compaction, the oldest first; until then it
// can be at most twice as large.
func TestT09_BytesOfAHistory(t *testing.T) {
	w := setup(t)
	const most, row = 10_000, 256
	w.limit(store.LimitHistoryBytes, most)
	for i := range 20 {
		w.apply(clusterOf(fmt.Sprint(i%2), 100-i))
		w.apply(clusterOf(fmt.Sprint(i%2), 1+i))
	}
	used := int64(20*101 + 40*row)
	before := w.stored()
	_, err := w.try(clusterOf("big", int(2*most-used+1)))
	w.atLimit(err, store.LimitError{What: store.LimitHistoryBytes, Limit: most, Used: used, Wanted: 2*most + 1})
	if after := w.stored(); after != before {
		t.Errorf("a refused write left %d behind", after-before)
	}
	w.apply(clusterOf("big", int(2*most-used)))
	w.apply(del(fleet.Cluster, "0"), del(fleet.Cluster, "big")) // always
	_, err = w.app.CompactDue(t.Context())
	w.ok(err)
	u, err := w.app.FleetUsage(t.Context(), w.tenant, w.fleet)
	w.ok(err)
	if u.HistoryBytes > most || u.HistoryBytes < most-3*(100+row) {
		t.Errorf("%d bytes are kept of %d", u.HistoryBytes, most)
	}
	w.recount()
	w.apply(clusterOf("big", 900))
	revs, _, err := w.app.Revisions(t.Context(), w.tenant, w.fleet, store.RevisionFilter{})
	w.ok(err)
	oldest := revs[len(revs)-1].Revision
	_, err = w.app.Rollback(t.Context(), w.tenant, w.fleet, oldest, store.Write{Actor: actor})
	w.ok(err)
}

// recount compares the counters of every fleet with what is there.
func (w *world) recount() {
	w.Helper()
	wrong := strings1(w.T, w.super, `
		SELECT format('fleet %s says %s resources, %s bytes, %s bytes of history; there are %s, %s, %s', h.fleet_id, h.resources, h.bytes, h.history_bytes, r.n, r.bytes, x.bytes)
		  FROM fleet_heads h
		 CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(sum(octet_length(b.body) + octet_length(name || variant || selector || description || coalesce(labels::text, ''))), 0) AS bytes FROM resources r JOIN bodies b ON b.tenant_id = r.tenant_id AND b.hash = r.body_hash
		                      WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id AND NOT r.deleted) r
		 CROSS JOIN LATERAL (SELECT coalesce(sum(CASE WHEN deleted THEN 0 ELSE octet_length(b.body) + octet_length(name || variant || selector || description || coalesce(labels::text, '')) END + 256), 0) AS bytes FROM resource_history r LEFT JOIN bodies b ON b.tenant_id = r.tenant_id AND b.hash = r.body_hash
		                      WHERE r.tenant_id = h.tenant_id AND r.fleet_id = h.fleet_id) x
		 WHERE (h.resources, h.bytes, h.history_bytes) IS DISTINCT FROM (r.n, r.bytes, x.bytes)`)
	for _, line := range wrong {
		w.Error(line)
	}
}

// randomHistory writes, deletes, rolls back and compacts, and recounts now and then.
func (w *world) randomHistory(r *rand.Rand, steps int) {
	w.Helper()
	rev := fleet.Revision(0)
	oldest := fleet.Revision(1)
	for range steps {
		switch n := r.IntN(14); {
		case n >= 12:
			w.recount()
		case n == 0 && rev > oldest:
			back, err := w.app.Rollback(w.Context(), w.tenant, w.fleet, oldest+fleet.Revision(r.Int64N(int64(rev-oldest))), store.Write{Actor: actor})
			w.ok(err)
			rev = back.Revision
		case n == 1 && rev > oldest:
			oldest += fleet.Revision(r.Int64N(int64(rev-oldest)))/2 + 1
			w.ok(w.app.Compact(w.Context(), w.tenant, w.fleet, store.Floors{Tombstones: oldest, History: oldest}))
		default:
			var cs []store.ResourceChange
			for i := range 5 {
				if r.IntN(2) == 0 {
					continue
				}
				c := store.ResourceChange{Type: fleet.Type(r.IntN(3)), Name: fmt.Sprint(i), Body: []byte(strings.Repeat("x", r.IntN(40)))}
				if r.IntN(3) == 0 {
					c.Variant, c.Selector = "v", "node.id=x"
				}
				if r.IntN(3) == 0 {
					c.Description, c.Labels = strings.Repeat("ä", r.IntN(9)), map[string]string{"l": strings.Repeat("x", r.IntN(9))}
				}
				if c = fill(c); r.IntN(3) == 0 {
					c = store.ResourceChange{Type: c.Type, Name: c.Name, Variant: c.Variant, Delete: true}
				}
				cs = append(cs, c)
			}
			rev = w.apply(cs...).Revision
		}
	}
}

func TestT09_CountersAreWhatIsThere(t *testing.T) {
	w := setup(t)
	seed := pinned.Seed()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret
	w.randomHistory(r, 150)
	w.recount()
	if n := w.count(`SELECT resources FROM fleet_heads`); n == 0 {
		w.apply(put(fleet.Cluster, "one", "1"))
	}
}

// However many come at once, no more get in than fit.
func TestT09_CreationsAtOnceStayWithinTheLimit(t *testing.T) {
	w := setup(t)
	for name, create := range map[store.LimitName]func(i int) error{
		store.LimitFleets: func(i int) error {
			_, err := w.app.CreateFleet(t.Context(), w.tenant, actor, fmt.Sprint("f", i), "")
			return err
		},
		store.LimitTokens: func(int) error {
			_, err := w.app.CreateToken(t.Context(), w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer})
			return err
		},
		store.LimitCredentials: func(int) error {
			_, err := w.app.CreateNodeCredential(t.Context(), w.tenant, w.fleet, actor, store.NodeCredential{Nodes: "*", ID: fleet.NewCredentialID()})
			return err
		},
		store.LimitResources: func(i int) error {
			_, err := w.try(put(fleet.Cluster, fmt.Sprint(i), "body"))
			return err
		},
	} {
		w.limit(name, 7)
		var made, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				err := create(i)
				var at *store.LimitError
				switch {
				case err == nil:
					made.Add(1)
				case errors.As(err, &at) && at.What == name && at.Limit == 7 && at.Used == 7 && at.Wanted == 8:
					refused.Add(1)
				default:
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wg.Wait()
		have := int64(7)
		if name == store.LimitFleets {
			have-- // the world's
		}
		if made.Load() != have || refused.Load() != 24-have {
			t.Errorf("%s: %d were made, %d refused", name, made.Load(), refused.Load())
		}
	}
}

// What has ended makes room; deleted fleets, whose data is kept, are limited apart.
func TestT09_WhatEndedMakesRoom(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	w.limit(store.LimitTokens, 1)
	w.limit(store.LimitCredentials, 1)
	w.limit(store.LimitFleets, 1)
	w.limit(store.LimitDeletedFleets, 2)
	for range 2 {
		k, err := w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer})
		w.ok(err)
		c, err := w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{Nodes: "*", ID: fleet.NewCredentialID()})
		w.ok(err)
		w.ok(w.app.RevokeToken(ctx, w.tenant, actor, k.ID, store.Revocation{Within: auth.Roles()}))
		w.ok(w.app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, c.ID))
	}
	for range 2 { // those that have expired neither
		_, err := w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer, ExpiresAt: time.Now().Add(-time.Second)})
		w.ok(err)
		_, err = w.app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{Nodes: "*", ID: fleet.NewCredentialID(), ExpiresAt: time.Now().Add(-time.Second)})
		w.ok(err)
	}
	f := w.fleet
	for i := range 2 {
		w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, f))
		next, err := w.app.CreateFleet(ctx, w.tenant, actor, fmt.Sprint("next", i), "")
		w.ok(err)
		f = next.ID
	}
	w.ok(w.app.DeleteFleet(ctx, w.tenant, actor, f))
	_, err := w.app.CreateFleet(ctx, w.tenant, actor, "one too many", "")
	w.atLimit(err, store.LimitError{What: store.LimitDeletedFleets, Limit: 2, Used: 3, Wanted: 3})
	u, err := w.app.Usage(ctx, w.tenant)
	w.ok(err)
	if d := cmp.Diff(store.TenantUsage{DeletedFleets: 3, AuditBytes: u.AuditBytes}, u); d != "" {
		t.Error(d)
	}
}

func TestLimitsOfATenant(t *testing.T) {
	w := setup(t)
	ctx := t.Context()
	ls, err := w.app.Limits(ctx, w.tenant)
	w.ok(err)
	names := store.LimitNames()
	for i, l := range ls {
		if l.Name != names[i] || l.Overridden || l.Most != l.Default || l.Most <= 0 {
			t.Errorf("%+v", l)
		}
	}
	known := w.count(`SELECT (length(prosrc) - length(replace(prosrc, ' THEN ', ''))) / 6 FROM pg_proc WHERE proname = 'limit_default'`)
	if len(ls) != len(names) || known != len(names) {
		t.Errorf("%d limits are told of %d; the schema knows %d", len(ls), len(names), known)
	}
	of := func(tenant fleet.TenantID) (out string) {
		ls, err := w.app.Limits(ctx, tenant)
		w.ok(err)
		for _, l := range ls {
			if l.Overridden {
				out += fmt.Sprint(l.Name, "=", l.Most, " ")
			}
		}
		return out
	}
	n := func(i int64) *int64 { return &i }
	other := w.db.Tenant(t)
	w.ok(w.app.SetLimits(ctx, w.tenant, actor, map[store.LimitName]*int64{store.LimitFleets: n(5), store.LimitTokens: n(store.MostLimit)}))
	w.ok(w.app.SetLimits(ctx, w.tenant, actor, map[store.LimitName]*int64{store.LimitFleets: nil, store.LimitResources: n(0), store.LimitReads: nil}))
	for _, bad := range []map[store.LimitName]*int64{{"nonsense": n(1)}, {store.LimitFleets: n(-1)}, {store.LimitTokens: n(1), store.LimitFleets: n(store.MostLimit + 1)}} {
		w.is(w.app.SetLimits(ctx, w.tenant, actor, bad), fleet.ErrInvalid)
	}
	w.is(w.app.SetLimits(ctx, fleet.TenantID{1}, actor, nil), fleet.ErrNotFound)
	if got := of(w.tenant); got != fmt.Sprintf("tokens=%d resources=0 ", int64(store.MostLimit)) {
		t.Error(got)
	}
	if got := of(other); got != "" {
		t.Errorf("another tenant's are %s", got)
	}
	told := strings1(t, w.super, `SELECT actor || ' ' || detail::text FROM audit_events WHERE action = 'tenant.limits' AND tenant_id = $1 ORDER BY at`, w.tenant.String())
	if len(told) != 2 || told[1] != `ada {"fleets": null, "resources": 0, "reads_per_minute": null}` {
		t.Errorf("%q", told)
	}
}
