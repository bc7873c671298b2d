package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead/internal/audit"
	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

var signer = audit.NewSigner([]byte("0123456789abcdef0123456789abcdef"))

func nothing() error { return nil }

// sign signs the head, and returns it as it was exported.
func (w *world) sign() *audit.Head {
	w.Helper()
	h, f, err := w.app.SignAudit(w.Context(), w.tenant, signer, nothing)
	w.ok(err)
	if f != nil {
		w.Fatalf("it is not signed: %v", f)
	}
	return h
}

// verified is what the server finds wrong; "" for nothing.
func (w *world) verified() string {
	w.Helper()
	_, f, err := w.app.VerifyAudit(w.Context(), w.tenant, signer, nothing)
	w.ok(err)
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", f.What, f.Seq)
}

// compared is the same of a verification from outside, which knows these heads alone.
func (w *world) compared(heads ...audit.Head) string {
	w.Helper()
	p, err := w.app.AuditChain(w.Context(), w.tenant, 0, 1000)
	w.ok(err)
	c := audit.NewChain(w.tenant.String(), p.Anchor)
	c.Expect(heads...)
	f := audit.Early(p.Anchor, heads...)
	for i := 0; f == nil && i < len(p.Links); i++ {
		f = c.Add(p.Links[i])
	}
	if f == nil {
		f = c.End(p.Seq, p.Hash)
	}
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%s %d", f.What, f.Seq)
}

// meddle does what a superuser can, whom no trigger stops.
func (w *world) meddle(sql string) {
	w.Helper()
	w.exec(`SET session_replication_role = replica; ` + strings.ReplaceAll(sql, "$T", "'"+w.tenant.String()+"'") + `; RESET session_replication_role`)
}

// rewrite makes all hashes from a number on anew, and the head: a forger who knows all that stands in the database.
const rewrite = `
DO $$
DECLARE
  v bytea := coalesce((SELECT hash FROM audit_anchors WHERE tenant_id = $T), decode(repeat('00', 32), 'hex'));
  n bigint := coalesce((SELECT seq FROM audit_anchors WHERE tenant_id = $T), 0);
  r record;
BEGIN
  CREATE TEMP TABLE was ON COMMIT DROP AS SELECT * FROM audit_chain WHERE tenant_id = $T;
  DELETE FROM audit_chain WHERE tenant_id = $T;
  FOR r IN SELECT e, e.id FROM audit_events e LEFT JOIN was c ON c.event_id = e.id WHERE e.tenant_id = $T ORDER BY c.seq LOOP
    n := n + 1;
    v := sha256(v || audit_canonical(r.e, n));
    INSERT INTO audit_chain VALUES ($T, n, r.id, v);
  END LOOP;
  UPDATE audit_heads SET seq = n, hash = v WHERE tenant_id = $T;
END $$`

const event5 = `(SELECT event_id FROM audit_chain WHERE tenant_id = $T AND seq = 5)`

