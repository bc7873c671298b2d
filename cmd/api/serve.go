package main

import (
	"context"
	"os"
	"slices"

	"fairlead/cmd/internal/run"
	"fairlead/internal/lifecycle"
)

type serveCommand struct {
	Listen string `name:"listen" env:"FAIRLEAD_LISTEN" default:"127.0.0.1:8080" help:"Address of the API and the page."`
	run.APIConfig
	run.TLS
	run.Debug
	run.Log
}

// Run serves until ctx ends. The port is opened first: one that is taken is told at once,
// and health checks are answered while the database is waited for.
func (c *serveCommand) Run(ctx context.Context) error {
	log := c.Logger(os.Stderr)
	cert, err := c.TLS.Open(c.Listen, log)
	if err != nil {
		return err
	}
	conf := cert.Config()
	lis, err := run.Listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer lis.Close() //nolint:errcheck // the server has closed it already, but for an early return
	profiles, err := c.Debug.Open()
	if err != nil {
		return err
	}
	log.Info("the port is open", "address", lis.Addr().String(), "tls", conf != nil)
	var api *run.API
	err = run.Meanwhile(ctx, lis, conf, log, func(ctx context.Context) (err error) {
		api, err = run.NewAPI(ctx, c.APIConfig, log)
		return err
	})
	if api != nil {
		defer api.Close()
	}
	if err != nil {
		return err
	}
	log.Info("serving the API", "address", lis.Addr().String(), "tls", conf != nil)
	return lifecycle.Run(ctx, slices.Concat(profiles, cert.Components(), api.Components(lis, conf))...)
}
