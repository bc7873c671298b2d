package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// moving is a tenant with something in every table, and the database that it is to come to.
type moving struct {
	*placed
	target *world // of which the tenant and the fleet are those of the source
	known  fleet.Known
}

func setupMoving(t *testing.T) *moving {
	t.Helper()
	m := &moving{placed: setupPlaced(t)}
	db := storetest.New(t)
	m.target = &world{T: t, db: db, app: db.Store(t), node: db.NodeStore(t), super: db.Connect(t, db.Owner), tenant: m.tenant, fleet: m.fleet}
	t.Cleanup(func() { _ = m.target.super.Close(context.Background()) })
	m.fill()
	m.known = fleet.Known{Key: m.key(), At: m.load().At}
	return m
}

// fill has the tenant leave a row in every table.
func (m *moving) fill() {
	m.Helper()
	ctx := m.Context()
	s := m.server("s")
	m.target.lease(s.id.Beside(), "s", time.Hour) // it serves both cells
	m.apply(put(fleet.Cluster, "gone", "1"), put(fleet.Cluster, "long", strings.Repeat("tab\tline\n\\", 100_000)))
	rev := s.refusedBy("c", 3)
	_, err := m.app.Apply(ctx, m.tenant, m.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{del(fleet.Cluster, "gone")},
		Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}})
	m.ok(err)
	s.report(fleet.Status{Settled: rev, Nodes: []fleet.NodeStatus{on("n000000"), on("n000001")}})
	m.exec(`DELETE FROM node_events WHERE tenant_id = $1 AND kind = 'refused' AND node_id = 'n000000'`, m.tenant.String())                                     // as a sweep: it does not come back with its refusal
	m.exec(`UPDATE node_events SET xact = (events_end()::text::bigint + 1000000)::text::xid8 WHERE tenant_id = $1 AND node_id = 'n000001'`, m.tenant.String()) // as of a Postgres that has come further
	child := fleet.NewCredentialID()
	_, err = m.app.CreateToken(ctx, m.tenant, store.Actor{Name: "ada", Credential: m.token}, store.APIToken{ID: child, Role: auth.RoleViewer, Parent: &m.token})
	m.ok(err)
	lease, err := m.app.TakeEndpointLease(ctx, m.tenant, m.fleet, actor, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: time.Minute})
	m.ok(err)
	es := addresses("10.0.0", 3)
	es[0].Lease = lease.ID
	m.setEndpoints("c", es...)
	most := int64(7)
	m.ok(m.app.SetLimits(ctx, m.tenant, actor, map[store.LimitName]*int64{store.LimitFleets: &most}))
	second, err := m.app.CreateFleet(ctx, m.tenant, actor, "second", "")
	m.ok(err)
	m.ok(m.app.DeleteFleet(ctx, m.tenant, actor, second.ID))
	_, _, err = m.app.SignAudit(ctx, m.tenant, signer, nothing)
	m.ok(err)
	for _, sql := range []string{
		`INSERT INTO audit_anchors SELECT id, 0, decode(repeat('00', 32), 'hex'), clock_timestamp(), clock_timestamp() FROM tenants WHERE id = $1`,
		`INSERT INTO audit_checks (tenant_id, checked_at) SELECT id, clock_timestamp() FROM tenants WHERE id = $1`,
		`INSERT INTO audit_deliveries (tenant_id, collector, seq) SELECT id, 'webhook', 1 FROM tenants WHERE id = $1`,
		`INSERT INTO resource_refs SELECT tenant_id, fleet_id, type, name, variant, 'secrets', 's' FROM resources WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO endpoint_builds SELECT tenant_id, id, clock_timestamp() FROM fleets WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO node_retries SELECT tenant_id, fleet_id, node_id, 1 FROM nodes WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO load_nodes SELECT tenant_id, fleet_id, node_id, clock_timestamp(), clock_timestamp() FROM nodes WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO load_clusters SELECT tenant_id, id, 'c', clock_timestamp(), clock_timestamp() FROM fleets WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO load_minutes SELECT tenant_id, id, 'c', clock_timestamp(), 'requests', '', '', '', '', 1, 2, 3, 0.1, 4, 1e-7 FROM fleets WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO refusal_ends SELECT tenant_id, id, 'clusters', 'x', 'v', 1, clock_timestamp() FROM fleets WHERE tenant_id = $1 LIMIT 1`,
		`INSERT INTO delivery SELECT tenant_id, id, 1, gen_random_uuid(), 1, 1, NULL, clock_timestamp() FROM fleets WHERE tenant_id = $1 ON CONFLICT DO NOTHING`,
	} {
		m.exec(sql, m.tenant.String())
	}
}

