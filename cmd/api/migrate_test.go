package main

import (
	"fmt"
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
