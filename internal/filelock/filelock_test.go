package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"fairlead/internal/filelock"
)

func TestOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.TryAcquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.TryAcquire(path); !errors.Is(err, filelock.ErrHeld) {
		t.Fatalf("second holder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Acquire(ctx, path); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended wait: %v", err)
	}
	go func() { first.Release() }()
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	second, err := filelock.Acquire(ctx, path)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	second.Release()
}
