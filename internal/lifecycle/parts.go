package lifecycle

import (
	"runtime"
	"time"
)

const (
	// part is how many goroutines are woken together, for each processor. What they do takes about a millisecond, and so long
	// may what comes from the network have to wait for a processor.
	part   = 64
	pause  = time.Millisecond
	pauses = 10 // before each further part, at most: some may wait for something else
)

// InParts wakes n goroutines, some at a time, with a pause after each part: thousands that are runnable at once keep all others from a
// processor. wake wakes those of an interval; looked reports whether they have done what they were woken for, for which
// there is a longer pause, nil: nobody knows. Its cost follows n. The caller holds no lock.
func InParts(n int, wake func(from, to int), looked func(from, to int) bool) {
	size := part * runtime.GOMAXPROCS(0)
	for from := 0; from < n; from += size {
		to := min(n, from+size)
		wake(from, to)
		if to == n {
			return
		}
		for range pauses {
			time.Sleep(pause)
			if looked == nil || looked(from, to) {
				break
			}
		}
	}
}
