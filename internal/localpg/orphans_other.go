//go:build !linux

package localpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// orphans returns the postmaster that the data directory's lock file names, if it runs.
// A process that is another program by now is none; then the file is removed, or
// Postgres would take that program for its own and refuse to start.
func orphans(data string) []int {
	pid := postmasterPID(data)
	if pid == 0 || !alive(pid) {
		return nil
	}
	out, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	if err == nil && filepath.Base(strings.TrimSpace(string(out))) == "postgres" {
		return []int{pid}
	}
	_ = os.Remove(filepath.Join(data, pidFileName))
	return nil
}
