package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/test/world"
)

// noDisk says what is missing where newDisk is nil.
const noDisk = "a disk that can be full is a file system of its own, which only root may mount: run this test as root"

// disk is a small file system that can be full.
type disk struct{ dir string }

// newDisk mounts one until the test ends. It is nil where that is not permitted.
func newDisk(t testing.TB, megabytes int) *disk {
	t.Helper()
	dir, err := os.MkdirTemp("", "disk-")
	world.Must(t, err)
	world.Must(t, os.Chmod(dir, 0o711)) //nolint:gosec // Postgres's user passes
	err = syscall.Mount("fairlead", dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=711", megabytes))
	if errors.Is(err, syscall.EPERM) {
		world.Must(t, os.Remove(dir))
		return nil
	}
	world.Must(t, err)
	t.Cleanup(func() { world.Must(t, syscall.Unmount(dir, 0), os.Remove(dir)) })
	return &disk{dir}
}

// fill takes all that is left, to the last block.
func (d *disk) fill(t testing.TB) {
	t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY, 0o600)
	world.Must(t, err)
	defer f.Close()
	var at int64
	for part := int64(64 << 20); part >= 4096; {
		switch err := syscall.Fallocate(int(f.Fd()), 0, at, part); { //nolint:gosec // small
		case err == nil:
			at += part
		case errors.Is(err, syscall.ENOSPC):
			part /= 2
		default:
			t.Fatalf("fill the disk: %v", err)
		}
	}
}

// free gives back what fill took.
func (d *disk) free(t testing.TB) {
	t.Helper()
	world.Must(t, os.Remove(d.filler()))
}

func (d *disk) filler() string { return filepath.Join(d.dir, "filler") }

// folder is for what lies on it; "" without one.
func (d *disk) folder() string {
	if d == nil {
		return ""
	}
	return d.dir
}

// fillDisk has the database's disk be full. Every other time that ends Postgres, as its WAL has no room at once.
func (in *installation) fillDisk(_ int, lasts time.Duration) (heal func()) {
	in.disk.fill(in.T)
	if lasts/time.Millisecond%2 == 0 {
		in.needWAL()
	}
	return func() {
		in.disk.free(in.T)
		in.revive()
	}
}

// needWAL has Postgres need more WAL than there is room for. It may not be there.
func (in *installation) needWAL() {
	ctx, cancel := context.WithTimeout(in.T.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, in.DB.Owner)
	if err != nil {
		return
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is pending
	_, _ = conn.Exec(ctx, `SELECT pg_switch_wal(), pg_logical_emit_message(true, 'chaos', repeat('x', 1000000))`)
}

// revive waits until Postgres answers. It is started again if it has ended, as it does when its WAL had no room.
func (in *installation) revive() {
	world.Eventually(in.T, hang, "Postgres does not come back", func() bool {
		select {
		case <-in.pg.Done():
			world.Must(in.T, in.pg.Restart(in.T.Context()))
		default:
		}
		ctx, cancel := context.WithTimeout(in.T.Context(), patience)
		defer cancel()
		conn, err := pgx.Connect(ctx, in.DB.Owner)
		if err != nil {
			return false
		}
		_ = conn.Close(ctx)
		return true
	})
}
