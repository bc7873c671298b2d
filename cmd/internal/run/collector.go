package run

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// mostRoom is how much a heap may grow, in bytes, before it is collected while a crowd connects: 10,000 streams take half of it.
	mostRoom = 1 << 30
	// memoryShare is the part of the memory that this process may use which that is at most.
	memoryShare = 4
	// collectorPause is the time between two looks at the collector.
	collectorPause = 100 * time.Millisecond
)

// computingRoom is the same, while the API server makes large computations: with what they leave it has less than 512 MiB. What they hold may be more
// than that. It grows by less than its own size then, and by half of it at least.
const computingRoom = 192 << 20

// room is by how much a heap may grow before it is collected.
type room struct {
	bytes uint64
	least uint64 // percent of what it grows by otherwise, which may be more
}

func (r room) percent(usual, roots uint64) uint64 {
	return max(usual*r.least/100, 100*r.bytes/max(roots, 1))
}

// collector has Go's garbage collector wait while a crowd connects, or while large computations are made. A heap that grows from next to nothing to
// that of thousands of streams is collected each time it has doubled, and whoever allocates has to help: on one processor other streams wait 0.2 to
// 0.7 s for it. So do other tenants' requests, for some ms each, beside computations that leave much behind. After that it is collected as always. It
// does nothing where GOGC is off. A process has one.
type collector struct {
	room uint64 // of a crowd, in bytes

	mu     sync.Mutex // guards all below
	rooms  []room     // that are asked for now: the largest counts
	usual  uint64     // GOGC when there are none, in percent
	cycles uint64     // there were when GOGC was set last
	look   *time.Timer
}

// theCollector is that of the process.
var theCollector = sync.OnceValue(newCollector)

// newCollector asks what memory there is: that of the container, or of the machine.
func newCollector() *collector {
	c := &collector{room: mostRoom}
	if memory, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)(); err == nil {
		c.room = min(c.room, memory/memoryShare)
	}
	return c
}

// crowd is told when a crowd comes to a port, and when it is over.
func (c *collector) crowd(here bool) { c.grows(room{c.room, 100}, here) }

// computing is told when large computations begin, and when they are over.
func (c *collector) computing(here bool) { c.grows(room{min(c.room, computingRoom), 50}, here) }

// grows lets the heap grow by r, or no more for this reason.
func (c *collector) grows(r room, here bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := len(c.rooms) == 0
	if here {
		c.rooms = append(c.rooms, r)
	} else {
		i := slices.Index(c.rooms, r)
		c.rooms = slices.Delete(c.rooms, i, i+1)
	}
	switch {
	case first:
		h := readHeap()
		if c.usual = h.gogc; c.usual == off {
			return
		}
		c.raise(h)
		c.look = time.AfterFunc(collectorPause, c.again)
	case c.look == nil: // GOGC is off
	case len(c.rooms) > 0:
		c.raise(readHeap())
	default:
		c.look.Stop()
		c.look = nil
		debug.SetGCPercent(int(c.usual)) //nolint:gosec // it was one
	}
}

// again looks whether there was a collection: what is left by it counts from then on.
func (c *collector) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look == nil {
		return
	}
	if h := readHeap(); h.cycles != c.cycles {
		c.raise(h)
	}
	c.look.Reset(collectorPause)
}

// raise lets the heap grow by the largest room. c.mu is held.
func (c *collector) raise(h collected) {
	c.cycles = h.cycles
	percent := uint64(0)
	for _, r := range c.rooms {
		percent = max(percent, r.percent(c.usual, h.roots))
	}
	debug.SetGCPercent(int(percent)) //nolint:gosec // room is a GiB at most
}

// collected is what the collector goes by.
type collected struct {
	roots  uint64 // in bytes, of which GOGC is a percentage: what the last collection left of objects, stacks and globals
	cycles uint64 // collections until now
	gogc   uint64 // in percent, or off
}

const off = math.MaxUint64

func readHeap() (h collected) {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/gogc:percent"},
	}
	metrics.Read(s)
	for _, x := range s[:3] {
		h.roots += x.Value.Uint64()
	}
	h.cycles, h.gogc = s[3].Value.Uint64(), s[4].Value.Uint64()
	return h
}