// Whatever somebody with the whole database does to what was done shows: to the server, or to who kept what was exported.
func TestT48_WhoHasTheDatabaseIsSeen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql      string
		verified string // by the server, which has the key, after it
		compared string // with heads that were exported before
	}{
		"nothing":                        {`SELECT 1`, "", ""},
		"a row is changed":               {`UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $T AND id = ` + event5, "event_changed 5", "event_changed 5"},
		"a null is changed":              {`UPDATE audit_events SET detail = '{}' WHERE tenant_id = $T AND id = ` + event5, "event_changed 5", "event_changed 5"},
		"a time is changed":              {`UPDATE audit_events SET at = at + interval '1 microsecond' WHERE tenant_id = $T AND id = ` + event5, "event_changed 5", "event_changed 5"},
		"a row and its hash":             {`UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $T AND id = ` + event5 + `; UPDATE audit_chain c SET hash = sha256((SELECT p.hash FROM audit_chain p WHERE p.tenant_id = $T AND p.seq = 4) || audit_canonical(e, 5)) FROM audit_events e WHERE c.tenant_id = $T AND c.seq = 5 AND e.tenant_id = $T AND e.id = c.event_id`, "event_changed 6", "event_changed 6"},
		"a row is deleted":               {`DELETE FROM audit_events WHERE tenant_id = $T AND id = ` + event5, "event_missing 5", "event_missing 5"},
		"a row and its link":             {`DELETE FROM audit_events WHERE tenant_id = $T AND id = ` + event5 + `; DELETE FROM audit_chain WHERE tenant_id = $T AND seq = 5`, "link_missing 5", "link_missing 5"},
		"a row is inserted":              {`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object) VALUES ($T, '2020-01-01', 'eve', '', '', 'x', 'x')`, "event_inserted 0", ""},
		"and counted as older":           {`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object) VALUES ($T, '2020-01-01', 'eve', '', '', 'x', 'x'); UPDATE audit_heads SET unchained = 1 WHERE tenant_id = $T`, "event_inserted 0", ""},
		"all is written anew":            {`UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $T AND id = ` + event5 + `; ` + rewrite, "rewritten 6", "rewritten 6"},
		"a row less, all anew":           {`DELETE FROM audit_events WHERE tenant_id = $T AND id = ` + event5 + `; ` + rewrite, "rewritten 6", "rewritten 6"},
		"a signed head too":              {`UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $T AND id = ` + event5 + `; ` + rewrite + `; UPDATE audit_signatures s SET hash = c.hash FROM audit_chain c WHERE s.tenant_id = $T AND c.tenant_id = $T AND c.seq = s.seq`, "signature 6", "rewritten 6"},
		"the tail is deleted":            {`DELETE FROM audit_events WHERE tenant_id = $T AND id IN (SELECT event_id FROM audit_chain WHERE tenant_id = $T AND seq > 7); DELETE FROM audit_chain WHERE tenant_id = $T AND seq > 7`, "truncated 8", "truncated 8"},
		"the head is set back":           {`UPDATE audit_heads h SET seq = c.seq, hash = c.hash FROM audit_chain c WHERE c.tenant_id = $T AND c.seq = 7 AND h.tenant_id = $T`, "head_moved_back 7", "head_moved_back 7"},
		"tail and head":                  {`DELETE FROM audit_events WHERE tenant_id = $T AND id IN (SELECT event_id FROM audit_chain WHERE tenant_id = $T AND seq > 7); DELETE FROM audit_chain WHERE tenant_id = $T AND seq > 7;` + rewrite, "truncated 8", "truncated 8"},
		"tail, head and what was signed": {`DELETE FROM audit_events WHERE tenant_id = $T AND id IN (SELECT event_id FROM audit_chain WHERE tenant_id = $T AND seq > 7); DELETE FROM audit_chain WHERE tenant_id = $T AND seq > 7; DELETE FROM audit_signatures WHERE tenant_id = $T AND seq > 7;` + rewrite, "", "truncated 8"}, // exported heads alone
		"the beginning, as if too old":   {`DELETE FROM audit_events WHERE tenant_id = $T AND id IN (SELECT event_id FROM audit_chain WHERE tenant_id = $T AND seq <= 8); INSERT INTO audit_anchors SELECT $T, 8, hash, now() - interval '400 days', now() FROM audit_chain WHERE tenant_id = $T AND seq = 8; DELETE FROM audit_chain WHERE tenant_id = $T AND seq <= 8`, "removed_early 7", "removed_early 7"},
		"all of it":                      {`DELETE FROM audit_events WHERE tenant_id = $T; DELETE FROM audit_chain WHERE tenant_id = $T; DELETE FROM audit_signatures WHERE tenant_id = $T; DELETE FROM audit_heads WHERE tenant_id = $T`, "", "truncated 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := another(t)
			w.until(6)
			exported := []audit.Head{*w.sign()}
			w.until(9)
			exported = append(exported, *w.sign())
			w.until(10)
			if got := w.verified() + w.compared(exported...); got != "" {
				t.Fatalf("before it: %s", got)
			}
			w.meddle(c.sql)
			if got := w.verified(); got != c.verified {
				t.Errorf("the server finds %q, want %q", got, c.verified)
			}
			if got := w.compared(exported...); got != c.compared {
				t.Errorf("with exported heads %q is found, want %q", got, c.compared)
			}
		})
	}
}

