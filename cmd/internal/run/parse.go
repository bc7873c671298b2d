package run

import (
	"context"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"fairlead/cmd/internal/manual"
)

// Parse reads the command line of a server into a struct, warns of secrets on it, and ends the process where it is wrong, or where
// man pages were asked for.
func Parse(ctx context.Context, into any, name, description string) *kong.Context {
	k := kong.Must(into, kong.Name(name), kong.Description(description), kong.BindTo(ctx, (*context.Context)(nil)), kong.UsageOnError())
	asked, err := manual.Asked(os.Args[1:], k.Model, manual.Config{Name: "fairlead-" + name, Section: 8, Version: Version(), See: []string{"fairlead(1)"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		k.Exit(1)
	}
	if asked {
		k.Exit(0)
	}
	parsed, err := k.Parse(os.Args[1:])
	k.FatalIfErrorf(err)
	WarnOfSecrets(os.Stderr, parsed)
	return parsed
}
