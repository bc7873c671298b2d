package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"fairlead/cmd/internal/manual"
	servers "fairlead/cmd/internal/run"
)

// groups are the command line's parts, in the order of the help.
var groups = []string{"Begin", "Change", "Look", "Deliver", "In and out", "Manage"}

// What the help and the man page say.
const (
	whatItIs      = "Fairlead keeps Envoy configuration and delivers it to fleets of proxies."
	whereAFleetIs = `"fairlead help COMMAND" tells more of one. Where a fleet is: --server, --token,
--tenant and --fleet, or FAIRLEAD_URL, FAIRLEAD_TOKEN, FAIRLEAD_TENANT and
FAIRLEAD_FLEET, or what "fairlead login" saved.`
	exitStatuses = `0 all is well, 1 refused or failed, 2 called wrongly, 3 rejected by
a node, 4 not delivered in time, 130 interrupted; of diff and import 0 no
difference or nothing left out, 1 some, 2 trouble.`
)

// manualPages is what the man pages say beside the commands.
func manualPages() manual.Config {
	return manual.Config{
		Section: 1, Version: builtNow().version, See: []string{"fairlead-api(8)", "fairlead-xds(8)"},
		More: []manual.Part{{Title: "Where a fleet is", Text: whereAFleetIs}, {Title: "Exit status", Text: exitStatuses}},
	}
}

// printHelp prints the help of a command by kong, and of the whole so that it fits a screen
// of 80 x 24.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() != nil {
		return kong.DefaultHelpPrinter(options, ctx)
	}
	var b strings.Builder
	b.WriteString(whatItIs + "\n\n")
	for _, g := range groups {
		var names []string
		for _, n := range ctx.Model.Children {
			if n.Group != nil && n.Group.Key == g && !n.Hidden {
				names = append(names, n.Name)
			}
		}
		b.WriteString(wrapped(g, names))
	}
	b.WriteString("\n" + whereAFleetIs + "\n\nExit status: " + exitStatuses + "\n")
	_, err := fmt.Fprint(ctx.Stdout, b.String())
	return err
}

const helpWidth = 80

// wrapped writes a title and words beside it, on lines below helpWidth.
func wrapped(title string, words []string) string {
	line := fmt.Sprintf("  %-11s", title)
	indent := strings.Repeat(" ", len(line))
	var b strings.Builder
	for _, w := range words {
		if len(line)+1+len(w) >= helpWidth {
			b.WriteString(line + "\n")
			line = indent
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}

// helpArgs turns "help", "help COMMAND" and no command at all into what kong knows.
func helpArgs(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

// versionCommand is "fairlead version".
type versionCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints what this program was built from.
func (c *versionCommand) Run(sh *shell) error {
	v := builtNow()
	if c.JSON {
		return (&session{shell: sh}).printJSON(fmt.Appendf(nil, `{"version": %q, "commit": %q, "go": %q}`, v.version, v.commit, v.golang))
	}
	fmt.Fprintf(sh.out, "fairlead %s, commit %s, %s\n", v.version, v.commit, v.golang)
	return nil
}

type buildWords struct{ version, commit, golang string }

// builtNow is of this program.
func builtNow() buildWords {
	info, ok := debug.ReadBuildInfo()
	return built(servers.Release(), info, ok)
}

// built is what is known: release is "" where the program was not released.
func built(release string, info *debug.BuildInfo, ok bool) buildWords {
	w := buildWords{cmp.Or(release, "unknown"), "unknown", "unknown"}
	if !ok {
		return w
	}
	if v := info.Main.Version; release == "" && v != "" && v != "(devel)" {
		w.version = v
	}
	w.golang = info.GoVersion
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			w.commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			w.commit += " with changes"
		}
	}
	return w
}
