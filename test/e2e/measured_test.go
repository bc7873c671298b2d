package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/test/world"
)

// measured is a program whose memory is looked at.
type measured struct{ *world.Program }

// memory is a figure of the kernel's, in KiB.
func (p *measured) memory(t testing.TB, field string) int {
	t.Helper()
	for line := range strings.Lines(string(world.Read(t, fmt.Sprintf("/proc/%d/status", p.PID())))) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			world.Must(t, err)
			return n
		}
	}
	t.Fatalf("the kernel says no %s", field)
	return 0
}

// processor is how much processor time the program has had.
func (p *measured) processor(t testing.TB) time.Duration {
	t.Helper()
	return ticksOf(t, string(world.Read(t, fmt.Sprintf("/proc/%d/stat", p.PID()))), 11, 13) // in user mode, in the kernel
}

// ticksOf sums fields of a process's stat, which are numbered from its state on.
func ticksOf(t testing.TB, stat string, from, to int) time.Duration {
	t.Helper()
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < to {
		t.Fatalf("the kernel says of a process %q", stat)
	}
	var ticks int64
	for _, field := range fields[from:to] {
		n, err := strconv.ParseInt(field, 10, 64)
		world.Must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // of Linux, whatever the kernel's own clock
}

// withChildren is how much processor time a process and its children have had, those that have ended too. It reads what the kernel says of all processes.
func withChildren(t testing.TB, pid int) (all time.Duration) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	world.Must(t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		stat := string(b)
		switch fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); {
		case filepath.Base(filepath.Dir(file)) == strconv.Itoa(pid):
			all += ticksOf(t, stat, 11, 15) // with those of its children that have ended
		case len(fields) > 1 && fields[1] == strconv.Itoa(pid):
			all += ticksOf(t, stat, 11, 13)
		}
	}
	return all
}

// forgetPeak has VmHWM begin at what the program has now.
func (p *measured) forgetPeak(t testing.TB) {
	t.Helper()
	world.Must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0o200))
}