// until writes until the chain has so many links.
func (w *world) until(n int) {
	w.Helper()
	for i := 0; w.count(`SELECT count(*) FROM audit_chain WHERE tenant_id = $1`, w.tenant.String()) < n; i++ {
		if i > n {
			w.Fatal("events have no links")
		}
		w.apply(put(fleet.Cluster, "c", fmt.Sprint(n, i)))
	}
}

// What retention removes is no fault, in one step or many, and nothing goes from the middle: an event that is not too old keeps all behind it.
func TestT48_RetentionIsNoFalseAlarm(t *testing.T) {
	w := setup(t)
	w.until(2)
	w.exec(`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object)
		SELECT $1, now() - make_interval(days => g), 'a', '', '', 'test', g::text FROM generate_series(2400, 1, -1) g`, w.tenant.String())
	w.exec(`INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object) VALUES ($1, now() - interval '999 days', 'a', '', '', 'late', '')`, w.tenant.String())
	w.sign()
	_, err := w.app.CompactDue(t.Context())
	w.ok(err)
	if n := w.count(`SELECT count(*) FROM audit_events`); n < 2400 { // the first two are of today
		t.Fatalf("%d are left", n)
	}
	w.meddle(`UPDATE audit_events SET at = at - interval '3000 days' WHERE tenant_id = $T AND action <> 'test' AND action <> 'late';` + rewrite + `; DELETE FROM audit_signatures`)
	w.sign()
	_, err = w.app.CompactDue(t.Context())
	w.ok(err)
	if n, late := w.count(`SELECT count(*) FROM audit_events`), w.count(`SELECT count(*) FROM audit_events WHERE action = 'late'`); n != 365 || late != 1 {
		t.Errorf("%d are left, %d of what came late", n, late)
	}
	if got := w.verified(); got != "" {
		t.Error(got)
	}
	// Nobody else removes what retention would, but from the old end.
	if got := sqlState(t, w.super, w.tenant, `DELETE FROM audit_events WHERE action = 'late'`); got != "42501" {
		t.Errorf("a superuser's DELETE of what is old enough: %q", got)
	}
	if got := sqlState(t, w.super, w.tenant, `DELETE FROM audit_chain`); got != "42501" {
		t.Errorf("a superuser's DELETE of links: %q", got)
	}
}

// What was there before the chain is in none, and is no fault; more of it is.
func TestT48_TheChainBeginsWithTheMigration(t *testing.T) {
	w := setup(t)
	w.meddle(`DELETE FROM audit_events; DELETE FROM audit_chain; DELETE FROM audit_heads;
		INSERT INTO audit_events (tenant_id, at, actor, ip, request_id, action, object) SELECT $T, now() - interval '1 day', 'a', '', '', 'old', '' FROM generate_series(1, 3)`)
	if got := w.verified(); got != "event_inserted 0" {
		t.Errorf("without a chain: %q", got)
	}
	w.apply(put(fleet.Cluster, "c", "1"))
	p, err := w.app.AuditChain(t.Context(), w.tenant, 0, 0)
	w.ok(err)
	if p.Seq != 1 || p.Unchained != 3 || p.Unlinked != 3 {
		t.Errorf("%+v", p)
	}
	if got := w.verified(); got != "" {
		t.Error(got)
	}
	es, _, err := w.app.Audit(t.Context(), w.tenant, store.AuditFilter{})
	w.ok(err)
	if len(es) != 4 || es[0].Seq != 1 || es[0].Hash != p.Hash || es[1].Seq != 0 {
		t.Errorf("%+v", es)
	}
	if got := sqlState(t, w.super, w.tenant, `DELETE FROM audit_events WHERE action = 'old'`); got != "42501" {
		t.Errorf("a superuser's DELETE of what is in no chain, and not too old: %q", got)
	}
}

