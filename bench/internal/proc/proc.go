// Package proc reads the CPU time and the memory of a process, and how busy the machine is,
// from Linux's /proc.
package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// CPU returns the time that the live threads of pid have run for.
func CPU(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("process %d has no schedstat", pid)
	}
	var sum time.Duration
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has just ended
		}
		var ran time.Duration
		if _, err := fmt.Sscan(string(b), &ran); err != nil {
			return 0, fmt.Errorf("read %s: %w", f, err)
		}
		sum += ran
	}
	return sum, nil
}

// Memory is the resident size of a process and the highest that it was, in bytes.
type Memory struct {
	RSS  int64 `json:"rss"`
	Peak int64 `json:"peak"`
}

// MemoryOf reads the memory of pid.
func MemoryOf(pid int) (Memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	field := func(name string) int64 {
		_, rest, _ := bytes.Cut(b, []byte("\n"+name+":"))
		var kb int64
		_, _ = fmt.Sscan(string(rest[:min(len(rest), 40)]), &kb)
		return kb << 10
	}
	return Memory{RSS: field("VmRSS"), Peak: field("VmHWM")}, nil
}

// Quiesce waits until pid has run for less than 1 ms in each of five periods of 20 ms in a
// row, or until ctx ends.
func Quiesce(ctx context.Context, pid int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last, err := CPU(pid)
	for calm := 0; err == nil && calm < 5; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d did not come to rest: %w", pid, ctx.Err())
		case <-tick.C:
		}
		var now time.Duration
		if now, err = CPU(pid); now-last < time.Millisecond {
			calm++
		} else {
			calm = 0
		}
		last = now
	}
	return err
}

// Load is the time that the CPUs of the machine have been busy for.
type Load struct {
	Busy time.Duration
	CPUs int
}

// Machine reads the load of the machine since it was started.
func Machine() (l Load) {
	const ticks = 100 // in a second
	b, _ := os.ReadFile("/proc/stat")
	for i, line := range bytes.Split(b, []byte("\n")) {
		switch {
		case i == 0:
			for j, f := range bytes.Fields(line) {
				n, _ := strconv.Atoi(string(f)) // the first is a name
				if j != 4 && j != 5 {           // idle, iowait
					l.Busy += time.Duration(n) * time.Second / ticks
				}
			}
		case bytes.HasPrefix(line, []byte("cpu")):
			l.CPUs++
		}
	}
	return l
}

// WaitIdle waits until the machine has been idle for nine tenths of a second, for at most
// limit.
func WaitIdle(limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		before := Machine()
		time.Sleep(time.Second)
		if (Machine().Busy - before.Busy).Seconds() <= 0.1*float64(before.CPUs) {
			return
		}
	}
}
