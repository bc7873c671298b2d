package xds

import (
	"slices"
	"sync"

	"fairlead/internal/fleet"
)

// turns lets a few streams plan at a time, as many as there are processors. The others wait, in one line for each fleet, and
// the lines are served in turn: a stream waits for a step of each other fleet, however many streams those have that are
// to be told something at once. Its cost follows the streams that wait.
type turns struct {
	mu    sync.Mutex // guards what follows
	free  int
	lines map[fleet.Key]*line // of fleets with streams that wait
	next  []*line             // the same, in the order in which they are served
}

// line is the streams of a fleet that wait, in the order in which they came.
type line struct {
	key     fleet.Key
	waiting []chan<- struct{}
}

func newTurns(n int) *turns { return &turns{free: n, lines: make(map[fleet.Key]*line)} }

// takeFree takes a turn that is free, or a place in the line.
func (t *turns) takeFree(key fleet.Key, mine chan<- struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return true
	}
	l := t.lines[key]
	if l == nil {
		l = &line{key: key}
		t.lines[key] = l
		t.next = append(t.next, l)
	}
	l.waiting = append(l.waiting, mine)
	return false
}

// leave ends a turn: the first stream of the next line has it.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.next) == 0 {
		t.free++
		return
	}
	l := t.next[0]
	t.next = slices.Delete(t.next, 0, 1)
	l.waiting[0] <- struct{}{}
	if l.waiting = l.waiting[1:]; len(l.waiting) > 0 {
		t.next = append(t.next, l)
	} else {
		delete(t.lines, l.key)
	}
}

// turn is a stream's.
type turn struct {
	of   *turns
	key  fleet.Key
	mine chan struct{} // capacity 1; made when it has to wait first
	has  bool
}

// take waits for a turn, unless the stream has it. Nothing that waits for somebody else is done in one.
func (t *turn) take() {
	if t.has {
		return
	}
	if t.mine == nil {
		t.mine = make(chan struct{}, 1)
	}
	if !t.of.takeFree(t.key, t.mine) {
		<-t.mine
	}
	t.has = true
}

// leave ends the turn, if the stream has it.
func (t *turn) leave() {
	if t.has {
		t.has = false
		t.of.leave()
	}
}