// altered are the columns that a move gives other values: what is of the source's servers and of its transactions, and the ends of leases.
var altered = map[string]string{
	"node_status": "server_id connected settled since streams clean duplicates", "nodes": "served_by settled withheld",
	"node_events": "xact", "endpoint_leases": "expires_at due_at",
}

// digests has of each table of tenants how many rows the tenant has, and a hash of what they say.
func (w *world) digests(tenant fleet.TenantID) map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, table := range strings1(w.T, w.super, `
		SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`) {
		sql := fmt.Sprintf(`SELECT count(*) || ' ' || md5(coalesce(string_agg(j, '|' ORDER BY j), '')) FROM (SELECT (to_jsonb(t) - $2::text[])::text AS j FROM %s t WHERE t.tenant_id = $1) x`, table)
		if err := w.super.QueryRow(w.Context(), sql, tenant.String(), strings.Fields(altered[table])).Scan(ptr(out, table)); err != nil {
			w.Fatal(table, err)
		}
	}
	return out
}

// ptr scans into a map's value.
func ptr(m map[string]string, key string) *into { return &into{m, key} }

type into struct {
	m   map[string]string
	key string
}

// Scan keeps the text.
func (i *into) Scan(v any) error { i.m[i.key] = fmt.Sprint(v); return nil }

// serverID is the id of a server that has a lease in the source.
func (m *moving) serverID(name string) fleet.ServerID {
	m.Helper()
	id, err := fleet.ParseServerID(strings1(m.T, m.super, `SELECT server_id::text FROM xds_servers WHERE name = $1`, name)[0])
	m.ok(err)
	return id
}

func (m *moving) move() store.Move {
	return store.Move{From: m.db.Owner, To: m.target.db.Owner, Tenant: m.tenant.String()}
}

// A tenant that has moved is in the target what it was in the source: rows, revisions, tokens, events, and the end of its audit.
func TestATenantMovesWithAllThatItHas(t *testing.T) {
	m := setupMoving(t)
	before := m.digests(m.tenant)
	for table, d := range before {
		if strings.HasPrefix(d, "0 ") {
			t.Errorf("the test has nothing in table %s", table)
		}
	}
	var steps []string
	move := m.move()
	move.At = func(step string) error {
		steps = append(steps, step)
		return nil
	}
	done, err := store.MoveTenant(t.Context(), move)
	m.ok(err)
	if !slices.Equal(steps, store.MoveSteps) || done.Rows == 0 || done.Resumed || done.Already || done.Tenant != m.tenant {
		t.Errorf("the move did %+v in the steps %v", done, steps)
	}
	after := m.target.digests(m.tenant)
	for table, want := range before {
		if table == "server_settled" {
			want = "0 " + strings.Fields(after[table])[1]
		}
		if after[table] != want {
			t.Errorf("table %s was %s and is %s", table, want, after[table])
		}
	}
	m.served(false)
	m.alike()

	again, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	if !again.Already {
		t.Errorf("the second time it did %+v", again)
	}
	rows, err := store.ForgetMoved(t.Context(), m.move())
	m.ok(err)
	for table, d := range m.digests(m.tenant) {
		if !strings.HasPrefix(d, "0 ") {
			t.Errorf("%s: %d rows are forgotten, and table %s has %s", m.tenant, rows, table, d)
		}
	}
	m.isAt(m.app, m.token, store.TokenUnknown)
	m.isAt(m.target.app, m.token, store.TokenHere)
}

// served checks which of the two serves the tenant, and that the other one does not.
func (m *moving) served(bySource bool) {
	m.Helper()
	here, away := m.world, m.target
	if !bySource {
		here, away = away, here
	}
	for _, id := range []fleet.CredentialID{m.token, m.credential, m.session} {
		m.isAt(here.app, id, store.TokenHere)
		if p, err := away.app.PlaceOfID(m.Context(), id); err != nil || p == store.TokenHere {
			m.Errorf("both cells serve the tenant: %v, %v", p, err)
		}
	}
	if _, err := away.try(put(fleet.Cluster, "z", "1")); err == nil {
		m.Error("the cell that does not serve the tenant writes it")
	}
}

