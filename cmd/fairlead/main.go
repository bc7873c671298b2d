// Command fairlead is the command line of Fairlead: it applies configuration, tells
// which node runs what, and with "fairlead dev" runs everything on one machine.
//
// It ends with 0 when all is well, 1 when something was refused or failed, 2 when it was
// called wrongly or without a confirmation that it needed, 3 when a node rejected a
// revision, 4 when a revision was not delivered in time, 130 when it was interrupted.
// "fairlead diff" ends with 0 when there is no difference, 1 when there is one, 2 when it
// could not be told; so does "fairlead import" by what it left out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"fairlead/cmd/internal/dev"
	"fairlead/cmd/internal/manual"
	servers "fairlead/cmd/internal/run"
)

// commands is the whole command line, in the order of the help.
type commands struct {
	Dev        dev.Command       `cmd:"" group:"Begin" help:"Run everything on this machine: database, API, xDS server and an Envoy."`
	Login      loginCommand      `cmd:"" group:"Begin" help:"Save where a fleet is, and with which token."`
	Context    contextCommand    `cmd:"" group:"Begin" help:"List what login saved, or choose one."`
	Bootstrap  bootstrapCommand  `cmd:"" group:"Begin" help:"Print the file that a proxy or a gRPC client starts with."`
	Completion completionCommand `cmd:"" group:"Begin" help:"Print what completes commands in a shell."`
	Version    versionCommand    `cmd:"" group:"Begin" help:"Tell what this program was built from."`

	Apply     applyCommand     `cmd:"" group:"Change" help:"Write resources from files as one revision."`
	Diff      diffCommand      `cmd:"" group:"Change" help:"Tell what an apply would change."`
	Delete    deleteCommand    `cmd:"" group:"Change" help:"Delete resources."`
	Edit      editCommand      `cmd:"" group:"Change" help:"Edit a resource in $EDITOR."`
	Endpoints endpointsCommand `cmd:"" group:"Change" help:"List, put and remove endpoints that are kept as data, or be one."`
	Discover  discoverCommand  `cmd:"" group:"Change" help:"Feed endpoints from a file, DNS or Kubernetes."`
	Secret    secretCommand    `cmd:"" group:"Change" help:"Write a secret from files: a certificate with its key, authorities, or any text."`
	Rollback  rollbackCommand  `cmd:"" group:"Change" help:"Create a new revision with the content of an old one."`
	Promote   promoteCommand   `cmd:"" group:"Change" help:"Apply one fleet's content on another."`

	Get      getCommand      `cmd:"" group:"Look" help:"Print resources, in the form that apply takes."`
	Describe describeCommand `cmd:"" group:"Look" help:"Tell everything about one resource."`
	Findings findingsCommand `cmd:"" group:"Look" help:"Tell what is wrong in the fleet as a whole."`
	History  historyCommand  `cmd:"" group:"Look" help:"List the revisions, or what became of a resource; show what a revision changed."`
	Audit    auditCommand    `cmd:"" group:"Look" help:"List what was done in the tenant, and by whom."`
	Doctor   doctorCommand   `cmd:"" group:"Look" help:"Look for usual faults on a node, on a server or from CI, and say what to do."`

	SupportBundle supportBundleCommand `cmd:"" group:"Look" help:"Write what somebody who helps asks for into one file, without secrets."`

	Receipt receiptCommand `cmd:"" group:"Deliver" help:"Tell which nodes run a revision."`
	Nodes   nodesCommand   `cmd:"" group:"Deliver" help:"List the nodes and what they run."`
	Load    loadCommand    `cmd:"" group:"Deliver" help:"List the requests of the last hour, as proxies report them."`
	Events  eventsCommand  `cmd:"" group:"Deliver" help:"List what nodes refused, what was done about it, and how it ended, or follow it."`
	Why     whyCommand     `cmd:"" group:"Deliver" help:"Tell why a node has a resource, or not."`
	Retry   retryCommand   `cmd:"" group:"Deliver" help:"Offer a node again what it refuses."`
	Sync    syncCommand    `cmd:"" group:"Deliver" help:"Keep what a node holds as files that an Envoy subscribes from."`

	Import   importCommand   `cmd:"" group:"In and out" help:"Read an Envoy's own configuration and write it as files that apply takes."`
	Export   exportCommand   `cmd:"" group:"In and out" help:"Write a fleet as files that apply takes back."`
	Validate validateCommand `cmd:"" group:"In and out" help:"Check files as the API would, without a server."`

	Tenant     tenantCommand     `cmd:"" group:"Manage" help:"List, create, delete and restore tenants."`
	Fleet      fleetCommand      `cmd:"" group:"Manage" help:"Show or change a fleet's settings; list, create, delete and restore fleets."`
	Token      tokenCommand      `cmd:"" group:"Manage" help:"List, create and revoke API tokens."`
	Credential credentialCommand `cmd:"" group:"Manage" help:"List, create and revoke the credentials of nodes."`
}

