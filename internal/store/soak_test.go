package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	soakWriters = 16
	soakReaders = 3
	soakNames   = 60
	soakPoll    = 100 * time.Millisecond
)

// soakTime is how long the writers write: FAIRLEAD_SOAK, such as "30s".
func soakTime(t *testing.T) time.Duration {
	v := os.Getenv("FAIRLEAD_SOAK")
	if v == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		t.Fatalf("FAIRLEAD_SOAK: %v", err)
	}
	return d
}

// state is what a reader believes the fleet to be.
type state map[store.Cursor]fleet.Row

// timeline is the revisions that writers were told of between two failovers.
type timeline struct {
	base fleet.Revision // where it began
	mu   sync.Mutex
	told map[fleet.Revision]int
}

func (l *timeline) tell(r store.Result) {
	if r.Changed > 0 {
		l.mu.Lock()
		l.told[r.Revision]++
		l.mu.Unlock()
	}
}

// gapless checks that every revision from base to head was told to exactly one writer.
func (l *timeline) gapless(t *testing.T, head fleet.Revision) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := l.base + 1; r <= head; r++ {
		if l.told[r] != 1 {
			t.Errorf("revision %d was told to %d writers", r, l.told[r])
		}
	}
	if n := len(l.told); n != int(head-l.base) {
		t.Errorf("%d revisions told, of %d to %d", n, l.base+1, head)
	}
}

// soak is one run: writers and readers of one fleet, and what was counted.
type soak struct {
	*world
	bell     *store.Notifier
	app      *store.Store
	failover sync.RWMutex // read-locked by a write, so that its answer belongs to one timeline
	line     *timeline
	rows     atomic.Int64
	writes   atomic.Int64
	idle     atomic.Int64 // writes that changed nothing
	stale    atomic.Int64 // refused preconditions
}