// alike checks that the target tells servers and proxies what the source told.
func (m *moving) alike() {
	m.Helper()
	if cs := m.target.catchUp(m.known); len(cs) != 0 {
		m.Errorf("who knew the fleet in the source is told in the target: %+v", cs)
	}
	last, err := m.target.node.LastStreams(m.Context(), m.key(), []fleet.AskedNode{{Node: "n000000"}, {Node: "n000001"}})
	m.ok(err)
	for _, l := range last {
		if !l.Known || len(l.Refusals)+len(l.Ended) == 0 || l.Settled == 0 {
			m.Errorf("of a node is left in the target: %+v", l)
		}
	}
	_, fault, err := m.target.app.VerifyAudit(m.Context(), m.tenant, signer, nothing)
	m.ok(err)
	if fault != nil {
		m.Errorf("the audit's chain in the target: %+v", fault)
	}
	r := m.target.apply(put(fleet.Cluster, "after", "1"))
	if r.Revision != m.known.At.Revision+1 {
		m.Errorf("the next revision is %d after %d", r.Revision, m.known.At.Revision)
	}
	events, _, err := m.target.app.Events(m.Context(), m.tenant, m.fleet, store.EventFilter{}, store.EventCursor{}, 0)
	m.ok(err)
	upto, err := m.target.app.EventsSince(m.Context(), m.tenant, m.fleet, time.Time{})
	m.ok(err)
	for _, e := range events {
		if e.Position().Compare(upto) > 0 {
			m.Errorf("who follows does not see event %+v before %+v", e, upto)
		}
	}
	if n := m.target.count(`SELECT count(*) FROM endpoint_leases WHERE expires_at < clock_timestamp() + interval '50 s'`); n != 0 {
		m.Errorf("%d leases of endpoints have less than their time", n)
	}
}

// A write that began before the tenant was leaving ends, and is copied; the move waits for it.
func TestAMoveWaitsForWritersThatBeganBefore(t *testing.T) {
	m := setupMoving(t)
	writer := m.db.Connect(t, m.db.App)
	defer writer.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it has committed
	tx, err := writer.Begin(t.Context())
	m.ok(err)
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it has committed
	_, err = tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, m.tenant.String())
	m.ok(err)
	_, err = tx.Exec(t.Context(), `UPDATE fleets SET description = 'late' WHERE tenant_id = app_tenant() AND id = $1`, m.fleet.String())
	m.ok(err)

	steps, ended := make(chan string, len(store.MoveSteps)), make(chan error, 1)
	move := m.move()
	move.At = func(step string) error { steps <- step; return nil }
	go func() {
		_, err := store.MoveTenant(t.Context(), move)
		ended <- err
	}()
	if step := <-steps; step != "leaving" {
		t.Fatal(step)
	}
	until(t, "the move asks for writers, or goes on", func() bool {
		return len(steps) > 0 || m.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fairlead-move' AND query LIKE 'SELECT NOT EXISTS%pg_locks%'`) > 0
	})
	if len(steps) > 0 {
		t.Error("the move did not wait")
	}
	m.ok(tx.Commit(t.Context()))
	m.ok(<-ended)
	if n := m.target.count(`SELECT count(*) FROM fleets WHERE description = 'late'`); n != 1 {
		t.Error("what was written at last is not in the target")
	}
}

// Until the target serves the tenant the source can again, and what the target has is removed.
func TestAMoveIsBackedOut(t *testing.T) {
	for _, step := range []string{"leaving", "arriving", "gone", "reported"} {
		t.Run(step, func(t *testing.T) {
			m := setupMoving(t)
			stop := errors.New("stop")
			move := m.move()
			move.At = func(at string) error {
				if at == step {
					return stop
				}
				return nil
			}
			_, err := store.MoveTenant(t.Context(), move)
			m.is(err, stop)
			m.ok(store.BackOutMove(t.Context(), m.move()))
			m.served(true)
			m.apply(put(fleet.Cluster, "after", "1"))
			if n := m.target.count(`SELECT count(*) FROM tenants`); n != 0 {
				t.Errorf("the target has %d tenants", n)
			}
			m.is(store.BackOutMove(t.Context(), m.move()), fleet.ErrConflict)
			_, err = store.ForgetMoved(t.Context(), m.move())
			m.is(err, fleet.ErrConflict)
			_, err = store.MoveTenant(t.Context(), m.move())
			m.ok(err)
			m.served(false)
			m.is(store.BackOutMove(t.Context(), m.move()), fleet.ErrConflict)
		})
	}
}

