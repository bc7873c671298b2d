package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// sqlState runs one statement in a transaction of the tenant and returns the state of its
// error, "" for none, or "0 rows" if it touched nothing.
func sqlState(t *testing.T, conn *pgx.Conn, tenant fleet.TenantID, sql string) string {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing is to stay
	if _, err := tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, tenant.String()); err != nil {
		t.Fatal(err)
	}
	tag, err := tx.Exec(t.Context(), sql)
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		return pg.Code
	case err != nil:
		t.Fatal(err)
	case tag.RowsAffected() == 0:
		return "0 rows"
	}
	return ""
}

// populate gives a tenant a row of everything.
func populate(w *world, tenant fleet.TenantID, f fleet.ID) {
	w.Helper()
	ctx := w.Context()
	c := put(fleet.Cluster, "mine", "body of "+tenant.String())
	c.Derived = fleet.Derived{Refs: []fleet.Ref{{Type: fleet.Endpoint, Name: "e"}}}
	_, err := w.app.Apply(ctx, tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{c}, Idempotency: &store.Idempotency{Key: "k"}})
	w.ok(err)
	_, err = w.app.CreateNodeCredential(ctx, tenant, f, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
	w.ok(err)
	k, err := w.app.CreateToken(ctx, tenant, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleOwner})
	w.ok(err)
	_, err = w.app.BeginSession(ctx, actor, store.NewSession{ID: fleet.NewSessionID(), Token: k.ID})
	w.ok(err)
	most := int64(50)
	w.ok(w.app.SetLimits(ctx, tenant, actor, map[store.LimitName]*int64{store.LimitFleets: &most}))
	_, _, err = w.app.SignAudit(ctx, tenant, signer, nothing)
	w.ok(err)
	_, err = w.app.ClaimAudit(ctx, tenant)
	w.ok(err)
	_, err = w.app.ClaimDelivery(ctx, tenant, "webhook", fleet.NewServerID())
	w.ok(err)
	server := fleet.NewServerID()
	term := w.lease(server, "s", time.Minute)
	w.ok(w.node.Report(ctx, fleet.Status{Key: fleet.Key{Tenant: tenant, Fleet: f}, Server: server, Term: term, Settled: 1,
		Delivered: []fleet.Delivered{{Revision: 1, Affected: 1}}, Nodes: []fleet.NodeStatus{{Node: "n", Connected: true}},
		Refusals: []fleet.Refusal{{Node: "n", Type: fleet.Cluster, Name: "mine", Version: c.Version, Revision: 1, Detail: "no", Good: c.Version}}}))
	other := put(fleet.Cluster, "mine", "another body of "+tenant.String())
	other.Derived = c.Derived
	_, err = w.app.Apply(ctx, tenant, f, store.Write{Actor: actor, Changes: []store.ResourceChange{other}}) // ends what was refused
	w.ok(err)
}

var tenantTables = []string{"fleets", "fleet_heads", "bodies", "resources", "resource_refs", "fleet_history", "resource_history", "api_tokens",
	"node_credentials", "audit_events", "idempotency_keys", "nodes", "node_status", "server_settled", "delivery", "nack_texts", "refusals", "refusal_ends", "tenant_limits", "sessions", "audit_chain", "audit_heads", "audit_signatures", "audit_checks", "audit_deliveries"}

