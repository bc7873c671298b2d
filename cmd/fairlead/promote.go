package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// promoteCommand is "fairlead promote".
type promoteCommand struct {
	Connection connection `embed:""`
	Writing    writing    `embed:""`

	From     string    `required:"" placeholder:"FLEET" help:"The fleet to copy from, as it is stored now."`
	To       string    `required:"" placeholder:"FLEET" help:"The fleet that it is written to."`
	Selector string    `short:"l" placeholder:"KEY=VALUE,..." help:"Only what carries these labels."`
	Prune    bool      `help:"Delete from --to what --from does not have; with -l, of what carries the labels."`
	DryRun   bool      `help:"Show what would change and the plan's token, and write nothing."`
	Plan     planToken `placeholder:"TOKEN" help:"Apply what --dry-run showed, or nothing."`
}

// Help is printed with the command's own help.
func (*promoteCommand) Help() string {
	return `It shows what changes, and applies that: if somebody changes that in --to in between, nothing is written. What comes to more than 4 MiB is planned and written in parts, as "fairlead apply" does. A secret is never shown, so it is not carried over: --to must have one of the same name, which it keeps.`
}

// Run carries one fleet's content over to another.
func (c *promoteCommand) Run(ctx context.Context, sh *shell) error {
	switch {
	case sh.onLine["fleet"]:
		return usageError("promote takes the fleets by --from and --to: leave --fleet out")
	case c.From == c.To:
		return usageError("--from and --to are the same fleet")
	case c.DryRun:
		if err := c.Writing.dry(); err != nil {
			return err
		}
	}
	scope, err := parseLabels(c.Selector)
	if err != nil {
		return err
	}
	c.Connection.Fleet = c.From
	from, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	items, revision, err := from.snapshot(ctx)
	if err != nil {
		return fmt.Errorf("read the fleet %s: %w", c.From, err)
	}
	b, err := promoted(c.From, items, scope)
	if err != nil {
		return err
	}
	to := *from
	to.fleet = c.To
	m := members{message: c.Writing.Message, expected: c.Writing.ExpectedRevision, plan: string(c.Plan)}
	if m.message == "" {
		m.message = fmt.Sprintf("promoted from %s, revision %d", c.From, revision)
	}
	p := pruning{Prune: c.Prune, Selector: c.Selector, All: c.Selector == ""}
	if c.Prune {
		err = p.into(ctx, &to, b, &m)
	}
	if err != nil {
		return err
	}
	parts, err := b.parts()
	if err != nil {
		return err
	}
	if c.Plan == "" {
		asked := to
		if c.Writing.JSON && !c.DryRun { // the one document is what was written
			asked.shell = to.quiet()
		}
		seen, err := asked.tellPlans(ctx, parts, m, c.Writing.JSON)
		if err != nil || c.DryRun {
			return err
		}
		m.plan = seen.Token
	}
	return c.Writing.applyParts(ctx, &to, parts, m)
}

// quiet is the shell with nobody who reads what is printed.
func (sh *shell) quiet() *shell {
	q := *sh
	q.out, q.err = io.Discard, io.Discard
	return &q
}

// promoted makes an apply of what a fleet holds. A place in it is a resource.
func promoted(fleet string, items []json.RawMessage, scope map[string]string) (*bundle, error) {
	docs, err := exported(items)
	if err != nil {
		return nil, err
	}
	b := &bundle{others: map[string]*origin{}}
	b.resources.there = true
	for i, d := range docs {
		var labels struct{ Labels map[string]string }
		if err := json.Unmarshal(items[i], &labels); err != nil {
			return nil, err
		}
		if carries(labels.Labels, scope) {
			b.resources.add(&origin{doc: &document{file: fleet + ", " + d.kind + "/" + d.name}}, d.json)
		}
	}
	return b, nil
}
