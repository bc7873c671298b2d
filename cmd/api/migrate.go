package main

import (
	"context"
	"fmt"

	"fairlead/cmd/internal/run"
	"fairlead/internal/store"
)

type migrateCommand struct {
	DatabaseURL string `name:"database-url" env:"FAIRLEAD_OWNER_DATABASE_URL" required:"" placeholder:"URL" help:"Postgres, as a superuser or as the owner of the database that may create roles."`
	RolesOnly   bool   `name:"roles-only" help:"Make the roles that are missing, and nothing else: before a dump is restored on another Postgres."`
	run.Database
}

// Run migrates.
func (c *migrateCommand) Run(ctx context.Context) error {
	if err := c.CheckURL("--database-url", c.DatabaseURL); err != nil {
		return err
	}
	if c.RolesOnly {
		if err := store.MakeRoles(ctx, c.DatabaseURL); err != nil {
			return err
		}
		fmt.Println("the roles fairlead_owner, fairlead_app and fairlead_node are there")
		return nil
	}
	done, err := store.Migrate(ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	switch {
	case done.From != done.To:
		fmt.Printf("the schema went from version %d to %d\n", done.From, done.To)
	case done.Functions:
		fmt.Printf("the schema stays at version %d, its functions were replaced\n", done.To)
	default:
		fmt.Printf("the schema is at version %d already\n", done.To)
	}
	if done.Events > 0 {
		fmt.Printf("%d events of the dump come before all that this Postgres writes\n", done.Events)
	}
	return nil
}
