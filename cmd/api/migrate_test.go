package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Main(m)) }

// TestMigratingCells goes over them in the order of their file, and stops at the first that fails.
func TestMigratingCells(t *testing.T) {
	t.Parallel()
	first, last := storetest.Empty(t), storetest.Empty(t)
	path := filepath.Join(t.TempDir(), "cells.yaml")
	write := func(urls ...string) {
		t.Helper()
		text := "cells:\n"
		for i, url := range urls {
			text += fmt.Sprintf("- {name: c%d, database_url: %q}\n", i+1, url)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	migrated := func(db *storetest.DB) bool {
		t.Helper()
		s, err := store.Open(t.Context(), store.Config{URL: db.App})
		if err == nil {
			s.Close()
		}
		return err == nil
	}
	write(first.Owner, "postgres://nobody:s3cret@127.0.0.1:1/none", last.Owner)
	err := (&migrateCommand{CellsFile: path}).Run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "cell c2, after c1: ") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	if !migrated(first) || migrated(last) {
		t.Errorf("the first is migrated: %t, the last: %t", migrated(first), migrated(last))
	}
	write(first.Owner, last.Owner)
	if err := (&migrateCommand{CellsFile: path}).Run(t.Context()); err != nil || !migrated(last) {
		t.Errorf("%v", err)
	}
}

// TestAnErrorOfADatabaseNamesTheSetting, and says what to do.
func TestAnErrorOfADatabaseNamesTheSetting(t *testing.T) {
	t.Parallel()
	db, empty := storetest.New(t), storetest.Empty(t)
	none := func(of string) string {
		u, err := url.Parse(of)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/none"
		return u.String()
	}
	out := filepath.Join(t.TempDir(), "token")
	const owner, app = "--database-url (FAIRLEAD_OWNER_DATABASE_URL)", "--database-url (FAIRLEAD_DATABASE_URL)"
	for name, c := range map[string]struct {
		err   error
		words []string
	}{
		"migrate, no database":          {(&migrateCommand{DatabaseURL: none(db.Owner)}).Run(t.Context()), []string{owner, "3D000", "CREATE DATABASE"}},
		"roles, no database":            {(&migrateCommand{DatabaseURL: none(db.Owner), RolesOnly: true}).Run(t.Context()), []string{owner, "3D000"}},
		"migrate, nothing there":        {(&migrateCommand{DatabaseURL: "postgres://u:s3cret@127.0.0.1:1/f"}).Run(t.Context()), []string{owner, "does not answer"}},
		"migrate, as the app":           {(&migrateCommand{DatabaseURL: db.App}).Run(t.Context()), []string{owner, "fairlead_owner", "GRANT"}},
		"first token, no database":      {(&bootstrapTokenCommand{DatabaseURL: none(db.App), Out: out, Expires: longestLife}).Run(t.Context()), []string{app, "3D000"}},
		"first token, as the owner":     {(&bootstrapTokenCommand{DatabaseURL: db.Owner, Out: out, Expires: longestLife}).Run(t.Context()), []string{app, "use fairlead_app"}},
		"first token, without a schema": {(&bootstrapTokenCommand{DatabaseURL: empty.App, Out: out, Expires: longestLife}).Run(t.Context()), []string{app, "run the migrations"}},
		"migrate, no URL":               {(&migrateCommand{DatabaseURL: "postgres://u:s3cret@%zz"}).Run(t.Context()), []string{owner, "cannot be read"}},
	} {
		for _, w := range c.words {
			if c.err == nil || !strings.Contains(c.err.Error(), w) || strings.Contains(c.err.Error(), "s3cret") {
				t.Errorf("%s: %v, want %q", name, c.err, w)
			}
		}
	}
}
