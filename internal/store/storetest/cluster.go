package storetest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/localpg"
	"fairlead/internal/store"
	"fairlead/migrations"
)

// startTimeout covers a first fetch of Postgres.
const startTimeout = 5 * time.Minute

// cluster is the process's Postgres, started by the first test that asks.
var cluster struct {
	mu     sync.Mutex // guards what follows; also lets one clone be made at a time, which is faster than several
	server server
	err    error
	admin  *pgx.Conn // makes the clones
	clones int
}

// server is a running Postgres.
type server interface {
	URL(db, role string) string
	Stop(ctx context.Context) error
}

// runner is what goleak.VerifyTestMain and os.Exit want of a testing.M.
type runner struct{ m interface{ Run() int } }

// Main wraps the m of TestMain, so that the process's Postgres is gone after the tests:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Main(m)) }
//
// Without it the cluster ends with the process.
func Main(m interface{ Run() int }) interface{ Run() int } { return runner{m} }

func (r runner) Run() int {
	code := r.m.Run()
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	if cluster.admin != nil {
		_ = cluster.admin.Close(context.Background())
	}
	if cluster.server != nil {
		if err := cluster.server.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "stop the tests' Postgres:", err)
			return max(code, 1)
		}
	}
	return code
}

func serverLocked(ctx context.Context) (server, error) {
	if cluster.server != nil || cluster.err != nil {
		return cluster.server, cluster.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout)
	defer cancel()
	cluster.server, cluster.err = startAny(ctx)
	return cluster.server, cluster.err
}

// startAny starts a Postgres of this machine, or else one in Docker.
func startAny(ctx context.Context) (server, error) {
	s, err := start(ctx, localpg.Config{})
	if s != nil {
		return s, err
	}
	c, noDocker := startContainer(ctx)
	if c == nil {
		return nil, fmt.Errorf("%w; nor is there Docker: %w", err, noDocker)
	}
	if noDocker == nil {
		noDocker = prepare(ctx, c)
	}
	if noDocker == nil {
		noDocker = c.admit(ctx)
	}
	return c, noDocker
}

// start starts one whose DataDir, Settings and Env are c's.
func start(ctx context.Context, c localpg.Config) (*localpg.Server, error) {
	bin, err := localpg.Find(ctx, localpg.FindConfig{Fetch: true})
	if err != nil {
		return nil, err
	}
	// synchronous_commit stays on, as the store demands; without fsync it costs nothing.
	settings := map[string]string{"synchronous_commit": "on"}
	maps.Copy(settings, c.Settings)
	s, err := localpg.Start(ctx, localpg.Config{Bin: bin, DataDir: c.DataDir, Ephemeral: true, MaxConnections: 400, Settings: settings, Env: c.Env})
	if err != nil {
		return nil, err
	}
	return s, prepare(ctx, s)
}

// prepare makes the template.
func prepare(ctx context.Context, s server) error {
	if err := admin(ctx, s, "CREATE DATABASE "+template()); err != nil {
		return err
	}
	_, err := store.Migrate(ctx, s.URL(template(), localpg.Superuser))
	return err
}

// template is named after its content, so that a cluster that outlives a change of the
// schema does not serve an old one.
func template() string { return "fairlead_" + migrations.Hash() }

// clone makes a database from the template.
func clone(ctx context.Context, from string) (server, string, error) {
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	s, err := serverLocked(ctx)
	if err != nil {
		return nil, "", err
	}
	if cluster.admin == nil || cluster.admin.IsClosed() { // a test that ends while its clone is made closes it
		if cluster.admin, err = pgx.Connect(ctx, s.URL("postgres", localpg.Superuser)); err != nil {
			return nil, "", err
		}
	}
	cluster.clones++
	name := fmt.Sprintf("test_%d", cluster.clones)
	create := "CREATE DATABASE " + name
	if from != "" {
		create += " TEMPLATE " + from + " STRATEGY file_copy"
	}
	_, err = cluster.admin.Exec(ctx, create)
	return s, name, err
}

func admin(ctx context.Context, s server, sql string) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres", localpg.Superuser))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement's error is the one that counts
	_, err = conn.Exec(ctx, sql)
	return err
}
