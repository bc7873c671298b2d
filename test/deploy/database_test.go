package deploy

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/localpg"
	"fairlead/internal/store"
)

// The roles that the first-time script makes are the ones that the migrations and the
// servers expect.
func TestRolesScript(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bin, err := localpg.Find(ctx, localpg.FindConfig{Fetch: true, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	pg, err := localpg.Start(ctx, localpg.Config{
		Bin: bin, Ephemeral: true, TCP: true,
		Settings: map[string]string{"synchronous_commit": "on"}, // as in production: the store refuses less
	})
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Stop(context.Background())

	admin := pg.TCPURL("postgres", localpg.Superuser)
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(ctx, script(t, map[string]string{"app": "b2", "node": "c3"})); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Migrate(ctx, admin); err != nil {
		t.Fatal(err)
	}
	for role, password := range map[string]string{"fairlead_app": "b2", "fairlead_node": "c3"} {
		u, err := url.Parse(admin)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, password)
		s, err := store.Open(ctx, store.Config{URL: u.String()})
		if err != nil {
			t.Errorf("open the store as %s: %v", role, err)
			continue
		}
		s.Close()
	}
}

// script returns the SQL of roles.sh with psql's variables filled in.
func script(t *testing.T, variables map[string]string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", "postgres", "roles.sh"))
	if err != nil {
		t.Fatal(err)
	}
	_, sql, found := strings.Cut(string(text), "<<'SQL'\n")
	sql, _, end := strings.Cut(sql, "\nSQL\n")
	if !found || !end {
		t.Fatalf("roles.sh holds no SQL:\n%s", text)
	}
	for name, value := range variables {
		sql = strings.ReplaceAll(sql, ":'"+name+"'", "'"+value+"'")
	}
	return sql
}
