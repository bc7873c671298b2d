package seal

import (
	"io/fs"
	"os"
	"syscall"
)

// Loose reports whether others than a server may use a file with a key of its own. Where the file is root's, and the server is not root, its group may
// read it: so Kubernetes gives a mounted Secret to a pod (fsGroup), and systemd a credential to a unit where it can be had by an access list.
func Loose(info fs.FileInfo) bool {
	owner := os.Geteuid()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(st.Uid)
	}
	return loose(info.Mode().Perm(), owner, os.Geteuid())
}

func loose(mode fs.FileMode, owner, me int) bool {
	if owner == 0 && me != 0 {
		return mode&0o037 != 0
	}
	return mode&0o077 != 0
}
