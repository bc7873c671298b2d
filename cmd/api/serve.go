package main

import (
	"context"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
)

type serveCommand struct {
	Listen       string `name:"listen" env:"FAIRLEAD_LISTEN" default:"127.0.0.1:8080" help:"Address of the API and the page."`
	HealthListen string `name:"health-listen" env:"FAIRLEAD_API_HEALTH_LISTEN" placeholder:"HOST:PORT" help:"Address of /healthz, /readyz and /metrics: plain HTTP, without a token. None by default."`
	run.APIConfig
	run.TLS
	run.Series
	run.Traces
	run.Debug
	run.Log
}

// Run serves until ctx ends. The port is opened first: one that is taken is told at once,
// and health checks are answered while the database is waited for.
func (c *serveCommand) Run(ctx context.Context) error {
	log, level := c.Log.Open(os.Stderr)
	registry, err := c.Series.Open(metrics.API, c.CellsFile.File != "", log)
	if err != nil {
		return err
	}
	c.APIConfig.Metrics = registry
	tracer, tracing, err := c.Traces.Open(ctx, "fairlead-api", registry, log)
	if err != nil {
		return err
	}
	c.APIConfig.Traces = tracer
	cert, err := c.TLS.Open(c.Listen, log)
	if err != nil {
		return err
	}
	conf := cert.Config()
	if cert != nil {
		registry.Certificate.Watch(cert.Ends)
	}
	lis, err := run.Listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer lis.Close() //nolint:errcheck // the server has closed it already, but for an early return
	health, address, err := c.health()
	if err != nil {
		return err
	}
	if health != nil {
		defer health.Close() //nolint:errcheck // as above
	}
	profiles, err := c.Debug.Open()
	if err != nil {
		return err
	}
	log.Info("the port is open", "version", run.Version(), "address", lis.Addr().String(), "health_address", address, "tls", conf != nil)
	// Liveness and metrics are there while the database is still waited for.
	waits := &run.Waits{}
	c.APIConfig.Waits = waits
	var server atomic.Pointer[run.API]
	ready := func(ctx context.Context) error {
		if a := server.Load(); a != nil {
			return a.Ready(ctx)
		}
		return waits
	}
	components := slices.Concat([]lifecycle.Component{level}, tracing, profiles, cert.Components())
	if health != nil {
		components = append(components, run.Health(health, log, registry, ready))
	}
	return lifecycle.Run(ctx, append(components, lifecycle.Component{
		Name: "serve", StopTimeout: time.Minute,
		Run: func(ctx context.Context) error {
			var api *run.API
			err := run.Meanwhile(ctx, lis, conf, waits, log, func(ctx context.Context) (err error) {
				api, err = run.NewAPI(ctx, c.APIConfig, log)
				return err
			})
			if api != nil {
				defer api.Close()
			}
			if err != nil {
				return err
			}
			server.Store(api)
			log.Info("serving the API", "address", lis.Addr().String(), "tls", conf != nil)
			return lifecycle.Run(ctx, api.Components(lis, conf)...)
		},
	})...)
}

// health opens the port of --health-listen; nil where there is to be none.
func (c *serveCommand) health() (lis net.Listener, address string, err error) {
	if c.HealthListen == "" {
		return nil, "", nil
	}
	if lis, err = run.Listen(c.HealthListen, "--health-listen"); err != nil {
		return nil, "", err
	}
	return lis, lis.Addr().String(), nil
}
