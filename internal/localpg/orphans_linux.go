package localpg

import (
	"os"
	"path/filepath"
	"strconv"
)

// orphans returns the processes that run in the data directory: the postmaster and all
// its children make it their working directory. A process id that Postgres's lock file
// names, but which is another program by now, is not among them; then the file is
// removed, or Postgres would take that program for its own and refuse to start.
func orphans(data string) []int {
	place, err := filepath.EvalSymlinks(data)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if cwd, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd")); err == nil && cwd == place {
			if exe, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe")); err == nil && isPostgres(exe) {
				pids = append(pids, pid)
			}
		}
	}
	if pid := postmasterPID(data); len(pids) == 0 && pid != 0 && alive(pid) {
		_ = os.Remove(filepath.Join(data, pidFileName))
	}
	return pids
}

// isPostgres also knows a program whose file was replaced: the kernel adds " (deleted)".
func isPostgres(exe string) bool {
	name := filepath.Base(exe)
	return name == "postgres" || name == "postgres (deleted)"
}
