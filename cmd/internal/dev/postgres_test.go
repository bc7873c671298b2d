package dev

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/localpg"
)

// A folder that a program with another schema made cannot be used, and is not touched.
func TestAFolderOfAnotherSchemaIsRefused(t *testing.T) {
	t.Parallel()
	bin, err := localpg.Find(t.Context(), localpg.FindConfig{Fetch: true})
	if err != nil {
		t.Fatal(err)
	}
	server, err := localpg.Start(t.Context(), localpg.Config{Bin: bin, Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	p := &postgres{server}
	defer p.stop()
	for range 2 { // a second start finds what the first has made
		if err := p.prepare(t.Context(), "folder"); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), p.url(localpg.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `UPDATE schema_migrations SET version = 18; DROP TABLE schema_contents`); err != nil {
		t.Fatal(err)
	}
	if err := p.prepare(t.Context(), "folder"); err == nil || !strings.Contains(err.Error(), "remove the folder folder and start again") {
		t.Errorf("it went on: %v", err)
	}
}
