package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/filelock"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/traces"
)

// Command is `fairlead dev` and its flags.
type Command struct {
	Data      string     `name:"data" type:"path" default:".fairlead" help:"Folder that keeps everything; a second start finds it."`
	ReadyFile string     `name:"ready-file" type:"path" placeholder:"FILE" help:"JSON file that is written when all is up; ready.json in the data folder by default."`
	NoEnvoy   bool       `name:"no-envoy" help:"Start no Envoy."`
	NoDemo    bool       `name:"no-demo" help:"Leave the tenant and the fleet empty."`
	HTTP      string     `name:"http" default:"127.0.0.1:8080" help:"Address of the API and the page."`
	XDS       string     `name:"xds" default:"127.0.0.1:18000" help:"Address for xDS clients: plaintext, with a token."`
	OpenXDS   string     `name:"open-xds" placeholder:"ADDR" help:"A second xDS address without a token, for gRPC clients that cannot send one in the clear. Loopback only; off by default."`
	Health    string     `name:"health" default:"127.0.0.1:0" help:"Address of /healthz, /readyz and /metrics; any free port by default, which the ready file names."`
	Proxy     string     `name:"proxy" default:"127.0.0.1:10000" help:"Address on which the demo's listener routes."`
	NoFetch   bool       `name:"no-fetch" help:"Download nothing: fail if Postgres is not on this machine, and go on without Envoy if that is not."`
	LogLevel  slog.Level `name:"log-level" default:"info" help:"Of the log file: debug, info, warn or error."`

	run.StreamSeries
	run.Traces
	run.Debug
}

// started is what one start holds.
type started struct {
	cmd   Command
	out   *console
	log   *slog.Logger
	since time.Time
	ports ports
	state *state
	pg    *postgres
	api   *run.API
	xds   *run.XDS

	registry    *metrics.Registry
	tracer      *traces.Tracer
	tracing     []lifecycle.Component
	adminSocket string // of Envoy
}

// Run starts everything, prints how to use it, and runs until ctx ends or a part of it
// fails; then everything is stopped, children included.
func (c Command) Run(ctx context.Context, out io.Writer) (err error) {
	s := &started{cmd: c, out: newConsole(out), since: time.Now()}
	if err := os.MkdirAll(c.Data, 0o755); err != nil { //nolint:gosec // Postgres may run as another user, and must get through
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := filelock.TryAcquire(filepath.Join(c.Data, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("another fairlead dev uses %s: stop that one, or give this one a folder of its own with --data", c.Data)
	}
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	defer lock.Release()
	logFile, err := os.OpenFile(filepath.Join(c.Data, "fairlead.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer func() { err = errors.Join(err, logFile.Close()) }()
	s.log = slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: c.LogLevel}))
	if s.registry, err = c.StreamSeries.Open(metrics.Dev, false, s.log); err != nil {
		return err
	}
	if s.tracer, s.tracing, err = c.Traces.Open(ctx, "fairlead-dev", s.registry, s.log); err != nil {
		return err
	}
	if s.ports, err = openPorts(c); err != nil {
		return err
	}
	defer s.ports.close()
	if s.state, err = loadState(filepath.Join(c.Data, "state.json")); err != nil {
		return err
	}
	return s.run(ctx, logFile)
}

// run starts Postgres, migrates, and runs the servers with what stands on them.
func (s *started) run(ctx context.Context, logFile io.Writer) (err error) {
	if s.pg, err = startPostgres(ctx, s.cmd, s.out, logFile); err != nil {
		return err
	}
	defer s.pg.stop()
	if err := s.openServers(ctx); err != nil {
		return err
	}
	defer s.api.Close()
	defer s.xds.Close()
	components, err := s.cmd.Debug.Open()
	if err != nil {
		return err
	}
	components = append(s.tracing, components...)
	components = append(components, lifecycle.Component{Name: "postgres", Run: s.pg.server.Run, StopTimeout: 35 * time.Second})
	components = append(components, run.Health(s.ports.health, s.log, s.registry, s.serves))
	components = append(components, s.api.Components(s.ports.http, nil)...)
	components = append(components, s.xds.Components(run.Port{Listener: s.ports.xds})...)
	components = append(components, lifecycle.Component{Name: "demo", Run: s.demo, StopTimeout: 40 * time.Second})
	err = lifecycle.Run(ctx, components...)
	if ctx.Err() != nil && err == nil {
		s.out.say("Stopped. The data stays in %s.", s.cmd.Data)
	}
	return err
}

// serves tells why the servers are not ready.
func (s *started) serves(ctx context.Context) error {
	return errors.Join(s.api.Ready(ctx), s.xds.Ready(ctx))
}

func (s *started) openServers(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	keys, err := ensureKeys(filepath.Join(s.cmd.Data, "keys"))
	if err != nil {
		return err
	}
	s.api, err = run.NewAPI(ctx, run.APIConfig{DatabaseURL: s.pg.url("fairlead_app"), SealPublicKey: keys.public, VersionKey: keys.version, Metrics: s.registry, Traces: s.tracer}, s.log)
	if err != nil {
		return err
	}
	s.xds, err = run.NewXDS(ctx, run.XDSConfig{
		DatabaseURL: s.pg.url("fairlead_node"), Wakeup: "notify", Poll: 2 * time.Second, SealPrivateKey: keys.private, Name: "dev", Metrics: s.registry, Traces: s.tracer,
	}, s.log)
	if err != nil {
		s.api.Close()
	}
	return err
}
