package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// keyed writes with an idempotency key.
func (w *world) keyed(key string, cs ...store.ResourceChange) (store.Result, error) {
	w.Helper()
	return w.app.Apply(w.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: cs, Idempotency: &store.Idempotency{Key: key, RequestHash: [32]byte{1}}})
}

// answersAged makes all kept answers so much older.
func (w *world) answersAged(by time.Duration) {
	w.Helper()
	w.exec(`UPDATE idempotency_keys SET created_at = created_at - make_interval(secs => $1)`, by.Seconds())
}

// answersCounted checks that what is counted of the kept answers is what they come to.
func (w *world) answersCounted() int {
	w.Helper()
	n := w.count(`SELECT coalesce(sum(bytes), 0)::int FROM idempotency_keys WHERE tenant_id = $1`, w.tenant.String())
	if c := w.count(`SELECT coalesce(sum(bytes), 0)::int FROM idempotency_use WHERE tenant_id = $1`, w.tenant.String()); c != n {
		w.Errorf("%d bytes of answers are counted, %d are kept", c, n)
	}
	return n
}

// TestT09_KeptAnswersAreBounded: writes that change nothing leave nothing but what is kept for their repeats. That is counted; the oldest go where it is too
// much, and at twice that no more is kept.
func TestT09_KeptAnswersAreBounded(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	w.limit(store.LimitIdempotencyBytes, 4000)
	refused := -1
	var err error
	for n := range 100 {
		if _, err = w.keyed(fmt.Sprint("k", n), put(fleet.Cluster, "a", "1")); err != nil {
			refused = n
			break
		}
	}
	used := int64(w.answersCounted())
	if refused < 2 || used <= 8000 || used > 8000+1000 {
		t.Fatalf("after %d writes %d bytes are kept", refused, used)
	}
	w.atLimit(err, store.LimitError{What: store.LimitIdempotencyBytes, Limit: 4000, Used: used, Wanted: used})
	if r, err := w.keyed("k0", put(fleet.Cluster, "a", "1")); err != nil || !r.Replayed {
		t.Errorf("a repeat: %+v, %v", r, err)
	}
	w.apply(put(fleet.Cluster, "a", "2")) // without a key
	other := w.db.Tenant(t)
	if _, err := w.app.Apply(t.Context(), other, w.db.Fleet(t, other), store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "1")},
		Idempotency: &store.Idempotency{Key: "k"}}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	compact := func() int {
		t.Helper()
		_, err := w.app.CompactDue(t.Context())
		w.ok(err)
		w.answersCounted()
		return w.count(`SELECT count(*) FROM idempotency_keys WHERE tenant_id = $1`, w.tenant.String())
	}
	if n := compact(); n != refused {
		t.Errorf("of %d answers that are younger than an hour %d are left", refused, n)
	}
	w.answersAged(2 * time.Hour)
	w.exec(`UPDATE idempotency_keys SET created_at = clock_timestamp() WHERE key = 'k1'`)
	if n := compact(); n != 1 {
		t.Errorf("%d are left, want the one that is younger than an hour", n)
	}
	_, err = w.keyed("k0", put(fleet.Cluster, "a", "1"))
	w.ok(err)
	w.answersAged(23 * time.Hour)
	if n := compact(); n != 2 {
		t.Errorf("below the limit %d are left after 23 hours", n)
	}
	w.answersAged(2 * time.Hour)
	if n := compact(); n != 0 {
		t.Errorf("%d are left after 25 hours", n)
	}
	u, err := w.app.Usage(t.Context(), w.tenant)
	w.ok(err)
	if u.IdempotencyBytes != 0 {
		t.Errorf("%d bytes are used", u.IdempotencyBytes)
	}
}

