package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"fairlead/internal/fleet"
)

// execMode is the parameter of a URL that says how statements are sent.
const execMode = "default_query_exec_mode"

// parseURLOf reads a database URL, and has choose say which of the hosts is wanted. What pgx says of a bad one may quote a password.
func parseURLOf(url string, p patience, choose func(*pgconn.Config)) (*pgxpool.Config, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL cannot be read", fleet.ErrInvalid)
	}
	choose(&conf.ConnConfig.Config)
	shareTime(&conf.ConnConfig.Config, p)
	switch conf.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		// Both guess Postgres's types from Go's, which are not enough here. Who asks for them
		// wants no prepared statements.
		conf.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return conf, nil
}

// writable has connections go to the host that takes writes, where the URL names several
// and does not say which it wants.
func writable(conf *pgconn.Config) {
	several := slices.ContainsFunc(conf.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != conf.Host || f.Port != conf.Port // else the same one with or without TLS
	})
	if several && conf.ValidateConnect == nil {
		conf.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
}

// standing has connections go to a host that is a standby, if there is one and the URL does not say which it wants.
func standing(conf *pgconn.Config) {
	if conf.ValidateConnect == nil {
		conf.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPreferStandby
	}
}

// shareTime gives each way to a host that the URL names its part of writeTimeout, unless the
// URL says how long: a host that does not answer leaves enough for the others.
func shareTime(conf *pgconn.Config, p patience) {
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = p.of(writeTimeout) / time.Duration(1+len(conf.Fallbacks))
	}
}

// pooled reports whether something answers in Postgres's place that hands a session's
// statements to several backends: it gave another process id than the backend's.
func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var pid uint32
	err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid != conn.PgConn().PID(), err
}

// unprepared makes statements go without a name, each with its parameters in one message:
// a prepared one would be looked for on another backend than it was made on. A URL that
// asks for prepared statements gets them, for poolers that follow them.
func unprepared(conf *pgx.ConnConfig, url string) {
	if conf.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement && !strings.Contains(url, execMode) {
		conf.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
}
