package xds

import (
	"slices"
	"sync/atomic"

	"fairlead/internal/snapshot"
)

// lists are the lists of names that requests brought lately, as their bytes: thousands of streams
// say the same, and in state of the world each ACK says all of it again. A list that is known is
// hashed once and not name by name. It is safe for concurrent use; nil knows none.
type lists struct {
	known atomic.Pointer[[]*knownList] // newest first
}

// knownList is an encoded list of names, from its first field to its last. It does not change; streams share it.
type knownList struct {
	listID
	head, tail [32]byte
	names      counted
}

// listID identifies an encoded list of names; the zero one is none.
type listID struct {
	size int
	id   snapshot.ID
}

const (
	// nameTag begins a field of names, of either protocol.
	nameTag = sotwNames<<3 | 2
	// leastList is what is worth remembering, in bytes.
	leastList = 1 << 10
	maxLists  = 16
	// maxOwn is how many lists are remembered of one stream: one of each type that it asks for by many names.
	maxOwn = 4
	// maxTries is how often a list of one request is hashed to find out whether it is one that is known.
	maxTries = 4
)

// listOf returns b, which is large enough to be worth it, as a known list.
func listOf(b []byte, names counted) *knownList {
	return &knownList{listID{len(b), snapshot.IDOf(b)}, [32]byte(b), [32]byte(b[len(b)-32:]), names}
}

// begins reports whether b begins with the list. It hashes what looks like it, which uses up a try.
func (k *knownList) begins(b []byte, tries *int) bool {
	if k.size > len(b) || k.head != [32]byte(b) || k.tail != [32]byte(b[k.size-32:]) || *tries == 0 {
		return false
	}
	*tries--
	return k.id == snapshot.IDOf(b[:k.size])
}

// find returns the list that b begins with; nil: it is not known.
func (l *lists) find(b []byte, tries *int) *knownList {
	if l == nil || len(b) < leastList {
		return nil
	}
	all := l.known.Load()
	if all == nil {
		return nil
	}
	for _, k := range *all {
		ends := k.size == len(b) || k.size < len(b) && b[k.size] != nameTag
		if ends && k.begins(b, tries) {
			return k
		}
	}
	return nil
}

// add remembers a list. Of two that come at one moment one may be forgotten.
func (l *lists) add(k *knownList) {
	if l == nil {
		return
	}
	next := make([]*knownList, 1, maxLists)
	next[0] = k
	if all := l.known.Load(); all != nil {
		next = append(next, (*all)[:min(len(*all), maxLists-1)]...)
	}
	l.known.Store(&next)
}

// ownLists are the lists that one stream brought lately, newest first. A stream of state of the world says all names again with each one
// that it adds: of those it said before costs no more than their bytes. It is for one goroutine; nil knows none.
type ownLists []*knownList

// find returns the list that b begins with, others may follow; nil: it is not known.
func (l *ownLists) find(b []byte, tries *int) *knownList {
	if l == nil || len(b) < leastList {
		return nil
	}
	for _, k := range *l {
		if k.begins(b, tries) {
			return k
		}
	}
	return nil
}

// add remembers a list in the place of the one that it goes on from, if it does.
func (l *ownLists) add(k *knownList, from listID) {
	if l == nil {
		return
	}
	*l = slices.DeleteFunc(*l, func(o *knownList) bool { return o.listID == from || o.listID == k.listID })
	*l = slices.Insert((*l)[:min(len(*l), maxOwn-1)], 0, k)
}