// What a move that ended early has left in a cell is never served once the tenant has moved to a third one, whichever way is tried.
func TestALeftoverOfAnEarlierMoveIsNotServed(t *testing.T) {
	m := setupMoving(t)
	third := storetest.New(t)
	stop := errors.New("stop")
	early := m.move()
	early.At = func(at string) error {
		if at == "arriving" {
			return stop
		}
		return nil
	}
	_, err := store.MoveTenant(t.Context(), early)
	m.is(err, stop)
	later := m.move()
	later.To = third.Owner
	third.Exec(t, `INSERT INTO xds_servers (server_id, name, lease_until) VALUES ($1, 's', now() + interval '1 hour')`, m.serverID("s").Beside().String())
	_, err = store.MoveTenant(t.Context(), later)
	m.ok(err)

	_, err = store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	m.is(store.BackOutMove(t.Context(), m.move()), fleet.ErrConflict)
	m.isAt(m.app, m.token, store.TokenGone)
	m.isAt(m.target.app, m.token, store.TokenArriving)

	left := store.Move{From: m.target.db.Owner, To: third.Owner, Tenant: m.tenant.String()}
	_, err = store.ForgetMoved(t.Context(), left)
	m.ok(err)
	if n := m.target.count(`SELECT count(*) FROM tenants`); n != 0 {
		t.Errorf("the cell in between has %d tenants", n)
	}
}

// A source that was restored, or has failed over, may have lost that the tenant has gone. It does not serve it beside the target.
func TestAMoveIsNotBackedOutWhereTheTargetServes(t *testing.T) {
	m := setupMoving(t)
	_, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	m.exec(`UPDATE tenants SET place = 'leaving' WHERE id = $1`, m.tenant.String())
	m.is(store.BackOutMove(t.Context(), m.move()), fleet.ErrConflict)
	if n := m.count(`SELECT count(*) FROM tenants WHERE place = 'leaving'`); n != 1 {
		t.Error("the source writes what the target has")
	}
}

// A slug that another tenant of the target has got meanwhile ends the move, and keeps nobody from backing it out.
func TestAMoveIsBackedOutWhereItsSlugWasTaken(t *testing.T) {
	m := setupMoving(t)
	stop := errors.New("stop")
	move := m.move()
	move.At = func(string) error { return stop }
	_, err := store.MoveTenant(t.Context(), move)
	m.is(err, stop)
	m.target.exec(`INSERT INTO tenants (id, slug) SELECT gen_random_uuid(), $1`, strings1(t, m.super, `SELECT slug FROM tenants WHERE id = $1`, m.tenant.String())[0])
	_, err = store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	m.ok(store.BackOutMove(t.Context(), m.move()))
	m.served(true)
	m.apply(put(fleet.Cluster, "after", "1"))
}

// It can move back to where its rows still are.
func TestATenantMovesBack(t *testing.T) {
	m := setupMoving(t)
	_, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	m.target.apply(put(fleet.Cluster, "after", "1"))
	back := m.move()
	back.From, back.To = back.To, back.From
	_, err = store.MoveTenant(t.Context(), back)
	m.ok(err)
	m.served(true)
	if c := m.load(); c.At.Revision != m.known.At.Revision+1 {
		t.Errorf("it came back at %+v", c.At)
	}
}

