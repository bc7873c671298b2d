package compute

import (
	"runtime"
	"sync"
)

// Processors is how many processors the process has: GOMAXPROCS as it was when this was first called. Whoever sizes something by processors asks this, as Spare
// raises GOMAXPROCS.
var Processors = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// Spare lets Go's scheduler run twice as many goroutines at once as there are processors. It is for a server that answers small requests beside large computations: where
// computations have all that Go's scheduler may run, what comes from the network waits for up to 10 ms until one of them is preempted. The kernel lets a thread that was
// idle run within its own slices, which are shorter. A process calls it once, when it starts.
func Spare() { runtime.GOMAXPROCS(2 * Processors()) }
