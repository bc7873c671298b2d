package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/seal"
	"fairlead/internal/store"
)

type moveTenantCommand struct {
	Tenant string        `arg:"" placeholder:"TENANT" help:"The tenant's slug or its id."`
	From   string        `name:"from-database-url-file" required:"" type:"path" placeholder:"FILE" help:"File with the URL of the cell that the tenant leaves: Postgres, as the owner of the tables, as for migrate. Nobody else may read it."`
	To     string        `name:"to-database-url-file" required:"" type:"path" placeholder:"FILE" help:"The same of the cell that it comes to."`
	Drain  time.Duration `name:"drain" default:"5s" placeholder:"DURATION" help:"How long the streams at the cell of before may take to end, while no cell serves the tenant."`

	BackOut bool `name:"back-out" xor:"instead" help:"Instead: have the cell of before serve the tenant again, after a move that ended early."`
	Forget  bool `name:"forget" xor:"instead" help:"Instead: remove what a tenant that has moved left in the cell of before."`
	run.Database
}

// Run moves the tenant, or does what is asked for instead.
func (c *moveTenantCommand) Run(ctx context.Context) (err error) {
	m := store.Move{Tenant: c.Tenant, Drain: c.Drain}
	if m.From, err = c.url("--from-database-url-file", c.From); err != nil {
		return err
	}
	if m.To, err = c.url("--to-database-url-file", c.To); err != nil {
		return err
	}
	switch {
	case c.BackOut:
		if err := store.BackOutMove(ctx, m); err != nil {
			return err
		}
		fmt.Printf("tenant %s is served by the cell of before\n", c.Tenant)
		return nil
	case c.Forget:
		rows, err := store.ForgetMoved(ctx, m)
		if err != nil {
			return err
		}
		fmt.Printf("%d rows of tenant %s are removed from the cell of before\n", rows, c.Tenant)
		return nil
	}
	done, err := store.MoveTenant(ctx, m)
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

const longestURL = 16 << 10 // bytes

// url reads a file that holds a URL, and thus a password.
func (c *moveTenantCommand) url(flag, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	if seal.Loose(info) {
		return "", fmt.Errorf("%s: others than the owner may use %s (mode %04o): run \"chmod 600 %s\", and change the password if somebody may have read it", flag, path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, longestURL+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	url := strings.TrimSpace(string(text))
	if url == "" || len(text) > longestURL {
		return "", errors.New(flag + ": write one URL into the file, postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full")
	}
	return url, c.CheckURL(flag, url)
}
