package run

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
)

// turnedAway answers each call with the next error, and notes which was the last.
type turnedAway struct {
	errs []error
	ends []bool
}

func (f *turnedAway) TellDenied(ctx context.Context, end bool, tell func(context.Context, []fleet.Denied) error) error {
	f.ends = append(f.ends, end)
	if err := tell(ctx, nil); err != nil {
		return err
	}
	if len(f.errs) == 0 {
		return nil
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

// told fails when its context has ended.
type told struct{}

func (told) TellDenied(ctx context.Context, _ []fleet.Denied) error { return ctx.Err() }

// Several failures are one line, and the last ones are told when the server stops.
func TestWhoIsNotLetInIsToldNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		fake := &turnedAway{errs: []error{away, away, nil, away}}
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 10*deniedEvery)
		defer cancel()
		begun := time.Now()
		if err := (deniedClients{fake, told{}, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
			t.Error(err)
		}
		if n := len(fake.ends); n < 8 || n > 13 || !fake.ends[n-1] || fake.ends[n-2] {
			t.Errorf("after %v: %v", time.Since(begun), fake.ends)
		}
		if n := strings.Count(out.String(), "are not written"); n != 2 {
			t.Errorf("%d lines: %s", n, out.String())
		}
	})
}
