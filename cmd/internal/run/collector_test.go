package run

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// wantRoom checks that the heap may grow by room and no more, give or take what was allocated meanwhile.
func wantRoom(t *testing.T, room uint64, when string) {
	t.Helper()
	h := readHeap()
	if grows := h.gogc * h.roots / 100; grows < room*9/10 || grows > room*11/10 {
		t.Errorf("%s, a heap of %d bytes may grow by %d, want %d", when, h.roots, grows, room)
	}
}

// TestTheCollectorWaitsForACrowd and no longer, and never for more than its room.
func TestTheCollectorWaitsForACrowd(t *testing.T) { //nolint:paralleltest // GOGC is the process's
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	runtime.GC()
	c := &collector{room: 256 << 20}
	c.crowd(true)
	wantRoom(t, c.room, "with a crowd")
	live := make([]byte, 64<<20)
	runtime.GC()
	c.again()
	wantRoom(t, c.room, "after a collection")
	c.crowd(true) // on another port
	c.crowd(false)
	wantRoom(t, c.room, "with one of two crowds")
	runtime.KeepAlive(live)
	c.crowd(false)
	if got := readHeap().gogc; got != 100 {
		t.Errorf("after the crowd GOGC is %d, want 100", got)
	}
	runtime.GC()
	c.again() // it was about to look
	if got := readHeap().gogc; got != 100 {
		t.Errorf("long after the crowd GOGC is %d, want 100", got)
	}
}

// TestTheCollectorWaitsForLargeComputations for less than for a crowd.
func TestTheCollectorWaitsForLargeComputations(t *testing.T) { //nolint:paralleltest // GOGC is the process's
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	runtime.GC()
	c := &collector{room: 512 << 20}
	c.computing(true)
	wantRoom(t, computingRoom, "beside computations")
	c.crowd(true)
	wantRoom(t, c.room, "with a crowd too")
	c.crowd(false)
	wantRoom(t, computingRoom, "after the crowd")
	c.computing(false)
	if got := readHeap().gogc; got != 100 {
		t.Errorf("after the computations GOGC is %d, want 100", got)
	}
	c.room = 64 << 20
	c.computing(true)
	defer c.computing(false)
	wantRoom(t, c.room, "in little memory")
}

// A heap that is larger than the room is collected as without a crowd.
func TestALargeHeapIsCollectedAsAlways(t *testing.T) { //nolint:paralleltest // GOGC is the process's
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	c := &collector{room: 1}
	c.crowd(true)
	defer c.crowd(false)
	if got := readHeap().gogc; got != 100 {
		t.Errorf("GOGC is %d, want 100", got)
	}
}

// TestALargeHeapGrowsByLessBesideComputations than it otherwise would, and by half of that at least: what it holds and what it grows by are bounded together.
func TestALargeHeapGrowsByLessBesideComputations(t *testing.T) { //nolint:paralleltest // GOGC is the process's
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	live := make([]byte, 64<<20)
	runtime.GC()
	h := readHeap()
	for _, at := range []struct{ room, want uint64 }{{h.roots * 3 / 4, 75}, {h.roots / 8, 50}} {
		c := &collector{room: at.room}
		c.computing(true)
		if got := readHeap().gogc; got < at.want-2 || got > at.want+2 {
			t.Errorf("a heap of %d bytes and a room of %d: GOGC is %d, want %d", h.roots, at.room, got, at.want)
		}
		c.computing(false)
	}
	runtime.KeepAlive(live)
}

func TestACollectorThatIsOffStaysOff(t *testing.T) { //nolint:paralleltest // GOGC is the process's
	usual := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(usual)
	c := newCollector()
	c.crowd(true)
	c.crowd(false)
	if got := debug.SetGCPercent(-1); got != -1 {
		t.Errorf("GOGC is %d, want off", got)
	}
}

func TestTheRoomIsAPartOfTheMemory(t *testing.T) {
	t.Parallel()
	if c := newCollector(); c.room == 0 || c.room > mostRoom {
		t.Errorf("room %d, want more than nothing and %d at most", c.room, mostRoom)
	}
}
