// Command xds is Fairlead's xDS server.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
)

type command struct {
	Listen       string `name:"listen" env:"FAIRLEAD_LISTEN" default:"127.0.0.1:18000" help:"Address for xDS clients."`
	RESTListen   string `name:"rest-listen" env:"FAIRLEAD_REST_LISTEN" placeholder:"ADDR" help:"One more address, for polls over REST alone. They are answered on --listen too."`
	HealthListen string `name:"health-listen" env:"FAIRLEAD_HEALTH_LISTEN" default:"127.0.0.1:18001" help:"Address of /healthz, /readyz and /metrics: plain HTTP, without a token."`
	run.XDSConfig
	run.TLS
	run.StreamSeries
	run.Traces
	run.Debug
	run.Log
	run.VersionFlag
}

func main() {
	ctx, stop := run.Signals()
	defer stop()
	var c command
	k := run.Parse(ctx, &c, "xds", "Fairlead's xDS server.")
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "xds:", fleet.Sentence(err))
		stop()
		os.Exit(1)
	}
}

// Run serves until ctx ends.
func (c *command) Run(ctx context.Context) error {
	log, level := c.Log.Open(os.Stderr)
	registry, err := c.StreamSeries.Open(metrics.XDS, c.CellsFile.File != "", log)
	if err != nil {
		return err
	}
	c.XDSConfig.Metrics = registry
	tracer, tracing, err := c.Traces.Open(ctx, "fairlead-xds", registry, log)
	if err != nil {
		return err
	}
	c.XDSConfig.Traces = tracer
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
	ports := []run.Port{{Listener: lis, TLS: conf}}
	if c.RESTListen != "" {
		if _, err := c.TLS.Open(c.RESTListen, log); err != nil {
			return err
		}
		rest, err := run.Listen(c.RESTListen, "--rest-listen")
		if err != nil {
			return err
		}
		defer rest.Close() //nolint:errcheck // as above
		log.Info("the port of REST is open", "address", rest.Addr().String())
		ports = append(ports, run.Port{Listener: rest, TLS: conf, RESTOnly: true})
	}
	health, err := run.Listen(c.HealthListen, "--health-listen")
	if err != nil {
		return err
	}
	defer health.Close() //nolint:errcheck // as above
	profiles, err := c.Debug.Open()
	if err != nil {
		return err
	}
	log.Info("the ports are open", "version", run.Version(), "address", lis.Addr().String(), "health_address", health.Addr().String(), "tls", conf != nil)
	// Liveness is answered while the database is still waited for.
	waits := &run.Waits{}
	c.XDSConfig.Waits = waits
	var server atomic.Pointer[run.XDS]
	ready := func(ctx context.Context) error {
		if s := server.Load(); s != nil {
			return s.Ready(ctx)
		}
		return waits
	}
	return lifecycle.Run(ctx, append(slices.Concat([]lifecycle.Component{level}, tracing, profiles, cert.Components()), run.Health(health, log, registry, ready), lifecycle.Component{
		Name: "xds", StopTimeout: c.Drain + 30*time.Second,
		Run: func(ctx context.Context) error {
			s, err := run.NewXDS(ctx, c.XDSConfig, log)
			if err != nil {
				return err
			}
			defer s.Close()
			server.Store(s)
			log.Info("serving xDS", "address", lis.Addr().String(), "tls", conf != nil)
			return lifecycle.Run(ctx, s.Components(ports...)...)
		},
	})...)
}
