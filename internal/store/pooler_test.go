package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// calls are a bit of everything that a server asks for; round makes it new.
func (w *world) calls(app, node *store.Store, worker, round int) error {
	ctx, id := w.Context(), fleet.NewServerID()
	name := fmt.Sprint("c", worker)
	var cred fleet.CredentialID
	var rev fleet.Revision
	var term fleet.Term
	for _, call := range []func() error{
		func() error {
			r, err := app.Apply(ctx, w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, name, fmt.Sprint(worker, round))}})
			rev = r.Revision
			return err
		},
		func() error { _, err := app.Resource(ctx, w.tenant, w.fleet, fleet.Cluster, name, ""); return err },
		func() error { _, _, err := app.Resources(ctx, w.tenant, w.fleet, store.Filter{}); return err },
		func() error { _, _, err := app.Tenants(ctx, "", 0); return err },
		func() error {
			c, err := app.CreateNodeCredential(ctx, w.tenant, w.fleet, actor, store.NodeCredential{ID: fleet.NewCredentialID(), Hash: [32]byte{byte(worker)}, Nodes: "*"})
			cred = c.ID
			return err
		},
		func() error { _, _, err := node.FindNodeCredential(ctx, cred); return err },
		func() error { _, err := node.CatchUp(ctx, []fleet.Known{{Key: w.key()}}); return err },
		func() error { _, err := node.Moved(ctx, []fleet.Known{{Key: w.key()}}); return err },
		func() (err error) { term, err = node.Lease(ctx, id, "xds-1", time.Minute); return err },
		func() error {
			return node.Report(ctx, fleet.Status{Key: w.key(), Server: id, Term: term, Settled: rev, Nodes: []fleet.NodeStatus{on(name)}})
		},
		func() error { _, err := node.LastStreams(ctx, w.key(), []fleet.AskedNode{{Node: name}}); return err },
		func() error { _, err := app.Receipt(ctx, w.tenant, w.fleet, rev); return err },
		func() error { return app.RevokeNodeCredential(ctx, w.tenant, w.fleet, actor, cred) },
		func() error { return app.Compact(ctx, w.tenant, w.fleet, store.Floors{}) },
		func() error { return node.Release(ctx, id) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// serve has four workers make the calls, more than the pooler has connections.
func (w *world) serve(app, node *store.Store) {
	w.Helper()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for round := range 5 {
				if err := w.calls(app, node, worker, round); err != nil {
					w.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// Behind a PgBouncer everything works but LISTEN, and nobody's settings stay behind.
func TestBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	for name, c := range poolers(t) {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			p := w.db.NewPooler(t, c.PoolerConfig)
			app := w.db.Open(t, store.Config{URL: p.URL(t, w.db.App) + c.parameters})
			node := w.db.Open(t, store.Config{URL: p.URL(t, w.db.Node) + c.parameters})
			w.serve(app, node)
			w.nothingLeft(p.URL(t, w.db.App), c.Size, c.Prepared > 0)
		})
	}
}

type poolerCase struct {
	storetest.PoolerConfig
	parameters string // of the URLs
}

// poolers are the ways in which a PgBouncer of this machine's version can work.
func poolers(t *testing.T) map[string]poolerCase {
	t.Helper()
	const prepared = "&default_query_exec_mode=cache_statement"
	cases := map[string]poolerCase{
		"Transactions": {storetest.PoolerConfig{Mode: "transaction", Size: 3}, ""},
		"Parameters":   {storetest.PoolerConfig{Mode: "transaction", Size: 3, Parameters: "statement_timeout,search_path"}, "&statement_timeout=4s&search_path=public"},
		"Sessions":     {storetest.PoolerConfig{Mode: "session", Size: 16}, prepared},
	}
	if _, version := storetest.FindPooler(t); version[0] > 1 || version[1] >= 21 {
		cases["Prepared"] = poolerCase{storetest.PoolerConfig{Mode: "transaction", Size: 3, Prepared: 200}, prepared}
	}
	return cases
}

// nothingLeft looks at each of the pooler's connections.
func (w *world) nothingLeft(url string, size int, prepared bool) {
	w.Helper()
	conf, err := pgx.ParseConfig(url)
	w.ok(err)
	conf.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	for range min(size, 3) { // each keeps one until all were looked at
		conn, err := pgx.ConnectConfig(w.Context(), conf)
		w.ok(err)
		defer conn.Close(w.Context()) //nolint:errcheck // only read from
		tx, err := conn.Begin(w.Context())
		w.ok(err)
		var tenant, seqscan, timeout string
		var locks, statements int
		w.ok(tx.QueryRow(w.Context(), `SELECT coalesce(current_setting('app.tenant_id', true), ''), current_setting('enable_seqscan'), current_setting('statement_timeout'),
			(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), (SELECT count(*) FROM pg_prepared_statements)`).
			Scan(&tenant, &seqscan, &timeout, &locks, &statements))
		if tenant != "" || seqscan != "on" || timeout != "10s" || locks != 0 || statements > 0 && !prepared {
			w.Errorf("left behind: tenant %q, enable_seqscan %s, statement_timeout %s, %d locks, %d statements", tenant, seqscan, timeout, locks, statements)
		}
	}
}

// However a URL has statements sent, they are.
func TestEveryWayOfSendingStatements(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			w := setup(t)
			parameter := "&default_query_exec_mode=" + mode
			w.serve(w.db.Open(t, store.Config{URL: w.db.App + parameter}), w.db.Open(t, store.Config{URL: w.db.Node + parameter}))
		})
	}
}

// The doorbell may be rung through a pooler; it is heard on a direct way.
func TestTheDoorbellThroughAPooler(t *testing.T) {
	w := setup(t)
	p := w.db.NewPooler(t, storetest.PoolerConfig{Mode: "transaction", Size: 3})
	e := listen(t, store.ListenerConfig{URL: w.db.Node})
	e.all(t)
	for range 3 { // of several servers, which share the pooler's connections
		bell := store.NewNotifier(store.NotifierConfig{URL: p.URL(t, w.db.App), Lost: func(err error) { t.Error(err) }})
		run(t, bell.Run)
		for range 3 {
			bell.Ring(w.key())
			if heard := e.next(t); heard.fleet != w.fleet {
				t.Error(heard)
			}
		}
	}
}

// A pooler would keep the migrations' lock for whoever comes next.
func TestMigrationsNeedADirectWay(t *testing.T) {
	w := setup(t)
	p := w.db.NewPooler(t, storetest.PoolerConfig{Mode: "transaction", Size: 3})
	_, err := store.Migrate(t.Context(), p.URL(t, w.db.App))
	w.is(err, fleet.ErrInvalid)
	if !strings.Contains(err.Error(), "direct way") {
		t.Error(err)
	}
	if n := w.count(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); n != 0 {
		t.Errorf("%d locks are left", n)
	}
}
