package access

import (
	"encoding/binary"
	"testing"
	"time"
)

func hashNumber(n int) (h [32]byte) {
	binary.BigEndian.PutUint64(h[:], uint64(n)) //nolint:gosec // it counts up
	return h
}

// TestHomesAreBounded: those that are used stay, whatever number of others comes, and nobody stays for ever.
func TestHomesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := NewHomes(func() time.Time { return now })
	used := hashNumber(0)
	h.Put(used, 3)
	for i := range 3 * mostHomes {
		h.Put(hashNumber(i+1), 1)
		if i%1000 == 0 {
			if cell, ok := h.Of(used); !ok || cell != 3 {
				t.Fatalf("after %d others: %d, %t", i, cell, ok)
			}
		}
	}
	if n := h.Len(); n > mostHomes {
		t.Errorf("%d are remembered", n)
	}
	h.Put(used, 2)
	if cell, ok := h.Of(used); !ok || cell != 2 {
		t.Errorf("%d, %t", cell, ok)
	}
	h.Forget(used)
	if _, ok := h.Of(used); ok {
		t.Error("what is forgotten is there")
	}
	h.Put(used, 2)
	for range 2 {
		now = now.Add(homesKeep)
		h.Put(hashNumber(1), 1)
	}
	if _, ok := h.Of(used); ok || h.Len() != 1 {
		t.Errorf("%t, %d after hours", ok, h.Len())
	}
}
