package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
)

// recorder is production's, which reports what it is told of the world's fleet.
func (w *world) recorder() *delivery.Recorder {
	w.Helper()
	rec, err := delivery.New(delivery.Config{Server: fleet.NewServerID(), Name: "xds", Sink: w.node, Logger: slog.New(slog.NewTextHandler(w.Output(), nil))})
	w.ok(err)
	run(w.T, rec.Run)
	return rec
}

// patiently is until for what may take so long.
func (w *world) patiently(limit time.Duration, what string, done func() bool) time.Duration {
	w.Helper()
	begun := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		if <-tick.C; time.Since(begun) > limit {
			w.Fatalf("waited %v in vain: %s", limit, what)
		}
	}
	return time.Since(begun)
}

// rush has nodes connect at once that say much of themselves, and refuse two names each; a
// node that comes in the midst of that is recorded as well.
func rush(t *testing.T, nodes int, limit time.Duration) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.apply(put(fleet.Cluster, "c", "2"))
	rec := w.recorder()
	rec.Head(w.key(), fleet.Position{Revision: 2}, time.Now())
	metadata := []byte(`{"k":"` + strings.Repeat("x", 4<<10) + `"}`)
	streams := make([]*delivery.Stream, nodes)
	connect := func(id string) *delivery.Stream {
		return rec.Connect(w.key(), fleet.Node{ID: id, UserAgent: "envoy", MetadataJSON: metadata}, delivery.StreamInfo{Protocol: "delta ADS"})
	}
	for i := range streams {
		streams[i] = connect(fmt.Sprintf("n%05d", i))
	}
	connected := w.patiently(limit, "the nodes are recorded", func() bool { return w.count(`SELECT count(*) FROM node_status`) == nodes })
	done, cancel := context.WithCancel(t.Context())
	cancel() // nobody waits: the test is about what is recorded
	for _, s := range streams {
		s.Refused(done, []fleet.Refusal{
			{Type: fleet.Cluster, Name: "c", Version: "v2", Revision: 2, Detail: "no such filter", Action: fleet.ActionRemoved},
			{Type: fleet.Cluster, Name: "d", Version: "v2", Revision: 2, Detail: "no such filter", Action: fleet.ActionRemoved},
		})
		s.Settled(2)
	}
	defer connect("late").Close(true)
	late, most := time.Duration(0), 0
	begun := time.Now()
	refused := w.patiently(limit, "the refusals are recorded", func() bool {
		n := w.count(`SELECT count(*) FROM refusals`)
		if late == 0 && w.count(`SELECT count(*) FROM nodes WHERE node_id = 'late'`) == 1 {
			late, most = time.Since(begun), n
		}
		return n == 2*nodes
	})
	t.Logf("%d nodes with 4 KiB of metadata are recorded after %v, their %d refusals after %v; a node that came meanwhile after %v, with %d refusals",
		nodes, connected.Round(time.Millisecond), 2*nodes, refused.Round(time.Millisecond), late.Round(time.Millisecond), most)
}

// A crowd that connects and refuses at once is recorded in parts; the number of rows of a
// part is package delivery's business.
func TestACrowdThatRefusesIsRecorded(t *testing.T) { rush(t, 600, time.Minute) }

// The same at a size that no single transaction gets through in its time.
func TestSoakACrowdThatRefusesIsRecorded(t *testing.T) {
	if soakTime(t) < 10*time.Second {
		rush(t, 200, time.Minute)
		return
	}
	rush(t, 10_000, time.Minute)
}