// shell is what a command has of the world around it. Tests give it another world.
type shell struct {
	in       io.Reader
	out, err io.Writer
	config   string                                       // the directory of the saved contexts; "": none are
	dir      string                                       // where .fairlead/ready.json is looked for; "" is the working directory
	edit     func(ctx context.Context, file string) error // lets a person edit a file
	now      func() time.Time
	pause    func(context.Context, time.Duration) error
	leave    func(code int) // ends the process while the input is read; nil: the reading goes on
	colours  bool           // what is printed is read on a terminal

	asks    bool // who can be asked reads and types on a terminal
	bar     bool // what is told of is watched on a terminal
	json    bool // JSON is asked for
	printed bool // some of it has been printed

	onLine map[string]bool // the flags that stand on the command line, by long name
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), servers.StopSignals()...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	sh := &shell{config: configDir(os.Getenv), edit: openEditor, in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now, pause: pause, leave: os.Exit, colours: takesColours(os.Stdout), bar: takesColours(os.Stderr), asks: isTerminal(os.Stdin) && isTerminal(os.Stderr)}
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
	sh.in, sh.out = interruptible{sh.in, func() (stop func() bool) { return sh.leaves(ctx) }}, noting{sh.out, &sh.printed}
	parser, err := newParser(
		kong.Name("fairlead"), kong.Description(whatItIs), kong.Help(printHelp), kong.Writers(sh.out, sh.err),
		kong.Exit(func(code int) { panic(earlyExit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Bind(sh), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(sh.out, (*io.Writer)(nil)))
	if err != nil {
		return sh.fail(ctx, err)
	}
	if len(args) > 0 && args[0] == "__complete" {
		complete(parser.Model, args[1:], sh.out)
		return exitOK
	}
	if asked, err := manual.Asked(args, parser.Model, manualPages()); asked {
		return sh.fail(ctx, err)
	}
	parsed, err := parser.Parse(helpArgs(args))
	if err != nil {
		sh.json = asksJSON(args)
		return sh.fail(ctx, usageError(wrongLine(err)))
	}
	sh.onLine = map[string]bool{}
	for _, p := range parsed.Path {
		if p.Flag != nil && !p.Resolved {
			sh.onLine[p.Flag.Name] = true
			sh.json = sh.json || p.Flag.Name == "json" || p.Flag.Name == "output" && parsed.FlagValue(p.Flag) == "json"
		}
	}
	return sh.fail(ctx, parsed.Run())
}

// newParser makes the parser of the command line. It writes the types of resources into the help, where "${types}" stands: kong
// itself would look for variables in each text of each command, for most of the time that a command takes to begin.
func newParser(options ...kong.Option) (*kong.Kong, error) {
	types, helps := typeList(), map[*kong.Value]string{}
	keep := func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
			if v, ok := n.(*kong.Value); ok {
				helps[v], v.Help = strings.ReplaceAll(v.Help, "${types}", types), ""
			}
			return next(nil)
		})
	}
	parser, err := kong.New(new(commands), append(options, kong.PostBuild(keep))...)
	for v, help := range helps {
		v.Help = help
	}
	return parser, err
}

// interruptible is an input that somebody may be typing, or not: the reading of a terminal cannot be called off, so whoever
// interrupts the command then leaves it.
type interruptible struct {
	io.Reader
	leaves func() (stop func() bool)
}

// Read reads, and is left where the command is interrupted meanwhile.
func (i interruptible) Read(p []byte) (int, error) {
	stop := i.leaves()
	defer stop()
	return i.Reader.Read(p)
}

// leaves ends the process at an interrupt, until stop is called.
func (sh *shell) leaves(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if sh.leave != nil {
			fmt.Fprintln(sh.err) // behind the question
			sh.leave(sh.fail(ctx, context.Canceled))
		}
	})
}

// asksJSON reports whether a command line that cannot be read asks for JSON.
func asksJSON(args []string) bool {
	for i, a := range args {
		switch a {
		case "--":
			return false
		case "--json", "-ojson", "--output=json":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == "json" {
				return true
			}
		}
	}
	return false
}

// wrongLine tells what is wrong with a command line, and where help is.
func wrongLine(err error) string {
	text, help := err.Error(), helpFor(err)
	if help == wholeHelp && strings.HasPrefix(text, "unknown flag") {
		text += " in front of a command: the flags of a command stand behind it"
	}
	if means := meant(text); means != "" {
		text += ", did you mean " + means + "?"
	}
	return text + "; " + help + " tells more"
}

// meant are commands for words of other tools, which nobody has misspelt: "kubectl logs" is not "fairlead login".
func meant(text string) string {
	word, unknown := strings.CutPrefix(text, "unexpected argument ")
	if !unknown {
		return ""
	}
	return map[string]string{
		"status": `"receipt" or "nodes"`, "rollout": `"receipt"`, "wait": `"receipt --wait"`, "list": `"get"`, "ls": `"get" or "list"`, "show": `"get" or "describe"`,
		"plan": `"diff"`, "create": `"apply"`, "remove": `"delete" or "rm"`, "destroy": `"delete"`, "undo": `"rollback"`, "revert": `"rollback"`, "top": `"load"`, "lint": `"validate"`,
	}[word]
}

// wholeHelp is the command line that prints the help of the whole.
const wholeHelp = "fairlead --help"

// helpFor is the command whose help answers a wrong command line.
func helpFor(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if c := wrong.Context.Selected(); c != nil {
			return c.FullPath() + " --help"
		}
	}
	return wholeHelp
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
