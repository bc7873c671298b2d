package run

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/seal"
	"fairlead/internal/store/storetest"
)

// onWrite is called with each line of a log.
type onWrite func()

func (f onWrite) Write(line []byte) (int, error) {
	f()
	return len(line), nil
}

// TestWhoWaitsForADatabaseSaysWhatPostgresSays, and not that it was not reached alone: a wrong name or password is corrected by nobody who waits.
func TestWhoWaitsForADatabaseSaysWhatPostgresSays(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	dir, _ := keyFiles(t)
	none := func(to string) string {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/secret_name"
		return u.String()
	}
	for server, start := range map[string]func(context.Context, *Waits, *slog.Logger) error{
		"api": func(ctx context.Context, w *Waits, log *slog.Logger) error {
			_, err := NewAPI(ctx, APIConfig{DatabaseURL: none(db.App), SealPublicKey: dir + seal.PublicFile, VersionKey: dir + seal.VersionFile, Waits: w}, log)
			return err
		},
		"xds": func(ctx context.Context, w *Waits, log *slog.Logger) error {
			_, err := NewXDS(ctx, XDSConfig{DatabaseURL: none(db.Node), SealPrivateKey: dir + seal.PrivateFile, Wakeup: "poll", Poll: time.Second, Name: "x", Waits: w}, log)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &Waits{}
		if got := w.Error(); got != "the database was not reached yet" {
			t.Errorf("%s: at first it is %q", server, got)
		}
		log := slog.New(slog.NewTextHandler(onWrite(cancel), nil)) // the first line is that it waits
		if err := start(ctx, w, log); !errors.Is(err, fleet.ErrUnavailable) || !strings.Contains(err.Error(), "--database-url (FAIRLEAD_DATABASE_URL)") {
			t.Errorf("%s: it ended with %v", server, err)
		}
		if got := w.Error(); !strings.Contains(got, "the database was not reached yet: Postgres has no database of that name (3D000)") || !strings.Contains(got, "--database-url") || strings.Contains(got, "secret") {
			t.Errorf("%s: %q", server, got)
		}
	}
}
