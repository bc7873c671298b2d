// Command fairlead is the command line of Fairlead: it applies configuration, tells
// which node runs what, and with "fairlead dev" runs everything on one machine.
//
// It ends with 0 when all is well, 1 when something was refused or failed, 2 when it was
// called wrongly, 3 when a node rejected a revision, 4 when a revision was not delivered
// in time. "fairlead diff" ends with 0 when there is no difference, 1 when there is one, 2
// when it could not be told.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"fairlead/cmd/internal/dev"
)

// commands is the whole command line, in the order of the help.
type commands struct {
	Dev dev.Command `cmd:"" help:"Run everything on this machine: database, API, xDS server and an Envoy."`

	Bootstrap bootstrapCommand `cmd:"" help:"Print the file that a proxy or a gRPC client starts with."`

	Apply     applyCommand     `cmd:"" help:"Write resources from files as one revision."`
	Diff      diffCommand      `cmd:"" help:"Tell what an apply would change."`
	Get       getCommand       `cmd:"" help:"Print resources as YAML, in the form that apply takes."`
	Delete    deleteCommand    `cmd:"" help:"Delete one resource."`
	Receipt   receiptCommand   `cmd:"" help:"Tell which nodes run a revision."`
	Nodes     nodesCommand     `cmd:"" help:"List the nodes and what they run."`
	Why       whyCommand       `cmd:"" help:"Tell why a node has a resource, or not."`
	Events    eventsCommand    `cmd:"" help:"List what nodes refused, what was done about it, and how it ended, or follow it."`
	Findings  findingsCommand  `cmd:"" help:"Tell what is wrong in the fleet as a whole."`
	Retry     retryCommand     `cmd:"" help:"Offer a node again what it refuses."`
	Fleet     fleetCommand     `cmd:"" help:"Show the fleet's settings, or change them."`
	Revisions revisionsCommand `cmd:"" help:"List the revisions, newest first."`
	Rollback  rollbackCommand  `cmd:"" help:"Make a new revision with the content of an old one."`
}

const description = `Fairlead keeps Envoy configuration and delivers it to fleets of proxies.

Exit status: 0 all is well, 1 refused or failed, 2 called wrongly, 3 rejected by a node, 4 not delivered in time; of diff 0 no difference, 1 some, 2 trouble.`

// shell is what a command has of the world around it. Tests give it another world.
type shell struct {
	in       io.Reader
	out, err io.Writer
	dir      string // where .fairlead/ready.json is looked for; "" is the working directory
	now      func() time.Time
	pause    func(context.Context, time.Duration) error
	colours  bool // what is printed is read on a terminal

	onLine map[string]bool // the flags that stand on the command line, by long name
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	sh := &shell{in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now, pause: pause, colours: takesColours(os.Stdout)}
	code := run(ctx, sh, os.Args[1:])
	stop()
	os.Exit(code)
}

// earlyExit carries the exit status of --help out of the parser.
type earlyExit int

// run runs one command line and returns its exit status.
func run(ctx context.Context, sh *shell, args []string) (code int) {
	defer func() { //nolint:revive // kong leaves by Exit, and only a recover brings that back to run
		switch p := recover().(type) {
		case nil:
		case earlyExit:
			code = int(p)
		default:
			panic(p)
		}
	}()
	parser, err := kong.New(new(commands),
		kong.Name("fairlead"), kong.Description(description), kong.Writers(sh.out, sh.err),
		kong.Vars{"types": typeList()},
		kong.Exit(func(code int) { panic(earlyExit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Bind(sh), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(sh.out, (*io.Writer)(nil)))
	if err != nil {
		return sh.fail(ctx, err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return sh.fail(ctx, usageError(fmt.Sprintf("%v; %s tells more", err, helpFor(err))))
	}
	sh.onLine = map[string]bool{}
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved {
			sh.onLine[p.Flag.Name] = true
		}
	}
	return sh.fail(ctx, parsed.Run())
}

// helpFor is the command whose help answers a wrong command line.
func helpFor(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if c := wrong.Context.Selected(); c != nil {
			return "fairlead " + c.Name + " --help"
		}
	}
	return "fairlead --help"
}

// pause waits, or returns the context's error if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
