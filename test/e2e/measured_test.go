package e2e

import (
	"fmt"
	"os"
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
	_, fields, _ := strings.Cut(string(world.Read(t, fmt.Sprintf("/proc/%d/stat", p.PID()))), ") ")
	var ticks int64
	for _, field := range strings.Fields(fields)[11:13] { // in user mode, in the kernel
		n, err := strconv.ParseInt(field, 10, 64)
		world.Must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // of Linux, whatever the kernel's own clock
}

// forgetPeak has VmHWM begin at what the program has now.
func (p *measured) forgetPeak(t testing.TB) {
	t.Helper()
	world.Must(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0o200))
}