// T30: each role tries each forbidden act.
func TestT30RolesMayNoMore(t *testing.T) {
	w := setup(t)
	b := w.db.Tenant(t)
	bf := w.db.Fleet(t, b)
	populate(w, w.tenant, w.fleet)
	populate(w, b, bf)
	app, node := w.db.Connect(t, w.db.App), w.db.Connect(t, w.db.Node)
	defer app.Close(context.Background())  //nolint:errcheck // only tried things
	defer node.Close(context.Background()) //nolint:errcheck // only tried things
	const denied, hidden = "42501", "0 rows"

	for _, table := range tenantTables {
		if n := w.count(`SELECT count(*) FROM ` + table + ` WHERE tenant_id = '` + b.String() + `'`); n == 0 {
			t.Fatalf("%s holds nothing of B: the test would be blind", table)
		}
		foreign := ` WHERE tenant_id = '` + b.String() + `'`
		if s := sqlState(t, app, w.tenant, `SELECT FROM `+table+foreign); s != hidden {
			t.Errorf("app reads B's %s as A: %q", table, s)
		}
		if s := sqlState(t, app, fleet.TenantID{}, `SELECT FROM `+table); s != hidden {
			t.Errorf("app reads %s without a tenant: %q", table, s)
		}
		for _, act := range []string{`UPDATE ` + table + ` SET tenant_id = tenant_id` + foreign, `DELETE FROM ` + table + foreign} {
			if s := sqlState(t, app, w.tenant, act); s != hidden && s != denied {
				t.Errorf("app: %s: %q", act, s)
			}
			if s := sqlState(t, node, w.tenant, act); s != hidden && s != denied {
				t.Errorf("node: %s: %q", act, s)
			}
		}
		steal := `UPDATE ` + table + ` SET tenant_id = '` + b.String() + `'`
		if s := sqlState(t, app, w.tenant, steal); s != denied {
			t.Errorf("app gives its %s to B: %q", table, s)
		}
		if s := sqlState(t, app, w.tenant, `TRUNCATE `+table); s != denied {
			t.Errorf("app truncates %s: %q", table, s)
		}
	}
	a, af, bt := w.tenant.String(), w.fleet.String(), b.String()
	for _, try := range []struct {
		role *pgx.Conn
		sql  string
		want string
	}{
		{app, `INSERT INTO fleets (tenant_id, id, name) VALUES ('` + bt + `', gen_random_uuid(), 'x')`, denied},
		{app, `INSERT INTO fleet_heads (tenant_id, fleet_id) VALUES ('` + a + `', '` + bf.String() + `')`, "23503"},
		{app, `UPDATE audit_events SET actor = 'nobody'`, denied},
		{app, `DELETE FROM audit_events`, denied},
		{app, `UPDATE audit_chain SET hash = hash`, denied},
		{app, `INSERT INTO audit_chain SELECT * FROM audit_chain`, denied},
		{app, `UPDATE audit_heads SET seq = 0`, denied},
		{app, `INSERT INTO audit_anchors SELECT tenant_id, seq, hash, now(), now() FROM audit_heads`, denied},
		{app, `UPDATE audit_signatures SET seq = 0`, denied},
		{app, `DELETE FROM audit_signatures`, denied},
		{node, `SELECT FROM audit_chain`, denied},
		{node, `SELECT audit_due(1, 1)`, denied},
		{app, `UPDATE fleet_history SET message = ''`, denied},
		{app, `UPDATE bodies SET body = ''`, denied},
		{app, `DELETE FROM fleets`, denied},
		{app, `SELECT FROM operator_tokens`, denied},
		{app, `INSERT INTO sessions SELECT * FROM sessions`, denied},
		{app, `UPDATE sessions SET ended_at = NULL`, denied},
		{app, `DELETE FROM sessions`, denied},
		{app, `SELECT session_close(gen_random_uuid(), '{}', '')`, denied},
		{node, `SELECT FROM sessions`, denied},
		{node, `SELECT find_session(gen_random_uuid())`, denied},
		{app, `INSERT INTO tenants (id, slug) VALUES (gen_random_uuid(), 'x')`, denied},
		{app, `UPDATE nodes SET cluster = ''`, denied},
		{app, `INSERT INTO tenant_limits VALUES ('` + a + `', 'tokens', 5)`, denied},
		{app, `UPDATE tenant_limits SET most = 5`, denied},
		{app, `DELETE FROM tenant_limits`, denied},
		{app, `INSERT INTO xds_servers (server_id, lease_until) VALUES (gen_random_uuid(), now())`, denied},
		{app, `SELECT find_node_credential(gen_random_uuid())`, denied},
		{app, `SET ROLE fairlead_owner`, denied},
		{app, `SET ROLE fairlead_node`, denied},
		{app, `ALTER TABLE resources DISABLE ROW LEVEL SECURITY`, denied},
		{app, `CREATE TABLE mine ()`, denied},
		{app, `CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`, denied},
		{app, `UPDATE schema_migrations SET version = 1`, denied},
		{node, `SELECT FROM api_tokens`, denied},
		{node, `SELECT FROM audit_events`, denied},
		{node, `SELECT FROM idempotency_keys`, denied},
		{node, `SELECT FROM tenants`, denied},
		{node, `SELECT FROM tenant_limits`, denied},
		{node, `DELETE FROM node_events`, denied},
		{node, `SELECT operator_set_limits('` + a + `', '{}', '{}')`, denied},
		{node, `SELECT find_token(gen_random_uuid())`, denied},
		{node, `SELECT operator_tenants('', '', 'z', 1, false)`, denied},
		{node, `UPDATE fleet_heads SET revision = revision`, denied},
		{node, `INSERT INTO resources SELECT * FROM resources`, denied},
		{node, `UPDATE node_credentials SET revoked_at = NULL`, denied},
		{node, `DELETE FROM bodies`, denied},
		{node, `SELECT fleet_lock('` + af + `', NULL)`, denied},
		{node, `INSERT INTO nodes (tenant_id, fleet_id, node_id) VALUES ('` + bt + `', '` + bf.String() + `', 'x')`, denied},
		{node, `UPDATE node_status SET connected = true WHERE tenant_id = '` + bt + `'`, hidden},
		{node, `SET ROLE fairlead_app`, denied},
		{w.super, `UPDATE audit_events SET actor = 'nobody'`, denied}, // the trigger stops whoever the grants do not
		{w.super, `DELETE FROM audit_events`, denied},
		{w.super, `TRUNCATE audit_events`, denied},
		{w.super, `UPDATE audit_chain SET hash = hash`, denied},
		{w.super, `DELETE FROM audit_chain`, denied},
		{w.super, `TRUNCATE audit_chain`, denied},
	} {
		if got := sqlState(t, try.role, w.tenant, try.sql); got != try.want {
			t.Errorf("%s: %s gives %q, want %q", try.role.Config().User, try.sql, got, try.want)
		}
	}
}

