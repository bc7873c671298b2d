package xds_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestT40_PollsThatWaitShareTheirRoom: the names of polls that wait have 64 MiB together of one tenant, whatever their sessions are; small polls have room
// beside them, and what was answered gives its room back.
func TestT40_PollsThatWaitShareTheirRoom(t *testing.T) {
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
