package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	client "fairlead/clients/go"
)

// diffCommand is "fairlead diff".
type diffCommand struct {
	Files      files      `embed:""`
	Connection connection `embed:""`

	Pruning pruning `embed:""`

	ExpectedRevision *int64 `placeholder:"N" help:"Fail unless the fleet is at this revision."`
	Force            bool   `help:"As the --force of apply: pass over the revisions of files that get made."`
	JSON             bool   `name:"json" help:"Print the API's JSON."`
}

// Help is printed with the command's own help.
func (*diffCommand) Help() string {
	return `It asks the API what "fairlead apply" with the same files would do, and writes nothing. The last line is the plan's token: "fairlead apply --plan TOKEN" with the same files applies what was shown, or nothing.

Exit status: 0 there is no difference, 1 there is one, 2 it could not be told.`
}

// Run prints the difference.
func (c *diffCommand) Run(ctx context.Context, sh *shell) error {
	p, err := c.plan(ctx, sh)
	if err != nil {
		return &trouble{err}
	}
	if p.differs() {
		return verdict(exitDiffers)
	}
	return nil
}

func (c *diffCommand) plan(ctx context.Context, sh *shell) (plan, error) {
	s, err := c.Connection.open(sh)
	if err != nil {
		return plan{}, err
	}
	b, err := c.Files.read(sh)
	if err != nil {
		return plan{}, err
	}
	m := members{expected: c.ExpectedRevision, force: c.Force}
	if err := c.Pruning.into(ctx, s, b, &m); err != nil {
		return plan{}, err
	}
	parts, err := b.parts()
	if err != nil {
		return plan{}, err
	}
	return s.tellPlans(ctx, parts, m, c.JSON)
}

// trouble is what keeps a difference from being told.
type trouble struct{ err error }

func (e *trouble) Error() string { return e.err.Error() }

func (e *trouble) Unwrap() error { return e.err }

// plan is what the API answered.
type plan struct{ client.Plan }

func (p plan) differs() bool { return p.Counts.Create+p.Counts.Update+p.Counts.Delete > 0 }

// tellPlan asks what an apply would do, after what is earlier, and prints it, without its token.
func (s *session) tellPlan(ctx context.Context, b *bundle, m members, before *earlier, asJSON bool) (p plan, err error) {
	body, err := b.body(m)
	if err != nil {
		return p, err
	}
	resp, err := s.api.PlanWithBody(ctx, s.tenant, s.fleet, before.asks(), "application/json", bytes.NewReader(body)) //nolint:bodyclose // tellPlanned closes it
	p, err = s.tellPlanned(resp, err, before, b.place, "nothing was named", asJSON)
	return p, placed(err, b)
}

// tellPlanned prints what the API answered of a plan, without its token; none is what it says of one of nothing.
func (s *session) tellPlanned(resp *http.Response, err error, before *earlier, place places, none string, asJSON bool) (p plan, _ error) {
	out, raw, err := answer[client.Plan](s, resp, err)
	if err != nil {
		return p, err
	}
	before.settle(out.Findings)
	d := s.tellDoubts(out.Warnings, out.Findings, place)
	s.tellReasons(out.Confirm)
	p = plan{out}
	if asJSON {
		return p, s.printJSON(raw)
	}
	for _, r := range p.Resources {
		s.printDiff(r)
	}
	fmt.Fprintf(s.out, "%s, on revision %d%s\n", p.counts(none), p.Revision, d.after())
	if p.differs() {
		s.tellReach(p.Plan)
		s.tellRoom(p.Plan)
	}
	return p, nil
}

// placed makes a problem tell the places in the files.
func placed(err error, b *bundle) error {
	var p *problem
	if errors.As(err, &p) {
		p.place = b.place
	}
	return err
}

func (p plan) counts(none string) string {
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{p.Counts.Create, "to create"}, {p.Counts.Update, "to update"}, {p.Counts.Delete, "to delete"}, {p.Counts.Unchanged, "unchanged"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, ", ")
}

// printDiff prints the difference of one resource, in colours on a terminal.
func (s *session) printDiff(r client.PlannedResource) {
	for line := range strings.Lines(deref(r.Diff)) {
		s.printLine(plainLine(strings.TrimSuffix(line, "\n")))
	}
	name := plain(string(r.Type) + "/" + r.Name)
	if r.Variant != nil {
		name += ", variant " + plain(*r.Variant)
	}
	switch {
	case r.Omitted != nil && *r.Omitted:
		s.printLine(fmt.Sprintf("# %s: %s; the difference is too large to be shown beside the others", name, plain(string(r.Action))))
	case r.Hidden != nil && *r.Hidden:
		s.printLine(fmt.Sprintf("# %s: there may be more than what is shown", name))
	}
}

func (s *session) printLine(line string) {
	colour := ""
	switch {
	case !s.colours:
	case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "#"):
		colour = "\x1b[1m" // bold
	case strings.HasPrefix(line, "-"):
		colour = "\x1b[31m" // red
	case strings.HasPrefix(line, "+"):
		colour = "\x1b[32m" // green
	case strings.HasPrefix(line, "@@"):
		colour = "\x1b[36m" // cyan
	}
	if colour != "" {
		line = colour + line + "\x1b[0m"
	}
	fmt.Fprintln(s.out, line)
}

// takesColours reports whether what is written to f is read on a terminal by somebody who
// did not ask for none (no-color.org).
func takesColours(f *os.File) bool {
	return isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
