package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// elsewhere is a command that yields to all other programs, as if it had a machine of its own. Once it runs yieldsSession is called.
func elsewhere(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "chrt", append([]string{"--idle", "0", program}, args...)...) // nice 19 has its slice to the end: 3 ms for each of the programs that a change passes
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}                                          // of a session the kernel shares out the time among its processes alone
	return cmd
}

// yieldsSession has the session of a command that runs yield, where the kernel shares out the time among sessions.
func yieldsSession(cmd *exec.Cmd) error {
	err := os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", cmd.Process.Pid), []byte("19"), 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // no such kernel, or it has ended
		return nil
	}
	return err
}
