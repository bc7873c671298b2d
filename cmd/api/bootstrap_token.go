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
	DatabaseURL string        `name:"database-url" env:"FAIRLEAD_DATABASE_URL" required:"" placeholder:"URL" help:"Postgres, as the role fairlead_app or a member of it."`
	Out         string        `name:"out" required:"" type:"path" placeholder:"FILE" help:"File that takes the token; it must not exist."`
	Expires     time.Duration `name:"expires" default:"2160h" placeholder:"DURATION" help:"When the token expires: 2160h (90 days) by default, 8784h (366 days) at most."`
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
	if err := c.CheckURL("--database-url", c.DatabaseURL); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{URL: c.DatabaseURL, Role: "fairlead_app"})
	if err != nil {
		return err
	}
	defer s.Close()
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make the file of --out: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(c.Out))
		}
	}()
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	if _, err := fmt.Fprintln(f, token); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	expires := time.Now().Add(c.Expires).UTC()
	err = s.CreateFirstOperatorToken(ctx, store.OperatorToken{ID: id, Hash: hash, Name: "bootstrap", ExpiresAt: expires})
	if errors.Is(err, fleet.ErrConflict) {
		return errors.New("there is an operator token that is good, and this command makes one only where there is none: use that one, or make another with it (POST /v1/operator/tokens)")
	}
	if err != nil {
		return err
	}
	fmt.Printf("the operator token is in %s; it is shown nowhere else, and expires at %s\n", c.Out, expires.Format(time.RFC3339))
	return nil
}
