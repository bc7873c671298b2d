package main

import (
	"context"
	"fmt"
	"strings"

	"fairlead/cmd/internal/run"
	"fairlead/internal/store"
)

type migrateCommand struct {
	DatabaseURL string `name:"database-url" env:"FAIRLEAD_OWNER_DATABASE_URL" xor:"database" required:"" placeholder:"URL" help:"Postgres, as a superuser or as the owner of the database that may create roles."`
	CellsFile   string `name:"cells-file" env:"FAIRLEAD_OWNER_CELLS_FILE" xor:"database" required:"" type:"path" placeholder:"FILE" help:"Several databases instead of --database-url, one after the other: a file as the servers have it, with such URLs."`
	RolesOnly   bool   `name:"roles-only" help:"Make the roles that are missing, and nothing else: before a dump is restored on another Postgres."`
	run.Database
}

// Run migrates one database, or all cells in the order of their file, up to the first that fails.
func (c *migrateCommand) Run(ctx context.Context) error {
	cells, err := run.CellsFile{File: c.CellsFile}.Cells(c.Database)
	if err != nil {
		return err
	}
	if cells == nil {
		const setting = "--database-url (FAIRLEAD_OWNER_DATABASE_URL)"
		if err := c.CheckURL(setting, c.DatabaseURL); err != nil {
			return err
		}
		return run.OfDatabase(setting, c.migrate(ctx, c.DatabaseURL, ""))
	}
	var done []string
	for _, cell := range cells {
		if err := run.OfDatabase("its database_url (--cells-file)", c.migrate(ctx, cell.DatabaseURL, "cell "+cell.Name+": ")); err != nil {
			if len(done) > 0 {
				return fmt.Errorf("cell %s, after %s: %w", cell.Name, strings.Join(done, ", "), err)
			}
			return fmt.Errorf("cell %s: %w", cell.Name, err)
		}
		done = append(done, cell.Name)
	}
	return nil
}

// migrate says in lines that begin with of what it has done.
func (c *migrateCommand) migrate(ctx context.Context, url, of string) error {
	if c.RolesOnly {
		if err := store.MakeRoles(ctx, url); err != nil {
			return err
		}
		fmt.Println(of + "the roles fairlead_owner, fairlead_app and fairlead_node are there")
		return nil
	}
	done, err := store.Migrate(ctx, url)
	if err != nil {
		return err
	}
	switch {
	case done.From != done.To:
		fmt.Printf("%sthe schema went from version %d to %d\n", of, done.From, done.To)
	case done.Functions:
		fmt.Printf("%sthe schema stays at version %d, its functions were replaced\n", of, done.To)
	default:
		fmt.Printf("%sthe schema is at version %d already\n", of, done.To)
	}
	if done.Events > 0 {
		fmt.Printf("%s%d events of the dump come before all that this Postgres writes\n", of, done.Events)
	}
	return nil
}