// T04, the store's half: no method given tenant A reaches B, not even with B's
// own ids, and says the same as of what is nowhere (T06).
func TestT04ForeignIDsAreNowhere(t *testing.T) {
	w := setup(t)
	b := w.db.Tenant(t)
	bf := w.db.Fleet(t, b)
	populate(w, b, bf)
	w.apply(put(fleet.Cluster, "ours", "A"))
	ctx := t.Context()
	before := w.count(`SELECT sum(revision)::int + (SELECT count(*)::int FROM audit_events) FROM fleet_heads`)
	bToken, _, err := w.app.Tokens(ctx, b, store.CredentialFilter{})
	w.ok(err)
	bCred, _, err := w.app.NodeCredentials(ctx, b, bf, store.CredentialFilter{})
	w.ok(err)
	s := w.server("s")
	for name, call := range map[string]func(f fleet.ID) error{
		"Apply": func(f fleet.ID) error {
			_, err := w.app.Apply(ctx, w.tenant, f, store.Write{Changes: []store.ResourceChange{put(fleet.Cluster, "mine", "X")}})
			return err
		},
		"Rollback": func(f fleet.ID) error { _, err := w.app.Rollback(ctx, w.tenant, f, 1, store.Write{}); return err },
		"Compact": func(f fleet.ID) error {
			return w.app.Compact(ctx, w.tenant, f, store.Floors{Tombstones: 9, History: 9})
		},
		"DeleteFleet": func(f fleet.ID) error { return w.app.DeleteFleet(ctx, w.tenant, actor, f) },
		"Resource": func(f fleet.ID) error {
			_, err := w.app.Resource(ctx, w.tenant, f, fleet.Cluster, "mine", "")
			return err
		},
		"Revision": func(f fleet.ID) error { _, err := w.app.Revision(ctx, w.tenant, f, 1); return err },
		"Receipt":  func(f fleet.ID) error { _, err := w.app.Receipt(ctx, w.tenant, f, 1); return err },
		"Node":     func(f fleet.ID) error { _, err := w.app.Node(ctx, w.tenant, f, "n"); return err },
		"CreateNodeCredential": func(f fleet.ID) error {
			_, err := w.app.CreateNodeCredential(ctx, w.tenant, f, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
			return err
		},
		"RevokeNodeCredential": func(f fleet.ID) error { return w.app.RevokeNodeCredential(ctx, w.tenant, f, actor, bCred[0].ID) },
		"RevokeToken": func(fleet.ID) error {
			return w.app.RevokeToken(ctx, w.tenant, actor, bToken[0].ID, store.Revocation{Within: auth.Roles()})
		},
		"CreateToken for a fleet": func(f fleet.ID) error {
			_, err := w.app.CreateToken(ctx, w.tenant, actor, store.APIToken{ID: fleet.CredentialID{9}, Role: auth.RoleCI, Fleet: &f})
			return err
		},
		"Report": func(f fleet.ID) error {
			return w.node.Report(ctx, fleet.Status{Key: fleet.Key{Tenant: w.tenant, Fleet: f}, Server: s.id, Term: s.term, Nodes: []fleet.NodeStatus{{Node: "n"}}})
		},
	} {
		foreign, nowhere := call(bf), call(fleet.ID{1})
		if !errors.Is(foreign, fleet.ErrNotFound) || !errors.Is(nowhere, fleet.ErrNotFound) {
			t.Errorf("%s: of B %v, of nobody %v", name, foreign, nowhere)
		}
	}
	for name, call := range map[string]func() (int, error){
		"Resources": func() (int, error) {
			v, _, err := w.app.Resources(ctx, w.tenant, bf, store.Filter{})
			return len(v), err
		},
		"Revisions": func() (int, error) {
			v, _, err := w.app.Revisions(ctx, w.tenant, bf, store.RevisionFilter{})
			return len(v), err
		},
		"Nodes": func() (int, error) { v, _, err := w.app.Nodes(ctx, w.tenant, bf, "", 0); return len(v), err },
		"NodeCredentials": func() (int, error) {
			v, _, err := w.app.NodeCredentials(ctx, w.tenant, bf, store.CredentialFilter{})
			return len(v), err
		},
		"Tokens": func() (int, error) {
			v, _, err := w.app.Tokens(ctx, w.tenant, store.CredentialFilter{})
			return len(v), err
		},
	} {
		if n, err := call(); n != 0 || err != nil {
			t.Errorf("%s shows %d of B, %v", name, n, err)
		}
	}
	if after := w.count(`SELECT sum(revision)::int + (SELECT count(*)::int FROM audit_events) FROM fleet_heads`); after != before {
		t.Errorf("something was written: %d, was %d", after, before)
	}
}

// T31: two tenants share one connection, calls are cancelled at random: nobody
// ever sees a row of the other.
func TestT31OneConnectionTwoTenants(t *testing.T) {
	w := setup(t)
	s := w.db.Open(t, store.Config{URL: w.db.App, MaxConns: 1})
	type side struct {
		tenant fleet.TenantID
		fleet  fleet.ID
	}
	b := w.db.Tenant(t)
	sides := []side{{w.tenant, w.fleet}, {b, w.db.Fleet(t, b)}}
	for _, x := range sides {
		var cs []store.ResourceChange
		for i := range 20 {
			cs = append(cs, put(fleet.Cluster, fmt.Sprint("c", i), x.tenant.String()))
		}
		_, err := w.app.Apply(t.Context(), x.tenant, x.fleet, store.Write{Changes: cs})
		w.ok(err)
	}
	var read, foreign, cancelled atomic.Int64
	var wg sync.WaitGroup
	for g := range 100 {
		mine, theirs := sides[g%2], sides[1-g%2]
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1)) //nolint:gosec // a test's dice
			for range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				if r.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(2000))*time.Microsecond)
				}
				f := mine.fleet
				if r.IntN(4) == 0 {
					f = theirs.fleet // with the wrong tenant
				}
				rs, _, err := s.Resources(ctx, mine.tenant, f, store.Filter{})
				cancel()
				if err != nil {
					cancelled.Add(1)
				}
				for _, r := range rs {
					read.Add(1)
					if string(r.Body) != mine.tenant.String() {
						foreign.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	if left, err := s.Leftover(t.Context()); err != nil || left != "" {
		t.Errorf("the connection still works for tenant %q, %v", left, err)
	}
	t.Logf("%d rows read, %d calls cancelled, %d foreign rows", read.Load(), cancelled.Load(), foreign.Load())
	if foreign.Load() != 0 || read.Load() == 0 || cancelled.Load() == 0 {
		t.Error("foreign rows, or a blind test")
	}
}