func TestSoakWritersAndReaders(t *testing.T) {
	w := setup(t)
	total := soakTime(t)
	s := &soak{world: w, bell: store.NewNotifier(store.NotifierConfig{URL: w.db.App}), line: &timeline{told: map[fleet.Revision]int{}}}
	s.app = w.db.Open(t, store.Config{URL: w.db.App, Bell: s.bell, MaxConns: 20})
	run(t, s.bell.Run)
	readers := make([]*reader, soakReaders)
	stop := make(chan struct{})
	var reading, writing sync.WaitGroup
	for i := range readers {
		readers[i] = s.reader(t)
		reading.Go(func() { readers[i].run(stop) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), total)
	defer cancel()
	for i := range soakWriters {
		writing.Go(func() { s.write(ctx, i) })
	}
	first := s.disturb(ctx, total)
	writing.Wait()

	head := s.head(0)
	s.line.gapless(t, head)
	close(stop)
	reading.Wait()
	truth := w.load()
	var reloads, samples int64
	for i, r := range readers {
		if r.at != truth.At {
			t.Errorf("reader %d ends at %+v, the database is at %+v", i, r.at, truth.At)
		}
		if d := differences(r.state, truth.Rows); d != "" {
			t.Errorf("reader %d ends with another state: %s", i, d)
		}
		samples += r.verify(t)
		reloads += r.reloads
		t.Logf("reader %d: %d wakes, %d catch-ups, %d rows, %d reloads", i, r.wakes.Load(), r.catchUps, r.rows, r.reloads)
	}
	t.Logf("%v: %d revisions on the first timeline, then %d to %d on the second; %d resources changed, %d writes without a change, %d refused as stale; "+
		"gaps 0, %d states in mid-run compared with the history", total, first, s.line.base+1, head, s.rows.Load(), s.idle.Load(), s.stale.Load(), samples)
	if reloads < 2*soakReaders || samples == 0 || s.idle.Load() == 0 || s.stale.Load() == 0 {
		t.Error("the run was blind: every reader loads once and reloads after the failover at least, and some writes come to nothing")
	}
}

// disturb rolls back, compacts, breaks the listeners and fails over, spread over the
// run. It returns the head of the first timeline.
func (s *soak) disturb(ctx context.Context, total time.Duration) (first fleet.Revision) {
	at := time.NewTicker(total / 6)
	defer at.Stop()
	for step := 1; ; step++ {
		select {
		case <-ctx.Done():
			return first
		case <-at.C:
		}
		head := s.head(20) // on a slow machine it waits for something to disturb
		switch step {
		case 1:
			s.rollback(ctx, head/2)
		case 2:
			s.ok(s.app.Compact(ctx, s.tenant, s.fleet, store.Floors{Tombstones: head - 5, History: head / 2}))
		case 3:
			first = s.failOver()
		case 4:
			terminate(s.T, s.db, "fairlead-listener")
		case 5:
			s.ok(s.app.Compact(ctx, s.tenant, s.fleet, store.Floors{Tombstones: head - 50, History: head - 200}))
			s.rollback(ctx, head-min(100, head/10))
		}
	}
}

// head waits until the fleet is at revision least at least.
func (s *soak) head(least fleet.Revision) (head fleet.Revision) {
	until(s.T, "revisions are made", func() bool {
		head = fleet.Revision(s.count(`SELECT revision FROM fleet_heads`))
		return head >= least
	})
	return head
}

func (s *soak) rollback(ctx context.Context, to fleet.Revision) {
	s.failover.RLock()
	defer s.failover.RUnlock()
	r, err := s.app.Rollback(ctx, s.tenant, s.fleet, to, store.Write{Actor: actor})
	s.ok(err)
	s.line.tell(r)
}

// write changes a few resources at a time until ctx ends.
func (s *soak) write(ctx context.Context, n int) {
	rnd := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // a test's dice
	for i := 0; ctx.Err() == nil; i++ {
		w := store.Write{Actor: actor}
		for _, name := range rnd.Perm(soakNames)[:1+rnd.IntN(5)] {
			c := put(fleet.Types()[name%fleet.NumTypes], fmt.Sprint("r", name), fmt.Sprint(rnd.IntN(50)))
			if rnd.IntN(4) == 0 {
				c = del(c.Type, c.Name)
			}
			if rnd.IntN(20) == 0 {
				c.IfMatch = `"1-00000000"`
			}
			w.Changes = append(w.Changes, c)
		}
		s.once(w)
	}
}

func (s *soak) once(w store.Write) {
	s.failover.RLock()
	defer s.failover.RUnlock()
	r, err := s.app.Apply(context.WithoutCancel(s.Context()), s.tenant, s.fleet, w)
	s.writes.Add(1)
	switch {
	case err != nil && w.Changes != nil && isStale(err):
		s.stale.Add(1)
	case err != nil:
		s.Error(err)
	case r.Changed == 0:
		s.idle.Add(1)
	default:
		s.rows.Add(int64(r.Changed))
		s.line.tell(r)
	}
}

// failOver makes the database what it was a few revisions ago, as the promotion of a
// copy that was behind does, and begins another timeline. Readers are not told.
func (s *soak) failOver() (lost fleet.Revision) {
	s.failover.Lock()
	defer s.failover.Unlock()
	head := s.head(0)
	s.line.gapless(s.T, head)
	back := head - min(20, head/2)
	s.exec(`DO $$
	DECLARE r bigint := ` + fmt.Sprint(int64(back)) + `;
	BEGIN
	  DELETE FROM resource_refs;
	  DELETE FROM resources WHERE revision > r;
	  DELETE FROM resource_history WHERE revision > r;
	  DELETE FROM fleet_history WHERE revision > r;
	  INSERT INTO resources (tenant_id, fleet_id, type, name, variant, revision, deleted, selector, priority, ttl_ms, labels, description, version,
	         doc_hash, body_hash, derived, derive_version, summary, bytes, created_at, created_by, updated_at, updated_by)
	  SELECT l.* FROM (SELECT DISTINCT ON (type, name, variant) * FROM resource_history ORDER BY type, name, variant, revision DESC) l
	  ON CONFLICT DO NOTHING;
	  UPDATE fleet_heads SET revision = r, token = (SELECT token FROM fleet_history WHERE revision = r), compacted = least(compacted, r),
	         history_from = least(history_from, r);
	END $$`)
	s.line = &timeline{base: back, told: map[fleet.Revision]int{}}
	return head
}

// reader follows the fleet through the production feed: listener, poll and CatchUp.
type reader struct {
	*soak
	node                    *store.Store
	dirty                   chan struct{}
	wakes                   atomic.Int64
	at                      fleet.Position
	state                   state
	catchUps, rows, reloads int64
	samples                 map[fleet.Position]state
}

func (s *soak) reader(t *testing.T) *reader {
	r := &reader{soak: s, node: s.db.NodeStore(t), dirty: make(chan struct{}, 1), state: state{}, samples: map[fleet.Position]state{}}
	run(t, store.NewListener(store.ListenerConfig{URL: s.db.Node, Wake: func(f fleet.ID, all bool) {
		if !all && f != s.fleet {
			t.Errorf("woken for fleet %s", f)
		}
		r.wakes.Add(1)
		select {
		case r.dirty <- struct{}{}:
		default: // already marked
		}
	}}).Run)
	return r
}

// run ends with a last look after stop.
func (r *reader) run(stop <-chan struct{}) {
	poll := time.NewTicker(soakPoll)
	defer poll.Stop()
	for last := false; !last; {
		select {
		case <-r.dirty:
		case <-poll.C:
		case <-stop:
			last = true
		}
		cs, err := r.node.CatchUp(r.Context(), []fleet.Known{{Key: r.key(), At: r.at}})
		if err != nil {
			r.Error(err)
			return
		}
		r.catchUps++
		for _, c := range cs {
			r.take(c)
		}
	}
}

func (r *reader) take(c fleet.Change) {
	if c.Gone {
		r.Error("the fleet is said to be gone")
		return
	}
	if c.Reload {
		r.reloads++
		r.state = state{}
	}
	for _, row := range c.Rows {
		k := store.Cursor{Type: row.Type, Name: row.Name, Variant: row.Variant}
		if row.Revision > c.At.Revision || !c.Reload && row.Revision <= r.at.Revision {
			r.Errorf("from %d to %d, reload %v: a row of revision %d, deleted %v", r.at.Revision, c.At.Revision, c.Reload, row.Revision, row.Deleted)
		}
		if row.Deleted {
			delete(r.state, k)
		} else {
			r.state[k] = row
		}
		r.rows++
	}
	r.at = c.At
	if r.catchUps%10 == 0 {
		r.samples[r.at] = maps.Clone(r.state)
	}
}

// verify compares what the reader held in mid-run with the history, as far as it is kept.
func (r *reader) verify(t *testing.T) (n int64) {
	t.Helper()
	for p, held := range r.samples {
		if r.count(`SELECT count(*) FROM fleet_history WHERE revision = $1 AND token = $2`, int64(p.Revision), p.Token.String()) == 0 {
			continue // compacted, or lost in the failover
		}
		rows, err := r.super.Query(t.Context(), `
			SELECT type, name, variant, version FROM (SELECT DISTINCT ON (type, name, variant) * FROM resource_history WHERE revision <= $1
			 ORDER BY type, name, variant, revision DESC) l WHERE NOT deleted`, int64(p.Revision))
		r.ok(err)
		var truth []fleet.Row
		for rows.Next() {
			var slug string
			var row fleet.Row
			r.ok(rows.Scan(&slug, &row.Name, &row.Variant, &row.Version))
			row.Type, _ = fleet.TypeFromSlug(slug)
			truth = append(truth, row)
		}
		r.ok(rows.Err())
		if d := differences(held, truth); d != "" {
			t.Errorf("at revision %d a reader held another state: %s", p.Revision, d)
		}
		n++
	}
	return n
}

// differences tells the first few by name and version.
func differences(held state, rows []fleet.Row) string {
	var out []string
	seen := map[store.Cursor]bool{}
	for _, row := range rows {
		if row.Deleted {
			continue
		}
		k := store.Cursor{Type: row.Type, Name: row.Name, Variant: row.Variant}
		seen[k] = true
		if have, ok := held[k]; !ok || have.Version != row.Version {
			out = append(out, fmt.Sprintf("%s %s is %q, held %q", row.Type, row.Name, row.Version, have.Version))
		}
	}
	for k := range held {
		if !seen[k] {
			out = append(out, fmt.Sprintf("%s %s is not there", k.Type, k.Name))
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf("%d differences, such as %s", len(out), out[0])
}
