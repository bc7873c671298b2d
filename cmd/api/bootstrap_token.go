package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

type bootstrapTokenCommand struct {
	DatabaseURL string        `name:"database-url" env:"FAIRLEAD_DATABASE_URL" xor:"database" required:"" placeholder:"URL" help:"Postgres, as the role fairlead_app or a member of it."`
	Cell        string        `name:"cell" placeholder:"CELL" help:"With --cells-file: the cell that gets the token. Each has operators of its own."`
	Out         string        `name:"out" required:"" type:"path" placeholder:"FILE" help:"File that takes the token; it must not exist. With - the token is printed, as in a container that has no file."`
	Expires     time.Duration `name:"expires" default:"2160h" placeholder:"DURATION" help:"When the token expires: 2160h (90 days) by default, 8784h (366 days) at most."`
	run.CellsFile
	run.Database
}

// longestLife is that of a token that the API makes.
const longestLife = 366 * 24 * time.Hour

// Run makes the token. The file is made first: a token that is stored and not shown
// could never be made again.
func (c *bootstrapTokenCommand) Run(ctx context.Context) (err error) {
	if c.Expires <= 0 || c.Expires > longestLife {
		return errors.New("--expires has to be more than 0 and at most 8784h (366 days)")
	}
	url, err := c.url()
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{URL: url, Role: "fairlead_app"})
	if err != nil {
		return run.OfDatabase(run.URLSetting(c.Cell), err)
	}
	defer s.Close()
	out, end, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = end(err) }()
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	if _, err := fmt.Fprintln(out, token); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	if out != os.Stdout {
		if err := out.Sync(); err != nil {
			return fmt.Errorf("write the token: %w", err)
		}
	}
	expires := time.Now().Add(c.Expires).UTC()
	err = s.CreateFirstOperatorToken(ctx, store.OperatorToken{ID: id, Hash: hash, Name: "bootstrap", ExpiresAt: expires})
	if errors.Is(err, fleet.ErrConflict) {
		return errors.New("there is an operator token that is good, and this command makes one only where there is none: use that one, or make another with it (POST /v1/operator/tokens)")
	}
	if err != nil {
		return err
	}
	said, where := os.Stdout, c.Out
	if out == os.Stdout {
		said, where = os.Stderr, "what was printed"
	}
	fmt.Fprintf(said, "the operator token is in %s; it is shown nowhere else, and expires at %s\n", where, expires.Format(time.RFC3339))
	return nil
}

// url is that of the database that gets the token.
func (c *bootstrapTokenCommand) url() (string, error) {
	cells, err := c.Cells(c.Database)
	switch {
	case err != nil:
		return "", err
	case cells != nil:
		return cellURL(cells, "--cell", c.Cell)
	case c.Cell != "":
		return "", errors.New("--cell goes with --cells-file: --database-url is one database")
	}
	return c.DatabaseURL, c.CheckURL(run.URLSetting(""), c.DatabaseURL)
}

// open returns what takes the token, and what ends that: a file is removed where there was an error.
func (c *bootstrapTokenCommand) open() (out *os.File, end func(error) error, err error) {
	if c.Out == "-" {
		return os.Stdout, func(err error) error { return err }, nil
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("make the file of --out: %w", err)
	}
	return f, func(err error) error {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(c.Out))
		}
		return err
	}, nil
}
