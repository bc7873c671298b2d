package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// TreeCPU returns the time that a process and all that descend from it have run for, as far
// as they are alive.
func TreeCPU(pid int) (sum time.Duration) {
	children := make(map[int][]int)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		own, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		// pid (name) state parent ..., and a name may hold anything.
		if f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]); len(f) > 1 {
			parent, _ := strconv.Atoi(string(f[1]))
			children[parent] = append(children[parent], own)
		}
	}
	var add func(int)
	add = func(pid int) {
		if ran, err := CPU(pid); err == nil {
			sum += ran
		}
		for _, child := range children[pid] {
			add(child)
		}
	}
	add(pid)
	return sum
}
