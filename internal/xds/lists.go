package xds

import (
	"sync/atomic"

	"fairlead/internal/snapshot"
)

// lists are the lists of names that requests brought lately, as their bytes: thousands of streams
// say the same, and in state of the world each ACK says all of it again. A list that is known is
// hashed once and not name by name. It is safe for concurrent use; nil knows none.
type lists struct {
	known atomic.Pointer[[]knownList] // newest first
}

// knownList is an encoded list of names, from its first field to its last.
type knownList struct {
	head  [32]byte
	size  int
	id    snapshot.ID
	names counted
}

const (
	// nameTag begins a field of names, of either protocol.
	nameTag = sotwNames<<3 | 2
	// leastList is what is worth remembering, in bytes.
	leastList = 1 << 10
	maxLists  = 16
)

// find returns the list that b begins with, if it is known.
func (l *lists) find(b []byte) (found knownList, ok bool) {
	if l == nil || len(b) < leastList {
		return found, false
	}
	all := l.known.Load()
	if all == nil {
		return found, false
	}
	for _, k := range *all {
		ends := k.size == len(b) || k.size < len(b) && b[k.size] != nameTag
		if ends && k.head == [32]byte(b) && k.id == snapshot.IDOf(b[:k.size]) {
			return k, true
		}
	}
	return found, false
}

// add remembers a list. Of two that come at one moment one may be forgotten.
func (l *lists) add(b []byte, names counted) {
	if l == nil || len(b) < leastList {
		return
	}
	next := make([]knownList, 1, maxLists)
	next[0] = knownList{[32]byte(b), len(b), snapshot.IDOf(b), names}
	if all := l.known.Load(); all != nil {
		next = append(next, (*all)[:min(len(*all), maxLists-1)]...)
	}
	l.known.Store(&next)
}
