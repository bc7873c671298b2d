package store_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// TestTroubleNamesTheSettingAndHoldsNothingOfTheURL: it is told at ports where nobody is known.
func TestTroubleNamesTheSettingAndHoldsNothingOfTheURL(t *testing.T) {
	t.Parallel()
	db, empty := storetest.New(t), storetest.Empty(t)
	change := func(to string, change func(u *url.URL)) string {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	for name, c := range map[string]struct {
		open  func() error
		words []string
	}{
		"no such database": {func() error { return opened(t, change(db.App, func(u *url.URL) { u.Path = "/secret_database" })) }, []string{"3D000", "CREATE DATABASE", "--url"}},
		"no such role": {func() error {
			return opened(t, change(db.App, func(u *url.URL) { u.User = url.UserPassword("secret_user", "secret") }))
		}, []string{"(28", "--url"}},
		"nothing there": {func() error { return opened(t, "postgres://secret_user:secret@127.0.0.1:1/secret_database") }, []string{"does not answer", "--url"}},
		"no schema":     {func() error { return opened(t, empty.App) }, []string{"run the migrations"}},
		"no owner": {func() error {
			_, err := store.Migrate(t.Context(), db.App)
			return err
		}, []string{"42501", "fairlead_owner", "--url"}},
	} {
		err := c.open()
		got := store.Trouble(err, "--url")
		for _, w := range c.words {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q does not say %q (%v)", name, got, w, err)
			}
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s: %q", name, got)
		}
	}
	for code, words := range map[string]string{"28P01": "refuses the password (28P01): correct user and password in --url", "53300": "max_connections", "57P03": "is starting", "42501": "--url", "XX000": "XX000"} {
		err := fmt.Errorf("open: %w", &pgconn.PgError{Code: code, Message: "secret"})
		if got := store.Trouble(err, "--url"); !strings.Contains(got, words) || strings.Contains(got, "secret") {
			t.Errorf("%s: %q does not say %q", code, got, words)
		}
	}
	if got := store.Trouble(fleet.ErrConflict, "--url"); got != "" {
		t.Errorf("of something else it says %q", got)
	}
}

func opened(t *testing.T, to string) error {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: to})
	if err == nil {
		s.Close()
		t.Fatal("it opened")
	}
	return err
}