// A hundred writers at once, of all kinds that there are and in different fleets, make one chain without gaps, and none of them waits for another in a circle.
func TestT48_ConcurrentWritersMakeOneChain(t *testing.T) {
	w := setup(t)
	var fs []fleet.ID
	for range 10 {
		fs = append(fs, w.db.Fleet(t, w.tenant))
	}
	most := int64(50)
	var wg sync.WaitGroup
	errs := make(chan error, 1000)
	for i := range 100 {
		wg.Go(func() {
			ctx, f := t.Context(), fs[i%10]
			_, err := w.app.Apply(ctx, w.tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, fmt.Sprint(i), "x")}})
			errs <- err
			switch i % 5 {
			case 0:
				_, err = w.app.CreateNodeCredential(ctx, w.tenant, f, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
			case 1:
				err = w.app.SetLimits(ctx, w.tenant, actor, map[store.LimitName]*int64{store.LimitFleets: &most})
			case 2:
				err = w.app.RecordDenials(ctx, w.tenant, []store.Denial{{Actor: actor, Operation: "a"}, {Actor: actor, Operation: "b"}})
			case 3:
				_, err = w.app.CreateFleet(ctx, w.tenant, actor, fmt.Sprint("new", i), "")
			case 4:
				_, err = w.app.CompactDue(ctx)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil && !errors.Is(err, fleet.ErrUnavailable) { // the machine is slow
			t.Error(err)
		}
	}
	if got := w.verified(); got != "" {
		t.Error(got)
	}
	if n, m := w.count(`SELECT count(*) FROM audit_events WHERE tenant_id = $1`, w.tenant.String()), w.count(`SELECT seq FROM audit_heads WHERE tenant_id = $1`, w.tenant.String()); n != m || n < 100 {
		t.Errorf("%d events, the head is %d", n, m)
	}
}

// A sign-in that replaces the session of another tenant writes into two audits: many that cross each other do not wait for each other in a circle.
func TestT48_SignInsAcrossTenantsDoNotLockEachOther(t *testing.T) {
	w := setup(t)
	tenants := []fleet.TenantID{w.tenant, w.db.Tenant(t)}
	var tokens []store.APIToken
	for _, tenant := range tenants {
		k, err := w.app.CreateToken(t.Context(), tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleOwner})
		w.ok(err)
		tokens = append(tokens, k)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			old, hash := fleet.SessionID{}, [32]byte{}
			for round := range 15 {
				n := store.NewSession{ID: fleet.NewSessionID(), Hash: [32]byte{byte(i), byte(round)}, Token: tokens[(i+round)%2].ID, Before: old, OldHash: hash}
				if _, err := w.app.BeginSession(t.Context(), actor, n); err != nil {
					t.Error(err)
				}
				old, hash = n.ID, n.Hash
			}
		})
	}
	wg.Wait()
	for _, tenant := range tenants {
		w.tenant = tenant
		if got := w.verified(); got != "" {
			t.Error(got)
		}
	}
}

// What comes back from a backup is a sound chain; heads that were exported after it tell what is missing.
func TestT48_ABackupComesBackSound(t *testing.T) {
	w := setup(t)
	w.until(6)
	before := w.sign()
	w.apply(put(fleet.Cluster, "<ä> \"x\" \u2028", "1"))
	tables := []string{"audit_events", "audit_chain", "audit_heads", "audit_signatures"}
	backup := map[string]*bytes.Buffer{}
	for _, table := range tables {
		backup[table] = &bytes.Buffer{}
		_, err := w.super.PgConn().CopyTo(t.Context(), backup[table], "COPY "+table+" TO STDOUT")
		w.ok(err)
	}
	w.until(9)
	after := w.sign()
	for _, table := range tables {
		w.meddle("DELETE FROM " + table)
	}
	w.exec(`SET session_replication_role = replica`)
	for _, table := range tables {
		_, err := w.super.PgConn().CopyFrom(t.Context(), backup[table], "COPY "+table+" FROM STDIN")
		w.ok(err)
	}
	w.exec(`RESET session_replication_role`)
	if got := w.verified() + w.compared(*before); got != "" {
		t.Error(got)
	}
	if got := w.compared(*before, *after); got != "truncated 8" {
		t.Errorf("with a newer head: %q", got)
	}
	w.until(10)
	if got := w.verified(); got != "" {
		t.Error(got)
	}
	if got := w.compared(*after); got != "rewritten 9" {
		t.Errorf("with a newer head, gone on: %q", got)
	}
}