// What cannot be moved is left as it is.
func TestWhatIsNotMoved(t *testing.T) {
	m := setupMoving(t)
	for what, c := range map[string]struct {
		move func(store.Move) store.Move
		want error
	}{
		"a tenant that is not there": {func(v store.Move) store.Move { v.Tenant = "nobody"; return v }, fleet.ErrNotFound},
		"to where it is":             {func(v store.Move) store.Move { v.To = v.From; return v }, fleet.ErrConflict},
		"a URL that is none":         {func(v store.Move) store.Move { v.To = "x:\x00"; return v }, fleet.ErrInvalid},
	} {
		_, err := store.MoveTenant(t.Context(), c.move(m.move()))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	m.target.exec(`INSERT INTO tenants (id, slug) SELECT gen_random_uuid(), $1`, strings1(t, m.super, `SELECT slug FROM tenants WHERE id = $1`, m.tenant.String())[0])
	_, err := store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	m.target.exec(`DELETE FROM tenants`)
	m.target.exec(`INSERT INTO tenants (id, slug) VALUES ($1, 'other')`, m.tenant.String())
	_, err = store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	m.served(true)
	m.target.exec(`DELETE FROM tenants`)
	m.target.exec(`UPDATE schema_contents SET hash = 'other' WHERE what = 'functions'`)
	_, err = store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	m.served(true)
	m.apply(put(fleet.Cluster, "after", "1"))
}

// The tables come from the catalogue, each behind those that it names, and none is left out but those that are listed.
func TestAMoveCopiesEveryTableOfTenants(t *testing.T) {
	w := setup(t)
	moved, err := store.TablesToMove(t.Context(), w.super)
	w.ok(err)
	all := slices.Collect(maps.Keys(w.digests(w.tenant)))
	if got := append(slices.Clone(moved), store.NotMoved...); len(got) != len(all) || len(all) < 30 {
		t.Errorf("%d tables are moved or listed of %d", len(got), len(all))
	}
	rows, err := w.super.Query(t.Context(), `SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid AND confrelid <> 'tenants'::regclass`)
	w.ok(err)
	pairs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p [2]string, err error) { return p, row.Scan(&p[0], &p[1]) })
	w.ok(err)
	for _, p := range pairs {
		if i := slices.Index(moved, p[0]); i >= 0 && i < slices.Index(moved, p[1]) {
			t.Errorf("%s comes before %s, which it names", p[0], p[1])
		}
	}
	if ids := strings1(t, w.super, `SELECT attrelid::regclass || '.' || attname FROM pg_attribute WHERE attidentity <> '' AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`); len(ids) > 0 {
		t.Errorf("columns that number rows by themselves: %v. A move would have to bring their sequence with them", cmp.Or(strings.Join(ids, " ")))
	}
}

// Every cell is asked before anything is changed: one that does not answer, or is not migrated, is named, and so is a third one that serves the tenant.
func TestAMoveAsksAllCellsFirst(t *testing.T) {
	m := setupMoving(t)
	third := storetest.New(t)
	move := m.move()
	move.Cells = []store.CellURL{{Name: "eu-1", URL: m.db.Owner}, {Name: "eu-2", URL: m.target.db.Owner}, {Name: "us-1", URL: third.Owner}}
	for name, c := range map[string]struct {
		edit  func(*store.Move)
		says  string
		want  error
		third string // the place that the third cell has for the tenant
	}{
		"the third does not answer": {func(v *store.Move) { v.Cells[2].URL = "postgres://nobody@127.0.0.1:1/none" }, "cell us-1: ", fleet.ErrUnavailable, ""},
		"the third has no schema":   {func(v *store.Move) { v.Cells[2].URL = storetest.Empty(t).Owner }, "cell us-1: ", fleet.ErrConflict, ""},
		"the target is away": {func(v *store.Move) {
			v.To, v.Cells[1].URL = "postgres://nobody@127.0.0.1:1/none", "postgres://nobody@127.0.0.1:1/none"
		}, "the target eu-2: ", fleet.ErrUnavailable, ""},
		"the third serves the tenant": {func(*store.Move) {}, "cell us-1 serves the tenant, which is served in the source eu-1 and not there in the target eu-2", fleet.ErrConflict, "here"},
		"the third was leaving":       {func(*store.Move) {}, "cell us-1 serves the tenant", fleet.ErrConflict, "leaving"},
		"the third is the source": {func(v *store.Move) {
			v.Cells = append(v.Cells, store.CellURL{Name: "us-2", URL: m.db.Owner + "&application_name=other"})
		}, "cell us-2 serves the tenant", fleet.ErrConflict, ""},
		"the tenant is not there": {func(v *store.Move) { v.Tenant = "nobody" }, "the source eu-1 has no such tenant", fleet.ErrNotFound, ""},
	} {
		v := move
		v.Cells = slices.Clone(move.Cells)
		c.edit(&v)
		v.At = func(step string) error { t.Errorf("%s: it comes to %s", name, step); return errors.New("stop") }
		if c.third != "" {
			third.Exec(t, `INSERT INTO tenants (id, slug, place) VALUES ($1, 'other', $2)`, m.tenant.String(), c.third)
		}
		_, err := store.MoveTenant(t.Context(), v)
		errs := map[string]error{"move": err}
		if c.third != "" {
			errs["back out"] = store.BackOutMove(t.Context(), v)
			_, errs["forget"] = store.ForgetMoved(t.Context(), v)
		}
		for what, err := range errs {
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %s: %v, want %q, %v", name, what, err, c.says, c.want)
			}
		}
		third.Exec(t, `DELETE FROM tenants`)
	}
	m.served(true)
	m.apply(put(fleet.Cluster, "after", "1"))

	m.target.exec(`INSERT INTO tenants (id, slug) VALUES ($1, 'other')`, m.tenant.String())
	_, err := store.MoveTenant(t.Context(), move)
	if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), "the source eu-1 and the target eu-2 both serve the tenant") {
		t.Errorf("two cells serve it: %v", err)
	}
	m.target.exec(`DELETE FROM tenants`)
	third.Exec(t, `INSERT INTO tenants (id, slug, place) VALUES ($1, 'other', 'gone')`, m.tenant.String())
	_, err = store.MoveTenant(t.Context(), move)
	m.ok(err)
	m.served(false)
}

