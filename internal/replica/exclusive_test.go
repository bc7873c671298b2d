package replica

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

// nodeIDs changes the fleet's setting and rings the bell.
func (f *feed) nodeIDs(key fleet.Key, setting string) {
	f.set(func(f *feed) {
		f.fleets[key].nodeIDs = setting
		f.fleets[key].epoch++
	})
}

// Where node ids are exclusive the later client of one is refused while the earlier one lives:
// streams of one service are of two clients, those of several may be of one.
func TestT41_NodeIDsCanBeExclusive(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.attach(id, "n") // of before
		w.attach(id, "n")
		w.feed.nodeIDs(key, fleet.NodeIDsExclusive)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		open := func(node, kind string) (xds.Attachment, error) {
			return w.Attach(t.Context(), id, fleet.Node{ID: node}, xds.StreamInfo{Protocol: kind})
		}
		refused := func(node, kind string) {
			t.Helper()
			_, err := open(node, kind)
			if !errors.Is(err, fleet.ErrForbidden) || !strings.Contains(err.Error(), "give each client an id of its own") {
				t.Errorf("%s, %s: %v", node, kind, err)
			}
		}
		refused("n", "delta ADS")
		refused("n", "SotW ADS")
		for _, kind := range []string{"SotW CDS", "SotW LDS", "SotW EDS", "SotW EDS", "delta RDS", "delta RDS"} {
			w.attachAs(id, "types", kind)
		}
		refused("types", "delta CDS")
		refused("types", "SotW LDS")
		w.attachAs(id, "another", "delta ADS").Detach(true)
		first := w.attachAs(id, "another", "delta ADS")
		refused("another", "delta ADS")
		first.Detach(false)
		w.attachAs(id, "another", "delta ADS")
		if all, _ := w.nodes(key); all != 3 {
			t.Errorf("%d nodes, want 3", all)
		}
		w.feed.nodeIDs(key, fleet.NodeIDsShared)
		w.Wake(key.Fleet, false)
		synctest.Wait()
		w.attach(id, "n")
	})
}

// On another server it is so as far as the database knows; a stream beside another one asks
// as well.
func TestT41_NodeIDsAreExclusiveAcrossServers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.feed.nodeIDs(key, fleet.NodeIDsExclusive)
		w.left("n", fleet.LastStream{Live: true, LiveAs: []string{"SotW LDS", "delta ADS"}})
		for _, kind := range []string{"delta ADS", "SotW ADS", "delta LDS"} {
			if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: kind}); !errors.Is(err, fleet.ErrForbidden) {
				t.Errorf("%s: %v", kind, err)
			}
		}
		w.attachAs(id, "n", "SotW EDS")
		if _, err := w.Attach(t.Context(), id, fleet.Node{ID: "n"}, xds.StreamInfo{Protocol: "delta ADS"}); !errors.Is(err, fleet.ErrForbidden) {
			t.Errorf("beside a stream of another service: %v", err)
		}
		w.feed.set(func(f *feed) { f.hangs = true })
		w.attachAs(id, "n", "delta ADS") // a database that is away refuses nobody
	})
}

// What a client is told, and that its neighbour goes on; on two servers the earlier one's lease
// has to run out when its server has died.
func TestT41_AClientWithATakenNodeIDIsToldSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNeighbours(t, true)
		defer n.stop()
		n.db.nodeIDs(n.db.key, fleet.NodeIDsExclusive)
		n.publish("c", "d", "r", "l")
		n.victim.connect(n.servers[0])
		synctest.Wait()
		n.act(n.victim)
		time.Sleep(2 * time.Second) // the other server has heard
		for _, s := range n.servers {
			n.thief.connect(s)
			synctest.Wait()
			time.Sleep(time.Second)
			n.thief.mu.Lock()
			err := n.thief.ended
			n.thief.mu.Unlock()
			if st, _ := status.FromError(err); st.Code() != codes.PermissionDenied || !strings.Contains(st.Message(), "node_ids of this fleet is exclusive") {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		n.publish("c")
		n.act(n.victim)
		n.hasAll("after a change", "c", "d", "r", "l")

		n.servers[0].line.set(func(l *line) { l.dead = true })
		n.servers[0].stop()
		n.servers[0] = n.start()
		time.Sleep(10 * time.Second)
		n.victim.connect(n.servers[1])
		synctest.Wait()
		n.act(n.victim)
		n.publish("d")
		n.act(n.victim)
		n.hasAll("after its server", "c", "d", "r", "l")
	})
}

// asking counts the pasts that are asked for.
type asking struct {
	*feed
	pasts atomic.Int64
}

func (f *asking) LastStreams(ctx context.Context, key fleet.Key, nodes []fleet.AskedNode) ([]fleet.LastStream, error) {
	f.pasts.Add(1)
	return f.feed.LastStreams(ctx, key, nodes)
}

// TestT41_StreamsThatCannotCollideCostNoQuery: an Envoy with services of single types opens one for
// the endpoints of each of its clusters.
func TestT41_StreamsThatCannotCollideCostNoQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &asking{feed: newFeed()}
		w := setupFeed(t, f, f.feed)
		synctest.Wait()
		key, id, _ := w.newFleet(cluster("c", "1"))
		w.feed.nodeIDs(key, fleet.NodeIDsExclusive)
		w.attachAs(id, "n", "SotW CDS")
		before := f.pasts.Load()
		for range 100 {
			w.attachAs(id, "n", "SotW EDS")
		}
		if n := f.pasts.Load() - before; n > 0 {
			t.Errorf("100 streams for endpoints cost %d queries, want none", n)
		}
		w.attachAs(id, "n", "SotW LDS")
		if n := f.pasts.Load() - before; n != 1 {
			t.Errorf("one for listeners cost %d queries, want one", n)
		}
	})
}