// What cannot be added to the chain did not happen, and its caller is told.
func TestT48_WhatIsNotInTheChainDidNotHappen(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.exec(`ALTER TABLE audit_chain ADD CONSTRAINT full_up CHECK (seq < 0) NOT VALID`)
	_, err := w.try(put(fleet.Cluster, "c", "2"))
	if err == nil {
		t.Error("the caller is told that it is written")
	}
	if _, err := w.app.CreateFleet(t.Context(), w.tenant, actor, "new", ""); err == nil {
		t.Error("the caller is told that there is a fleet")
	}
	if n := w.count(`SELECT revision FROM fleet_heads WHERE fleet_id = $1`, w.fleet.String()); n != 1 {
		t.Errorf("the fleet is at revision %d", n)
	}
}

// No head is signed behind what is wrong: else the signature would vouch for it.
func TestT48_NothingIsSignedBehindAFault(t *testing.T) {
	for name, c := range map[string]struct{ sql, fault string }{
		"a head that nobody signed": {`UPDATE audit_signatures SET signature = sha256(signature) WHERE tenant_id = $T`, audit.BadSignature},
		"an event that is changed":  {`UPDATE audit_events SET actor = 'eve' WHERE tenant_id = $T AND id = ` + event5, audit.EventChanged},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			w.until(3)
			w.sign()
			w.until(6)
			w.meddle(c.sql)
			h, f, err := w.app.SignAudit(t.Context(), w.tenant, signer, nothing)
			if w.ok(err); h != nil || f == nil || f.What != c.fault {
				t.Errorf("%+v is signed, %v", h, f)
			}
			if n := w.count(`SELECT count(*) FROM audit_signatures`); n != 1 {
				t.Errorf("%d heads are stored", n)
			}
		})
	}
}

// Every column of an event is hashed: whoever adds one gives what is hashed another version. So is its number.
func TestT48_AllOfAnEventIsHashed(t *testing.T) {
	w := setup(t)
	w.until(2)
	if n := w.count(`SELECT count(*) FROM audit_events e WHERE audit_canonical(e, 1) = audit_canonical(e, 2)`); n != 0 {
		t.Error("the number is not hashed")
	}
	for _, column := range strings1(t, w.super, `SELECT attname::text FROM pg_attribute WHERE attrelid = 'audit_events'::regclass AND attnum > 0 AND NOT attisdropped`) {
		other := map[string]string{"tenant_id": "gen_random_uuid()", "id": "gen_random_uuid()", "at": "at + interval '1 s'", "credential": "gen_random_uuid()", "fleet_id": "gen_random_uuid()",
			"old_revision": "77", "new_revision": "77"}[column]
		if other == "" {
			other = "'another'"
		}
		if column == "detail" {
			other = "'3'"
		}
		if n := w.count(`WITH one AS (SELECT * FROM audit_events LIMIT 1)
			SELECT count(*)::int FROM one o WHERE audit_canonical(ROW(o.*)::audit_events, 1) =
			       audit_canonical(jsonb_populate_record(ROW(o.*)::audit_events, jsonb_build_object('` + column + `', (SELECT to_jsonb((` + other + `)::text) FROM audit_events LIMIT 1))), 1)`); n != 0 {
			t.Errorf("%s is not hashed", column)
		}
	}
}
