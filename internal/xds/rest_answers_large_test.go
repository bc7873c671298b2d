package xds_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestLargeT40_AnswersThatWereReadAreNotKept: sessions whose polls were answered keep no JSON of it. One token has thousands, each for other names. It runs alone.
func TestLargeT40_AnswersThatWereReadAreNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := xdstest.New(t)
		const size, polls = 4 << 20, 30
		w.Publish(xdstest.Put(fleet.Cluster, "large", "1", xdstest.Padding(size)))
		live := func() int64 {
			var m runtime.MemStats
			for range 3 { // what lies in pools goes with the second
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc) //nolint:gosec // of memory
		}
		before := live()
		for i := range polls {
			p := w.Poller("n1", fleet.Cluster, "large", fmt.Sprint("none", i))
			p.Query = "?wait=0"
			if a := p.Poll(); a.Code != http.StatusOK || len(a.Body) < size {
				t.Fatalf("got %.100q", a)
			}
		}
		synctest.Wait()
		if grown := live() - before; grown > 5*size {
			t.Errorf("%d answers of %d MiB were read, and the server keeps %d MiB", polls, size>>20, grown>>20)
		}
		w.Server.Drain()
		synctest.Wait()
	})
}

// unread is a writer whose client reads nothing until it is closed.
type unread struct {
	*httptest.ResponseRecorder
	reads chan struct{}
}

func (u unread) Write(b []byte) (int, error) {
	<-u.reads
	return len(b), nil
}

// TestLargeT40_AnswersThatAreNotReadShareTheirRoom: answers of a tenant that nobody reads have 128 MiB, with what they may become. One more is told so, which is no refusal
// by its client, and small ones have room beside them. Those that get the same share it.
func TestLargeT40_AnswersThatAreNotReadShareTheirRoom(t *testing.T) {
	polled(t, func(t *testing.T, w *xdstest.World) {
		w.Publish(append(cluster("small", "1"), xdstest.Put(fleet.Cluster, "large", "1", xdstest.Padding(10<<20)))...)
		reads := make(chan struct{})
		for i := range 6 { // two of each
			p := w.Poller(fmt.Sprint("n", i), fleet.Cluster, "large", fmt.Sprint("none", i/2))
			go w.Server.ServeHTTP(unread{httptest.NewRecorder(), reads}, p.Request(t.Context()))
			synctest.Wait()
		}
		last := w.Poller("last", fleet.Cluster, "large", "none")
		last.Query = "?wait=0"
		for range 4 {
			if a := last.Poll(); a.Code != http.StatusServiceUnavailable || !strings.Contains(a.Words, "not read yet") {
				t.Errorf("beside three answers that are not read another one is %.100q", a)
			}
		}
		w.Poller("other", fleet.Cluster, "small").Want("200 clusters small@1")
		close(reads)
		synctest.Wait()
		last.Want("200 clusters large@1")
		last.Want("304")
		if n := len(w.Refusals()); n != 0 {
			t.Errorf("%d refusals were told of what did not go out", n)
		}
	})
}
