// Package filelock is a lock between processes that ends with its owner: the kernel
// drops it when the process that holds it dies, however it dies.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrHeld says that another process, or another lock of this one, holds the file.
var ErrHeld = errors.New("held by another process")

// pollEvery is how often Acquire looks again; flock has no wait that a context can end.
const pollEvery = 50 * time.Millisecond

// Lock is a held lock.
type Lock struct{ file *os.File }

// TryAcquire takes the lock on path, which it creates with mode 0600 if it is missing.
// It does not wait: ErrHeld.
func TryAcquire(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	return TryLock(f)
}

// TryLock is TryAcquire for a file that is open already. The lock owns it: without one it is closed.
func TryLock(f *os.File) (*Lock, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{f}, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), ErrHeld)
	}
	return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
}

// Acquire is TryAcquire that waits until the lock is free or ctx ends.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		l, err := TryAcquire(path)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// Release gives the lock back. The file stays: to remove it would let two processes
// hold two files of one name.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	// A child that is being started has the file too until it runs its program: closing alone would leave it locked so long.
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	_ = l.file.Close()
}
