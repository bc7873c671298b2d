package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// reported are the tables of what proxies report of a tenant, which goes on while it is leaving. All others of a tenant are in tables_of_writes.
var reported = []string{"delivery", "load_clusters", "load_minutes", "load_nodes", "nack_texts", "node_events", "node_retries", "node_status", "nodes", "refusal_ends", "refusals", "server_settled"}

// Every table of a tenant is one of the two: a new one has to be named in reported or in tables_of_writes.
func TestEveryTableOfATenantIsOfWritesOrReported(t *testing.T) {
	w := setup(t)
	guarded := strings1(t, w.super, `
		SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
		   AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'a_tenant_is_here' AND t.tgenabled = 'O' AND t.tgtype = 30)
		   AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'a_row_is_here' AND t.tgenabled = 'O' AND t.tgtype = 29) ORDER BY 1`)
	all := strings1(t, w.super, `
		SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`)
	for _, table := range all {
		if slices.Contains(guarded, table) == slices.Contains(reported, table) {
			t.Errorf("%s: it is guarded: %v, it is of reports: %v", table, slices.Contains(guarded, table), slices.Contains(reported, table))
		}
	}
	if len(all) != len(guarded)+len(reported) || len(guarded) < 20 {
		t.Errorf("%d tables, %d are guarded and %d of reports", len(all), len(guarded), len(reported))
	}
}

// While a tenant is leaving whatever writes to it is refused, is told that it is moving, and does nothing; what is read is told as before.
func TestATenantThatIsLeavingIsReadAndNotWritten(t *testing.T) {
	p := setupPlaced(t)
	ctx := t.Context()
	p.apply(put(fleet.Cluster, "a", "1"))
	lease, err := p.app.TakeEndpointLease(ctx, p.tenant, p.fleet, actor, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: time.Minute})
	p.ok(err)
	before := p.count(`SELECT count(*) FROM audit_events`)
	for _, place := range []string{"leaving", "arriving", "gone"} {
		p.exec(`UPDATE tenants SET place = $2 WHERE id = $1`, p.tenant.String(), place)
		for what, write := range p.writes(lease) {
			if what == "sign-in" && place != "leaving" {
				p.is(write(), fleet.ErrUnauthenticated) // its token is not known here
				continue
			}
			if err := write(); !errors.Is(err, store.ErrMoving) || !errors.Is(err, fleet.ErrUnavailable) {
				t.Errorf("%s, %s: %v", place, what, err)
			}
		}
	}
	if n := p.count(`SELECT count(*) FROM audit_events`); n != before {
		t.Errorf("there are %d events of the audit after %d", n, before)
	}
	p.exec(`UPDATE tenants SET place = 'leaving' WHERE id = $1`, p.tenant.String())
	if c := p.load(); len(c.Rows) != 1 {
		t.Errorf("a tenant that is leaving is told as %+v", c)
	}
	_, _, err = p.app.Fleets(ctx, p.tenant, "", 0)
	p.ok(err)
	p.ok(p.app.TouchSession(ctx, fleet.SessionID(p.session)))
	done, err := p.app.CompactDue(ctx)
	p.ok(err)
	if done.Failed > 0 || done.Tenants > 0 {
		t.Errorf("the compaction did %+v", done)
	}
	p.exec(`UPDATE tenants SET place = 'here' WHERE id = $1`, p.tenant.String())
	for what, write := range p.writes(lease) {
		if err := write(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A transaction asks once for each tenant that it writes to, and again of what it has rolled back.
func TestATransactionOfSeveralTenants(t *testing.T) {
	p := setupPlaced(t)
	ctx := t.Context()
	other, f := p.db.TenantWithFleetBy(t, p.app)
	p.exec(`UPDATE tenants SET place = 'leaving' WHERE id = $1`, p.tenant.String())
	conn := p.db.Connect(t, p.db.App)
	write := func(tx pgx.Tx, tenant fleet.TenantID, f fleet.ID) error {
		_, err := tx.Exec(ctx, `SELECT set_config('app.tenant_id', $1, true)`, tenant.String())
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE fleets SET description = 'written' WHERE id = $1`, f.String())
		}
		return err
	}
	for about, does := range map[string]func(pgx.Tx) error{
		"the other one was written": func(pgx.Tx) error { return nil },
		"the other one was written, and it was rolled back": func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `ROLLBACK TO before`)
			return err
		},
	} {
		tx, err := conn.Begin(ctx)
		p.ok(err)
		_, err = tx.Exec(ctx, `SAVEPOINT before`)
		p.ok(err)
		for range 2 {
			p.ok(write(tx, other, f))
		}
		p.ok(does(tx))
		var refused *pgconn.PgError
		if err := write(tx, p.tenant, p.fleet); !errors.As(err, &refused) || refused.Code != "57FL1" {
			t.Errorf("%s: a tenant that is leaving is written: %v", about, err)
		}
		p.ok(tx.Rollback(ctx))
	}
	p.ok(conn.Close(ctx))
}

// Another tenant is written as before, by the doors across tenants too.
func TestTheOthersAreWrittenWhileATenantIsLeaving(t *testing.T) {
	p := setupPlaced(t)
	other, f := p.db.TenantWithFleetBy(t, p.app)
	p.exec(`UPDATE tenants SET place = 'leaving' WHERE id = $1`, p.tenant.String())
	_, err := p.app.Apply(t.Context(), other, f, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "1")}})
	p.ok(err)
	p.ok(p.app.SetLimits(t.Context(), other, actor, map[store.LimitName]*int64{store.LimitTokens: nil}))
	p.ok(p.app.DeleteTenant(t.Context(), other, actor))
}

// writes are calls that write to the tenant, each by another way.
func (p *placed) writes(lease store.EndpointLease) map[string]func() error {
	ctx, k := p.Context(), fleet.NewCredentialID()
	return map[string]func() error{
		"apply": func() error { _, err := p.try(put(fleet.Cluster, "a", fleet.NewID().String())); return err },
		"token": func() error {
			_, err := p.app.CreateToken(ctx, p.tenant, actor, store.APIToken{ID: k, Role: auth.RoleViewer})
			return err
		},
		"limits": func() error {
			return p.app.SetLimits(ctx, p.tenant, actor, map[store.LimitName]*int64{store.LimitFleets: nil})
		},
		"new fleet": func() error {
			_, err := p.app.CreateFleet(ctx, p.tenant, actor, fleet.NewID().String(), "")
			return err
		},
		"settings": func() error {
			_, err := p.app.UpdateFleet(ctx, p.tenant, actor, p.fleet, store.FleetSettings{ReceiptWindow: 2 * time.Hour})
			return err
		},
		"new credential": func() error {
			_, err := p.app.CreateNodeCredential(ctx, p.tenant, p.fleet, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Nodes: "*"})
			return err
		},
		"renewal of a lease": func() error { _, err := p.app.RenewEndpointLease(ctx, p.tenant, p.fleet, lease.ID); return err },
		"endpoints": func() error {
			_, err := p.app.WriteEndpoints(ctx, p.tenant, p.fleet, store.EndpointWrite{Actor: actor, Cluster: "a", Set: addresses("10.0.0", 1)})
			return err
		},
		"sign-in": func() error {
			_, err := p.app.BeginSession(ctx, actor, store.NewSession{ID: fleet.SessionID(fleet.NewCredentialID()), Token: p.token})
			return err
		},
		"claim of an audit": func() error { _, err := p.app.ClaimAudit(ctx, p.tenant); return err },
	}
}
