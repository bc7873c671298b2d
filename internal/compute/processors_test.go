package compute

import (
	"runtime"
	"testing"
)

// Pools are sized by processors, whatever Go's scheduler may run at once.
func TestSpareLeavesProcessorsAsTheyAre(t *testing.T) { //nolint:paralleltest // GOMAXPROCS is the process's
	before := Processors()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	Spare()
	if now := runtime.GOMAXPROCS(0); Processors() != before || now != 2*before {
		t.Errorf("%d processors, and %d goroutines at once; want %d and %d", Processors(), now, before, 2*before)
	}
}
