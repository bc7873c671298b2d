package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The commands that reach the database themselves ask like the servers.
func TestCommandsRefuseAnUncheckedDatabase(t *testing.T) {
	t.Parallel()
	const far = "postgres://u:s3cret@db.example.com/f?sslmode=require"
	out := filepath.Join(t.TempDir(), "token")
	for name, err := range map[string]error{
		"migrate":         (&migrateCommand{DatabaseURL: far}).Run(t.Context()),
		"bootstrap-token": (&bootstrapTokenCommand{DatabaseURL: far, Out: out, Expires: time.Hour}).Run(t.Context()),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "--database-url (") || !strings.Contains(err.Error(), ") leads to another machine") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused bootstrap-token left its file")
	}
}

func TestBootstrapTokenEnds(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{-time.Hour, 0, longestLife + time.Second} {
		err := (&bootstrapTokenCommand{DatabaseURL: "postgres://u@127.0.0.1:1/f", Expires: d}).Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "--expires has to be") {
			t.Errorf("%s: %v", d, err)
		}
	}
}
