package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fairlead/internal/fleet"
)

// pidFileName is Postgres's own lock in its data directory. Its first line is the
// process id, its eighth the state: "starting", "ready", "stopping".
const (
	pidFileName  = "postmaster.pid"
	pidStateLine = 7
)

// orphanPatience is how long each of the three ever rougher signals may take.
const orphanPatience = 10 * time.Second

// pollEvery is how often a process that is not our child is looked at.
const pollEvery = 10 * time.Millisecond

func pidFileLines(data string) []string {
	text, err := os.ReadFile(filepath.Join(data, pidFileName))
	if err != nil {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// endOrphans stops every Postgres process that still works in the data directory: a
// server that outlived a crash of ours, or the children of one that was killed. The
// caller holds the directory's lock, so none of them has an owner. The first signal is
// gentle's; a server that takes it ends in order.
func endOrphans(data string, gentle syscall.Signal) error {
	pids := orphans(data)
	for _, sig := range []syscall.Signal{gentle, syscall.SIGQUIT, syscall.SIGKILL} {
		if len(pids) == 0 {
			break
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, sig) // it may be gone by now
		}
		for deadline := time.Now().Add(orphanPatience); len(pids) > 0 && time.Now().Before(deadline); pids = orphans(data) {
			time.Sleep(pollEvery)
		}
	}
	if len(pids) > 0 {
		return fmt.Errorf("a Postgres of an earlier run (process %d) still uses %s and does not end: stop it by hand: %w",
			pids[0], data, fleet.ErrConflict)
	}
	return nil
}

// alive reports whether the process exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
