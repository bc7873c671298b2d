package localpg

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead/internal/childproc"
	"fairlead/internal/filelock"
	"fairlead/internal/fleet"
)

// The layout of Config.DataDir. It is ours; data and run are the account's.
const (
	dataName     = "data"       // what Postgres calls its data directory
	runName      = "run"        // the socket's directory, mode 0700
	lockName     = "owner.lock" // held while a process of ours uses the directory
	passwordName = "password"   // of the superuser, mode 0600
)

// maxSocketPath is the kernel's limit for a socket's path: 108 bytes on Linux, 104 on
// macOS, one of them for the end.
const maxSocketPath = 103

// longestSocketName is what Postgres puts into the directory, with the longest port.
const longestSocketName = "/.s.PGSQL.65535"

type layout struct {
	base, data, run string
	ephemeral       bool
	runElsewhere    bool // run is a directory of its own, removed with the server
	as              *childproc.Credential
	lock            *filelock.Lock
}

// prepare makes the directories, takes the lock and checks that the account may enter.
func prepare(c Config, as *childproc.Credential) (*layout, error) {
	l := &layout{base: c.DataDir, ephemeral: c.Ephemeral, as: as}
	var err error
	if c.Ephemeral {
		l.base, l.lock, err = scratch(c.DataDir)
	} else {
		l.base, l.lock, err = keep(c.DataDir)
	}
	if err != nil {
		return nil, err
	}
	l.data = filepath.Join(l.base, dataName)
	if err := l.open(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// keep is the directory of a server whose data stays.
func keep(dir string) (string, *filelock.Lock, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, fmt.Errorf("find the data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock, err := filelock.TryAcquire(filepath.Join(dir, lockName))
	if errors.Is(err, filelock.ErrHeld) {
		return "", nil, fmt.Errorf("the data directory %s is in use by another process: stop that one, or name another directory: %w",
			dir, fleet.ErrConflict)
	}
	return dir, lock, err
}

// open makes the socket's directory and checks that the account can reach all of it.
func (l *layout) open() error {
	if err := reachable(l.base, l.as, "the data directory"); err != nil {
		return err
	}
	l.run = filepath.Join(l.base, runName)
	if len(l.run)+len(longestSocketName) > maxSocketPath {
		dir, err := shortDir()
		if err != nil {
			return err
		}
		l.run, l.runElsewhere = dir, true
		if err := reachable(filepath.Dir(dir), l.as, "the socket"); err != nil {
			return err
		}
	} else if err := os.MkdirAll(l.run, 0o700); err != nil {
		return fmt.Errorf("make the socket's directory: %w", err)
	}
	return give(l.run, l.as)
}

// shortDir makes a directory with a path that a socket's fits in.
func shortDir() (string, error) {
	for _, parent := range []string{os.TempDir(), "/tmp"} {
		dir, err := os.MkdirTemp(parent, "flpg-")
		if err != nil {
			return "", fmt.Errorf("make the socket's directory: %w", err)
		}
		if len(dir)+len(longestSocketName) <= maxSocketPath {
			return dir, nil
		}
		_ = os.Remove(dir)
	}
	return "", fmt.Errorf("every directory for a socket has too long a path: set TMPDIR to a short one: %w", fleet.ErrInvalid)
}

// close gives the lock back and removes what is not kept.
func (l *layout) close() {
	if l.runElsewhere {
		_ = os.RemoveAll(l.run)
	}
	if l.ephemeral {
		_ = os.RemoveAll(l.base)
	}
	l.lock.Release()
}

// password reads the superuser's password, or draws one.
func (l *layout) password() (string, error) {
	path := filepath.Join(l.base, passwordName)
	text, err := os.ReadFile(path)
	switch {
	case err == nil && len(strings.TrimSpace(string(text))) > 0:
		return strings.TrimSpace(string(text)), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read the superuser's password: %w", err)
	}
	password := rand.Text()
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the superuser's password: %w", err)
	}
	return password, nil
}
