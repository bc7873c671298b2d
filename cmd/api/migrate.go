package main

import (
	"context"
	"fmt"

	"fairlead/cmd/internal/run"
	"fairlead/internal/store"
)

type migrateCommand struct {
	DatabaseURL string `name:"database-url" env:"FAIRLEAD_OWNER_DATABASE_URL" required:"" placeholder:"URL" help:"Postgres, as a superuser or as the owner of the database that may create roles."`
	run.Database
}

// Run migrates.
func (c *migrateCommand) Run(ctx context.Context) error {
	if err := c.CheckURL("--database-url", c.DatabaseURL); err != nil {
		return err
	}
	from, to, err := store.Migrate(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	if from == to {
		fmt.Printf("the schema is at version %d already\n", to)
		return nil
	}
	fmt.Printf("the schema went from version %d to %d\n", from, to)
	return nil
}