// TestT09_AKeyThatIsUsedAnewCountsOnce: the answer of a day ago makes place for the new one.
func TestT09_AKeyThatIsUsedAnewCountsOnce(t *testing.T) {
	w := setup(t)
	for range 3 {
		_, err := w.keyed("k", put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"))
		w.ok(err)
		w.answersCounted()
		w.answersAged(25 * time.Hour)
	}
}

// TestT09_SweepsAreMadeInBatches: what is swept of one tenant, or of one fleet, goes in steps that are bounded, however much it is.
func TestT09_SweepsAreMadeInBatches(t *testing.T) {
	const many, most = 7000, 2000
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	at := []any{w.tenant.String(), w.fleet.String()}
	w.exec(`INSERT INTO idempotency_keys (tenant_id, principal, key, request_hash, created_at) SELECT $1, gen_random_uuid(), g::text, '', now() - interval '2 days' FROM generate_series(1, 7000) g`, at[0])
	w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id, first_seen, last_seen) SELECT $1, $2, 'n' || g, now() - interval '90 days', now() - interval '90 days' FROM generate_series(1, 7000) g`, at...)
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id) SELECT $1, $2, now() - interval '90 days', 'refused', 'n' || g FROM generate_series(1, 7000) g`, at...)
	w.exec(`CREATE TABLE steps (tab text, n int)`)
	w.exec(`CREATE FUNCTION step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO steps SELECT TG_TABLE_NAME, count(*) FROM gone HAVING count(*) > 0; RETURN NULL; END $$`)
	tables := []string{"idempotency_keys", "nodes", "node_events"}
	for _, table := range tables {
		w.exec(`CREATE TRIGGER step AFTER DELETE ON ` + table + ` REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION step()`)
	}
	w.compactDue()
	for _, table := range tables {
		if n := w.count(`SELECT coalesce(sum(n), 0)::int FROM steps WHERE tab = $1`, table); n != many {
			t.Errorf("%s: %d of %d rows are swept", table, n, many)
		}
		if n := w.count(`SELECT coalesce(max(n), 0) FROM steps WHERE tab = $1`, table); n > most {
			t.Errorf("%s: a step sweeps %d rows, %d is the most", table, n, most)
		}
	}
}

