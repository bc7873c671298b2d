package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"fairlead/internal/filelock"
)

// memoryDir is a file system in memory, where there is one.
const memoryDir = "/dev/shm"

// memoryNeeded is how much of it must be free; containers often get 64 MB.
const memoryNeeded = 1 << 30

const scratchPattern = "fairlead-pg-*"

// scratch makes a directory for a server whose data is thrown away, in memory if
// possible, and removes those of processes that were killed before they could.
func scratch(parent string) (string, *filelock.Lock, error) {
	if parent == "" {
		parent = scratchParent()
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, scratchPattern)
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for a throwaway Postgres: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, fmt.Errorf("open the directory to the user of Postgres: %w", err)
	}
	// Under its own name the lock file exists only when it is held: a sweep of another
	// process must not find it free for a moment.
	fresh := filepath.Join(dir, lockName+".new")
	lock, err := filelock.TryAcquire(fresh)
	if err != nil {
		return "", nil, err
	}
	if err := os.Rename(fresh, filepath.Join(dir, lockName)); err != nil {
		lock.Release()
		return "", nil, fmt.Errorf("put the lock in place: %w", err)
	}
	return dir, lock, nil
}

func scratchParent() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &fs); err != nil || uint64(fs.Bsize)*fs.Bavail < memoryNeeded {
		return os.TempDir()
	}
	probe, err := os.MkdirTemp(memoryDir, "fairlead-probe-*")
	if err != nil {
		return os.TempDir()
	}
	_ = os.Remove(probe)
	return memoryDir
}

// sweep removes the directories whose owner is dead. What it may not remove stays.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, scratchPattern)) // the one error is a bad pattern
	for _, dir := range dirs {
		path := filepath.Join(dir, lockName)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		lock, err := filelock.TryAcquire(path)
		if err != nil {
			continue
		}
		if endOrphans(filepath.Join(dir, dataName), syscall.SIGQUIT) == nil {
			_ = os.RemoveAll(dir)
		}
		lock.Release()
	}
}

// postmasterPID reads the process id out of the data directory's lock file, 0 if there is none.
func postmasterPID(data string) int {
	lines := pidFileLines(data)
	if len(lines) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil || pid <= 1 {
		return 0
	}
	return pid
}
