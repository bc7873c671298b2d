package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

type moveTenantCommand struct {
	Tenant string        `arg:"" placeholder:"TENANT" help:"The tenant's slug or its id."`
	Cells  string        `name:"cells-file" env:"FAIRLEAD_OWNER_CELLS_FILE" required:"" type:"path" placeholder:"FILE" help:"The cells with their owners' URLs, as for migrate."`
	From   string        `name:"from" required:"" placeholder:"CELL" help:"The cell that the tenant leaves."`
	To     string        `name:"to" required:"" placeholder:"CELL" help:"The cell that it comes to."`
	Drain  time.Duration `name:"drain" default:"5s" placeholder:"DURATION" help:"How long the streams at the cell that it leaves may take to end, while no cell serves the tenant."`

	BackOut bool `name:"back-out" xor:"instead" help:"Instead: have the cell that it leaves serve the tenant again, after a move that ended early."`
	Forget  bool `name:"forget" xor:"instead" help:"Instead: remove what a tenant that has moved left in the cell that it came from."`
	Purged  bool `name:"purged" help:"With --forget: the cell that the tenant has moved to has deleted it and purged it since, as you know. What the other cell has is the last of it."`
	run.Database

	Warnings io.Writer `kong:"-"` // nil: os.Stderr
}

// Run moves the tenant, or does what is asked for instead.
func (c *moveTenantCommand) Run(ctx context.Context) (err error) {
	if c.Purged && !c.Forget {
		return fmt.Errorf("--purged goes with --forget: %w", fleet.ErrInvalid)
	}
	m := store.Move{Tenant: c.Tenant, Drain: c.Drain, Purged: c.Purged}
	cells, err := run.CellsFile{File: c.Cells}.Cells(c.Database)
	if err != nil {
		return err
	}
	for _, cell := range cells {
		m.Cells = append(m.Cells, store.CellURL{Name: cell.Name, URL: cell.DatabaseURL})
	}
	if m.From, err = cellURL(cells, "--from", c.From); err != nil {
		return err
	}
	if m.To, err = cellURL(cells, "--to", c.To); err != nil {
		return err
	}
	if c.From == c.To {
		return fmt.Errorf("--from and --to are the same cell, %s: give the cell that the tenant leaves and the one that it comes to: %w", c.From, fleet.ErrInvalid)
	}
	switch {
	case c.BackOut:
		if err := store.BackOutMove(ctx, m); err != nil {
			return err
		}
		fmt.Printf("tenant %s is served by the cell %s\n", c.Tenant, c.From)
		return nil
	case c.Forget:
		rows, err := store.ForgetMoved(ctx, m)
		if err != nil {
			return err
		}
		fmt.Printf("%d rows of tenant %s are removed from the cell %s\n", rows, c.Tenant, c.From)
		return nil
	}
	done, err := store.MoveTenant(ctx, m)
	if len(done.Left) > 0 {
		to := c.Warnings
		if to == nil {
			to = os.Stderr
		}
		fmt.Fprintln(to, c.left(done.Left))
	}
	if err != nil {
		return err
	}
	if done.Already {
		fmt.Printf("tenant %s has moved already\n", done.Slug)
		return nil
	}
	fmt.Printf("tenant %s has moved: %d rows. Its writes were refused for %v, and no cell served it for %v\n", done.Slug, done.Rows,
		done.Refused.Round(time.Millisecond), done.Unknown.Round(time.Millisecond))
	return nil
}

// left warns of streams that did not end in time.
func (c *moveTenantCommand) left(open []store.OpenStreams) string {
	n, servers := 0, make([]string, len(open))
	for i, o := range open {
		n += o.Streams
		servers[i] = o.String()
	}
	what := fmt.Sprintf("%d streams of the tenant were", n)
	if n == 1 {
		what = "1 stream of the tenant was"
	}
	return fmt.Sprintf("warning: after --drain=%v %s still open at the cell %s: %s. What these proxies reported later is not in the cell %s. "+
		"They are served there as soon as they connect again: restart a server that does not end its streams", c.Drain, what, c.From, strings.Join(servers, ", "), c.To)
}

// cellURL returns the URL of a cell that a flag names.
func cellURL(cells []run.Cell, flag, name string) (string, error) {
	var names []string
	for _, c := range cells {
		if c.Name == name {
			return c.DatabaseURL, nil
		}
		names = append(names, c.Name)
	}
	if name == "" {
		return "", fmt.Errorf("%s is missing: give one of %s", flag, strings.Join(names, ", "))
	}
	return "", fmt.Errorf("%s: there is no cell %q, the file names %s", flag, name, strings.Join(names, ", "))
}