// TestT44_ASweepThatFailsHoldsUpNoOther of the fleet, or of the tenant.
func TestT44_ASweepThatFailsHoldsUpNoOther(t *testing.T) {
	for _, broken := range []string{"nodes", "server_settled", "node_events", "idempotency_keys"} {
		t.Run(broken, func(t *testing.T) {
			w := setup(t)
			w.apply(put(fleet.Cluster, "a", "1"))
			at := []any{w.tenant.String(), w.fleet.String()}
			old := map[string]string{
				"nodes":            `INSERT INTO nodes (tenant_id, fleet_id, node_id, first_seen, last_seen) VALUES ($1, $2, 'n', now() - interval '90 days', now() - interval '90 days')`,
				"server_settled":   `INSERT INTO server_settled (tenant_id, fleet_id, server_id, settled, at) VALUES ($1, $2, gen_random_uuid(), 1, now())`,
				"node_events":      `INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id) VALUES ($1, $2, now() - interval '90 days', 'refused', 'n')`,
				"idempotency_keys": `INSERT INTO idempotency_keys (tenant_id, principal, key, request_hash, created_at) SELECT $1, gen_random_uuid(), 'k', '', now() - interval '2 days' FROM (SELECT $2::text) x`,
			}
			for _, sql := range old {
				w.exec(sql, at...)
			}
			w.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`)
			w.exec(`CREATE TRIGGER refuse BEFORE DELETE ON ` + broken + ` FOR EACH ROW EXECUTE FUNCTION refuse()`)
			if c, err := w.app.CompactDue(t.Context()); err == nil || c.Failed != 1 {
				t.Errorf("%+v, %v", c, err)
			}
			for table := range old {
				want := 0
				if table == broken {
					want = 1
				}
				if n := w.count(`SELECT count(*) FROM ` + table); n != want {
					t.Errorf("%d rows of %s are left, want %d", n, table, want)
				}
			}
		})
	}
}

// auditCounted checks that what is counted of the audit is what it comes to.
func (w *world) auditCounted() int64 {
	w.Helper()
	n := w.count(`SELECT coalesce(sum(audit_event_bytes(e)), 0)::int FROM audit_events e WHERE e.tenant_id = $1`, w.tenant.String())
	if c := w.count(`SELECT coalesce(sum(bytes), 0)::int FROM audit_heads WHERE tenant_id = $1`, w.tenant.String()); c != n {
		w.Errorf("%d bytes of the audit are counted, there are %d", c, n)
	}
	return int64(n)
}

// TestT09_AnEventOfTheAuditIsBounded, however long the names are of what was written.
func TestT09_AnEventOfTheAuditIsBounded(t *testing.T) {
	w := setup(t)
	var cs []store.ResourceChange
	for i := range 200 {
		cs = append(cs, put(fleet.Cluster, fmt.Sprintf("%0512d", i), "1"))
	}
	w.apply(cs...)
	if n := w.count(`SELECT max(octet_length(detail::text)) FROM audit_events`); n > 4096 {
		t.Errorf("an event has %d bytes", n)
	}
	if n := w.count(`SELECT jsonb_array_length(detail->'resources') FROM audit_events WHERE action = 'resources.apply'`); n != 4 {
		t.Errorf("it tells of %d resources", n)
	}
	if n := w.count(`SELECT (detail->'changed')::int FROM audit_events WHERE action = 'resources.apply'`); n != 200 {
		t.Errorf("it counts %d", n)
	}
	w.apply(put(fleet.Cluster, strings.Repeat("x", 512), "1"))
	w.auditCounted()
}

// TestT09_TheAuditOfATenantIsBounded: what it comes to is counted. At its limit nothing is written; what takes something away is, up to twice that, and what
// revokes something always.
func TestT09_TheAuditOfATenantIsBounded(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "1"), put(fleet.Cluster, "c", "1"), put(fleet.Cluster, "d", "1"))
	id := w.alone(fleet.CredentialID{}, auth.RoleOwner)
	w.limit(store.LimitAuditBytes, w.auditCounted())
	used := w.auditCounted() // the setting is an event too
	most := w.count(`SELECT most::int FROM tenant_limits WHERE tenant_id = $1 AND name = 'audit_bytes'`, w.tenant.String())
	refused := func(what string, err error) {
		t.Helper()
		var at *store.LimitError
		if !errors.As(err, &at) || at.What != store.LimitAuditBytes || at.Limit != int64(most) {
			t.Errorf("%s: %v", what, err)
		}
	}
	writes := map[string]func() error{
		"a write": func() error { _, err := w.try(put(fleet.Cluster, "a", "2")); return err },
		"a fleet": func() error { _, err := w.app.CreateFleet(t.Context(), w.tenant, actor, "new", ""); return err },
		"a setting": func() error {
			_, err := w.app.UpdateFleet(t.Context(), w.tenant, actor, w.fleet, store.FleetSettings{References: "strict"})
			return err
		},
	}
	for what, write := range writes {
		refused(what, write())
	}
	if n := w.auditCounted(); n != used {
		t.Errorf("refused writes have left %d bytes", n-used)
	}
	w.apply(put(fleet.Cluster, "a", "1")) // which changes nothing
	w.apply(del(fleet.Cluster, "a"))
	w.revoke(id, false)
	for w.auditCounted() <= int64(2*most) {
		w.limit(store.LimitTokens, 1000) // an operator's doing, which is never refused
	}
	_, err := w.try(del(fleet.Cluster, "b"))
	refused("a deletion", err)
	w.limit(store.LimitAuditBytes, w.auditCounted()*2)
	w.apply(put(fleet.Cluster, "a", "3"))
	u, err := w.app.Usage(t.Context(), w.tenant)
	w.ok(err)
	if u.AuditBytes != w.auditCounted() {
		t.Errorf("%d bytes are used", u.AuditBytes)
	}
}

// TestT09_WhatRetentionTakesCountsNoMore.
func TestT09_WhatRetentionTakesCountsNoMore(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "a", "1"))
	w.exec(`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object) SELECT $1, now() - interval '800 days', 'a', '', '', 'old', 'x' FROM generate_series(1, 3000) g`, w.tenant.String())
	before := w.auditCounted()
	w.exec(`SET session_replication_role = replica; UPDATE audit_events SET at = at - interval '800 days'; RESET session_replication_role`)
	w.compactDue()
	if after := w.auditCounted(); after >= before/10 {
		t.Errorf("%d of %d bytes are left", after, before)
	}
}
