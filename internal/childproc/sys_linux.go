package childproc

import (
	"fmt"
	"os"
	"syscall"
)

// dieWithUs makes the kernel send sig to the child when the thread that started it ends.
func dieWithUs(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }

// program returns the file that the process runs, "" if it is gone.
func program(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return path
}
