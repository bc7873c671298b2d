package childproc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// leftoverPatience is how long a killed leftover may take to be gone.
const leftoverPatience = 5 * time.Second

func writePIDFile(s Spec, pid int) error {
	if s.PIDFile == "" {
		return nil
	}
	if err := os.WriteFile(s.PIDFile, []byte(strconv.Itoa(pid)+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the pid file of %s: %w", filepath.Base(s.Path), err)
	}
	return nil
}

// endLeftover kills the process that the PID file names, if it still runs the program
// of s: ids are used again, so a number alone proves nothing.
func endLeftover(s Spec) error {
	if s.PIDFile == "" {
		return nil
	}
	text, err := os.ReadFile(s.PIDFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read the pid file of %s: %w", filepath.Base(s.Path), err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text))) // a file that holds no number names nobody
	if pid <= 1 || !runs(pid, s.Path) {
		return nil
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for deadline := time.Now().Add(leftoverPatience); runs(pid, s.Path); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s of an earlier run (process %d) does not end: stop it by hand", filepath.Base(s.Path), pid)
		}
	}
	return nil
}

func runs(pid int, path string) bool {
	return filepath.Base(program(pid)) == filepath.Base(resolved(path))
}

func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
