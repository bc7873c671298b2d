// Command api is Fairlead's REST API server.
package main

import (
	"fmt"
	"os"

	"fairlead/cmd/internal/run"
	"fairlead/internal/fleet"
)

type commands struct {
	Serve          serveCommand          `cmd:"" default:"withargs" help:"Serve the API."`
	Migrate        migrateCommand        `cmd:"" help:"Bring the database to the newest schema."`
	MoveTenant     moveTenantCommand     `cmd:"" help:"Have another cell's database serve a tenant."`
	BootstrapToken bootstrapTokenCommand `cmd:"" help:"Make the installation's first operator token, once."`
	Keys           keysCommand           `cmd:"" help:"Make the keys that keep Secrets sealed."`
	Certs          certsCommand          `cmd:"" help:"Sign certificates for the servers, with an authority of the installation's own."`

	run.VersionFlag
}

func main() {
	ctx, stop := run.Signals()
	defer stop()
	var c commands
	k := run.Parse(ctx, &c, "api", "Fairlead's REST API server.")
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "api:", fleet.Sentence(err))
		stop()
		os.Exit(1)
	}
}
