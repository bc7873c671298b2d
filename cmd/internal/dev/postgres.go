package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
	"fairlead/internal/localpg"
	"fairlead/internal/store"
)

const database = "fairlead"

// postgres is the private one of this start.
type postgres struct{ server *localpg.Server }

func startPostgres(ctx context.Context, c Command, out *console, log io.Writer) (*postgres, error) {
	bin, err := localpg.Find(ctx, localpg.FindConfig{Fetch: !c.NoFetch, Progress: out.progress})
	if err != nil {
		return nil, err
	}
	server, err := localpg.Start(ctx, localpg.Config{Bin: bin, DataDir: filepath.Join(c.Data, "postgres"), Log: log, Event: out.progress})
	if err != nil {
		return nil, err
	}
	p := &postgres{server}
	if err := p.prepare(ctx, c.Data); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// prepare makes the database, if it is not there, and brings it to the newest schema. data
// is the folder that it is in.
func (p *postgres) prepare(ctx context.Context, data string) error {
	conn, err := pgx.Connect(ctx, p.server.URL("postgres", localpg.Superuser))
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to do on it
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&there); err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	if !there {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize()); err != nil {
			return fmt.Errorf("make the database: %w", err)
		}
	}
	_, err = store.Migrate(ctx, p.url(localpg.Superuser))
	if errors.Is(err, fleet.ErrConflict) {
		return fmt.Errorf("%w: remove the folder %s and start again; what is in it is lost", err, data)
	}
	return err
}

func (p *postgres) url(role string) string { return p.server.URL(database, role) }

func (p *postgres) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	_ = p.server.Stop(ctx) // a second call; the first one's error was reported
}
