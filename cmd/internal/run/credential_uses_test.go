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

// used answers each call with the next error.
type used struct {
	errs  []error
	calls int
}

func (f *used) NoteUses(ctx context.Context, note func(context.Context, []fleet.CredentialUse) error) error {
	f.calls++
	if err := note(ctx, nil); err != nil || len(f.errs) == 0 {
		return err
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return err
}

type noted struct{}

func (noted) NoteCredentialUses(ctx context.Context, _ []fleet.CredentialUse) error { return ctx.Err() }

// Several failures are one line, and the runs go on.
func TestT32_UsesAreWrittenDownNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		fake := &used{errs: []error{away, away, nil, away}}
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 10*usesEvery)
		defer cancel()
		begun := time.Now()
		if err := (credentialUses{fake, noted{}, slog.New(slog.NewTextHandler(&out, nil))}).run(ctx); err != nil {
			t.Error(err)
		}
		if fake.calls < 7 || fake.calls > 13 {
			t.Errorf("after %v: %d calls", time.Since(begun), fake.calls)
		}
		if n := strings.Count(out.String(), "not written down"); n != 2 {
			t.Errorf("%d lines: %s", n, out.String())
		}
	})
}
