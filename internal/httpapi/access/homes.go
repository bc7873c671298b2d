package access

import (
	"sync"
	"time"
)

const (
	mostHomes = 1 << 16   // tokens and sessions
	homesKeep = time.Hour // without use
)

// Homes remembers of tokens and sessions, by their hashes, in which cell each was found good. Whoever has not the whole token finds nothing here, and fills it with nothing.
type Homes struct {
	now func() time.Time

	mu    sync.Mutex // guards known
	known recent[[32]byte, int]
}

// NewHomes knows none.
func NewHomes(now func() time.Time) *Homes {
	return &Homes{now: now, known: recent[[32]byte, int]{most: mostHomes, keep: homesKeep}}
}

// Of is the number of the cell.
func (h *Homes) Of(hash [32]byte) (cell int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cell, ok = h.known.look(hash); !ok {
		return 0, false
	}
	return h.known.get(h.now(), hash, func() int { return cell }), true // it is used
}

// Put remembers that it is good in the cell.
func (h *Homes) Put(hash [32]byte, cell int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.forget(hash)
	h.known.get(h.now(), hash, func() int { return cell })
}

// Forget is for what its cell does not know any more.
func (h *Homes) Forget(hash [32]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.forget(hash)
}

// Len is how many it remembers.
func (h *Homes) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.known.young) + len(h.known.old)
}
