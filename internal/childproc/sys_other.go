//go:build !linux

package childproc

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dieWithUs does nothing here: no call exists. The PID file is what is left.
func dieWithUs(*syscall.SysProcAttr, syscall.Signal) {}

// program returns the file that the process runs, "" if it is gone.
func program(pid int) string {
	out, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
