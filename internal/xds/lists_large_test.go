//go:build !race || soak

package xds_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// Polls of 3 MB: the race detector makes most of a minute of what takes seconds, and has smaller ones in the other
// tests.

// TestLargeT40_PollsThatWaitShareTheirRoom: the names of polls that wait have 64 MiB together of one tenant, whatever their sessions are; small polls have room
// beside them, and what was answered gives its room back.
func TestLargeT40_PollsThatWaitShareTheirRoom(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(route("r", "1"))
		names := make([]string, 6000)
		for i := range names {
			names[i] = fmt.Sprintf("%0500d", i) // 3 MB
		}
		poll := func(node string, names ...string) *xdstest.Poller {
			p := w.Poller(node, fleet.Secret, names...)
			p.Query = "?wait=0"
			return p
		}
		var waiting []<-chan xdstest.Polled
		full := ""
		for i := 0; full == "" && i < 40; i++ {
			p := poll(fmt.Sprint("n", i), names...)
			switch a := p.Poll(); a.Code {
			case http.StatusOK:
				p.Query = "?wait=50"
				waiting = append(waiting, later(p))
			case http.StatusServiceUnavailable:
				full = a.Words
			default:
				t.Fatalf("got %q", a)
			}
		}
		if len(waiting) < 15 || len(waiting) > 22 || !strings.Contains(full, "room") {
			t.Fatalf("%d polls of 3 MB wait, and one more is told %q", len(waiting), full)
		}
		for _, answer := range waiting {
			pending(t, answer)
		}
		if a := poll("small", "s").Poll(); a.Code != http.StatusOK {
			t.Errorf("a small poll got %q", a)
		}
		time.Sleep(51 * time.Second)
		for _, answer := range waiting {
			if a := <-answer; a.Code != http.StatusNotModified {
				t.Errorf("a poll that waited got %q", a)
			}
		}
		if a := poll("one more", names...).Poll(); a.Code != http.StatusOK {
			t.Errorf("there is room again, and a poll got %q", a)
		}
	})
}

// TestLargeT08_SessionsKeepNoLists: names that streams share are kept once, and a version that is none of ours is not kept.
func TestLargeT08_SessionsKeepNoLists(t *testing.T) { // not parallel: the heap is counted
	w := xdstest.New(t)
	w.Publish(route("r", "1"))
	names := make([]string, 6000)
	for i := range names {
		names[i] = fmt.Sprintf("%0500d", i)
	}
	poll := func(node, version string, names ...string) {
		p := w.Poller(node, fleet.Secret, names...)
		p.Version, p.Query = version, "?wait=0"
		if a := p.Poll(); a.Code != http.StatusOK {
			t.Fatalf("got %q", a)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for what, x := range map[string]struct {
		version string
		names   []string
	}{"lists": {"", names}, "versions": {strings.Repeat("v", 3<<20), []string{"s"}}} {
		poll(what, x.version, x.names...)
		before := heap()
		const more = 16
		for i := range more {
			poll(fmt.Sprint(what, i), x.version, x.names...)
		}
		if kept := int64(heap()) - int64(before); kept > more<<20 { //nolint:gosec // heaps are small
			t.Errorf("%d sessions keep %d bytes of their %s", more, kept, what)
		}
	}
}
