package localpg

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// account returns the user that Postgres runs as: nil for our own, and for root, as
// whom Postgres refuses to run, the user postgres or else nobody.
func account() (*childproc.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil && uid != 0 {
			return &childproc.Credential{UID: uint32(uid), GID: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("started as root, as which Postgres does not run, and this machine has no user postgres or nobody: "+
		"start as another user: %w", fleet.ErrUnavailable)
}

// give makes path the account's own, with mode 0700.
func give(path string, as *childproc.Credential) error {
	if as != nil {
		if err := os.Chown(path, int(as.UID), int(as.GID)); err != nil {
			return fmt.Errorf("give the directory to the user of Postgres: %w", err)
		}
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fmt.Errorf("close the directory to other users: %w", err)
	}
	return nil
}

// reachable checks that the account may enter dir and every directory above it. It
// fails later without, with a "permission denied" that names the wrong file.
func reachable(dir string, as *childproc.Credential, what string) error {
	if as == nil {
		return nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the place of %s: %w", what, err)
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return fmt.Errorf("look at the directory of %s: %w", what, err)
		}
		if !mayEnter(info, as) {
			return fmt.Errorf("started as root, Postgres runs as user %d, who may not enter %s (mode %04o), where %s is: "+
				"choose a directory below /var/lib or /tmp for it, or start as another user: %w",
				as.UID, d, info.Mode().Perm(), what, fleet.ErrInvalid)
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

func mayEnter(info os.FileInfo, as *childproc.Credential) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	mode := info.Mode().Perm()
	switch {
	case st.Uid == as.UID:
		return mode&0o100 != 0
	case st.Gid == as.GID:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