// What a tenant has left is forgotten too where the target has purged it: by who says so, and not sooner than it can be.
func TestWhatAPurgedTenantHasLeftIsForgotten(t *testing.T) {
	m := setupMoving(t)
	_, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	m.ok(m.target.app.DeleteTenant(t.Context(), m.tenant, actor))
	m.isAt(m.app, m.token, store.TokenGone)
	m.isAt(m.target.app, m.token, store.TokenDeleted)
	m.target.exec(`UPDATE tenants SET deleted_at = deleted_at - interval '31 days'`)
	if got := m.target.compactDue(); got.Purged == 0 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	if n := m.target.count(`SELECT count(*) FROM tenants`); n != 0 {
		t.Fatalf("the target has %d tenants", n)
	}
	forget := func(purged bool, says string) {
		t.Helper()
		move := m.move()
		move.Purged = purged
		_, err := store.ForgetMoved(t.Context(), move)
		if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	forget(false, "--purged")
	forget(true, "within 30 days")
	m.exec(`UPDATE tenants SET placed_at = placed_at - interval '31 days' WHERE id = $1`, m.tenant.String())
	forget(false, "--purged")
	m.exec(`UPDATE tenants SET place = 'leaving' WHERE id = $1`, m.tenant.String())
	forget(true, "the tenant is leaving in the source")
	m.exec(`UPDATE tenants SET place = 'gone' WHERE id = $1`, m.tenant.String())
	move := m.move()
	move.Purged = true
	_, err = store.ForgetMoved(t.Context(), move)
	m.ok(err)
	m.isAt(m.app, m.token, store.TokenUnknown)
	if n := m.count(`SELECT count(*) FROM tenants WHERE id = $1`, m.tenant.String()); n != 0 {
		t.Error("the source has the tenant")
	}
}

// A database is one by whatever way it is reached, and to each role.
func TestADatabaseIsKnownByItsID(t *testing.T) {
	db := storetest.New(t)
	known := map[string]bool{}
	for _, url := range []string{db.App, db.Node, db.Owner, db.App + "&application_name=other", db.App + "&pool_max_conns=3"} {
		id, err := store.DatabaseID(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		known[id] = true
	}
	other, err := store.DatabaseID(t.Context(), storetest.New(t).App)
	if err != nil || len(known) != 1 || known[other] {
		t.Errorf("one is known as %v, another one as %q: %v", known, other, err)
	}
	if _, err := store.DatabaseID(t.Context(), "postgres://nobody@127.0.0.1:1/none"); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("one that is away: %v", err)
	}
}
