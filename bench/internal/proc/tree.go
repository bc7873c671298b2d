package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// TreeCPU returns the time that a process and all that descend from it have run for, as far
// as they are alive.
func TreeCPU(pid int) (sum time.Duration) {
	for _, pid := range append(descendants(pid), pid) {
		if ran, err := CPU(pid); err == nil {
			sum += ran
		}
	}
	return sum
}

// Usage is what several processes use: CPU since each was started, with the children that it has waited for, and the memory in which what they
// share counts once.
type Usage struct {
	CPU time.Duration
	PSS int64
}

// Below is what all that descend from a process use. It fails where another user's memory may not be read.
func Below(pid int) (u Usage, err error) {
	for _, pid := range descendants(pid) {
		own, err := CPU(pid)
		if err != nil {
			continue // it has just ended, and its parent has its time
		}
		pss, err := pssOf(pid)
		if err != nil {
			return u, err
		}
		u.CPU += own + waitedFor(pid)
		u.PSS += pss
	}
	return u, nil
}

// fields are those of /proc/PID/stat behind the name, which may hold anything: state, parent, and so on.
func fields(pid string) [][]byte {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil // it has just ended
	}
	return bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
}

// descendants does not name the process itself.
func descendants(pid int) (out []int) {
	children := make(map[int][]int)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		name := filepath.Base(filepath.Dir(file))
		if f := fields(name); len(f) > 1 {
			own, _ := strconv.Atoi(name)
			parent, _ := strconv.Atoi(string(f[1]))
			children[parent] = append(children[parent], own)
		}
	}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		out = append(out, children[next[0]]...)
		next = append(next, children[next[0]]...)
	}
	return out
}

// waitedFor is the time of the children of a process that have ended.
func waitedFor(pid int) (ran time.Duration) {
	const ticks = 100 // in a second
	if f := fields(strconv.Itoa(pid)); len(f) > 14 {
		for _, field := range f[13:15] { // cutime, cstime
			n, _ := strconv.Atoi(string(field))
			ran += time.Duration(n) * time.Second / ticks
		}
	}
	return ran
}

// pssOf is 0 for a process that has just ended.
func pssOf(pid int) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	switch {
	case os.IsNotExist(err):
		return 0, nil
	case err != nil:
		if f := fields(strconv.Itoa(pid)); len(f) == 0 || string(f[0]) == "Z" {
			return 0, nil
		}
		return 0, err
	}
	_, rest, _ := bytes.Cut(b, []byte("\nPss:"))
	var kb int64
	_, _ = fmt.Sscan(string(rest[:min(len(rest), 40)]), &kb)
	return kb << 10, nil
}
