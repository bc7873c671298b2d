package store_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// ofContent are words of the statement that reads what fleets have.
const ofContent = "k.revision AS known"

// pair is a world whose database has a standby, and a store that reads there.
type pair struct {
	*world
	servers  *storetest.Pair
	standby  *store.Standby
	registry *metrics.Registry
	log      *lines
}

// setupPair has calls end when those of a server do, where hasty.
func setupPair(t *testing.T, hasty bool) *pair {
	t.Helper()
	t.Parallel()
	p := &pair{servers: storetest.NewPair(t)}
	p.world = &world{T: t, db: p.servers.DB, app: p.servers.Store(t), node: p.servers.NodeStore(t), super: p.servers.Connect(t, p.servers.Owner)}
	t.Cleanup(func() { _ = p.super.Close(context.Background()) })
	p.tenant, p.fleet = p.db.TenantWithFleetBy(t, p.app)
	p.awaitStandby()
	p.open(p.servers.Read, hasty)
	return p
}

// open has fleets read from there.
func (p *pair) open(url string, hasty bool) {
	p.Helper()
	c := store.StandbyConfig{URL: url, Patience: storetest.Patience, Rest: 100 * time.Millisecond}
	if hasty {
		c.Patience = 1
	}
	p.registry = metrics.New(metrics.XDS, metrics.Config{})
	p.log = &lines{}
	c.Metrics, c.Logger = p.registry.Standby, slog.New(slog.NewTextHandler(p.log, nil))
	p.standby = store.NewStandby(p.Context(), p.node, c)
	p.Cleanup(p.standby.Close)
}

// lines is a log.
type lines struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write is io.Writer's.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

// awaitStandby waits until the standby has replayed all that the primary has.
func (p *pair) awaitStandby() {
	p.Helper()
	conn := p.db.Connect(p.T, strings.Replace(p.servers.Read, "fairlead_node", "postgres", 1))
	defer conn.Close(p.Context()) //nolint:errcheck // it has only been read from
	var lsn string
	p.ok(p.super.QueryRow(p.Context(), "SELECT pg_current_wal_flush_lsn()::text").Scan(&lsn))
	until(p.T, "the standby has all", func() bool {
		var has bool
		p.ok(conn.QueryRow(p.Context(), "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", lsn).Scan(&has))
		return has
	})
}

// from reads what there is after a position, and what the fleet's cluster a says then.
func (p *pair) from(at fleet.Position) (fleet.Change, string) {
	p.Helper()
	cs, err := p.standby.CatchUp(p.Context(), []fleet.Known{{Key: p.key(), At: at}})
	p.ok(err)
	if len(cs) != 1 {
		p.Fatalf("%d changes after %+v", len(cs), at)
	}
	i := slices.IndexFunc(cs[0].Rows, func(r fleet.Row) bool { return r.Name == "a" })
	if i < 0 {
		return cs[0], ""
	}
	return cs[0], string(cs[0].Rows[i].Body)
}

func (p *pair) readings() map[string]float64 {
	p.Helper()
	all := map[string]float64{}
	for _, result := range []string{"read", "behind", "failed", "resting"} {
		all[result] = metricstest.Value(p.T, p.registry, `fairlead_standby_readings_total{result="`+result+`"}`)
	}
	return all
}

// Loads and what has changed are read from the standby, what a fleet had earlier too. The primary tells where the fleet is, and no more.
func TestFleetsAreReadFromAStandby(t *testing.T) {
	p := setupPair(t, false)
	p.apply(put(fleet.Cluster, "a", "1"), put(fleet.Cluster, "b", "B"))
	load, body := p.from(fleet.Position{})
	if !load.Reload || load.At.Revision != 1 || len(load.Rows) != 2 || body != "1" || load.Now.IsZero() {
		t.Errorf("a load is %+v", load)
	}
	last := load.At
	for i := 2; i < 30; i++ {
		p.apply(put(fleet.Cluster, "a", fmt.Sprint(i)))
		c, body := p.from(last)
		if c.Reload || c.At.Revision != fleet.Revision(i) || len(c.Rows) != 1 || body != fmt.Sprint(i) {
			t.Errorf("revision %d is %+v", i, c)
		}
		last = c.At
	}
	rows, err := p.standby.ResourcesAt(t.Context(), p.key(), 1)
	p.ok(err)
	if len(rows) != 1 || string(rows[0].Body) != "1" {
		t.Errorf("at revision 1 there was %+v", rows)
	}
	_, err = p.standby.ResourcesAt(t.Context(), p.key(), 77)
	p.is(err, fleet.ErrNotFound)
	rows, err = p.standby.ChangesUpTo(t.Context(), p.key(), 29)
	p.ok(err)
	if len(rows) != 30 {
		t.Errorf("%d rows of 29 revisions, want 30", len(rows))
	}
	for words, most := range map[string]int{ofContent: 29, "coalesce(x.deleted, true)": 2, "greatest($2 - 64": 1} {
		if primary, standby := p.servers.Asked(t, words); primary != 0 || standby < most {
			t.Errorf("%q: asked of the primary %d times, of the standby %d times", words, primary, standby)
		}
	}
	if got := p.readings(); got["read"] != 32 || got["failed"]+got["behind"]+got["resting"] != 0 {
		t.Errorf("readings: %v", got)
	}
	if cs, err := p.standby.CatchUp(t.Context(), []fleet.Known{{Key: p.key(), At: last}}); err != nil || len(cs) != 0 {
		t.Errorf("nothing has changed, and there is %+v, %v", cs, err)
	}
	p.ok(p.app.DeleteFleet(t.Context(), p.tenant, actor, p.fleet))
	if c, _ := p.from(last); !c.Gone {
		t.Errorf("the fleet is gone, and there is %+v", c)
	}
}

// What has ended a credential does not wait for the standby.
func TestCredentialsAreReadFromThePrimary(t *testing.T) {
	p := setupPair(t, false)
	load, _ := p.from(fleet.Position{})
	p.servers.OnStandby(t, "SELECT pg_wal_replay_pause()")
	made, err := p.app.CreateNodeCredential(t.Context(), p.tenant, p.fleet, actor, store.NodeCredential{Nodes: "*", Hash: [32]byte{1}})
	p.ok(err)
	c, _ := p.from(load.At)
	if !c.EpochMoved || len(c.Credentials) != 1 || c.Credentials[0].ID != made.ID {
		t.Errorf("a new credential is %+v", c)
	}
	if got := p.readings(); got["read"] != 1 || got["behind"] != 0 {
		t.Errorf("readings: %v", got)
	}
}

// A standby that is behind is waited for, and then not asked for a while. What is older is never told.
func TestAStandbyThatIsBehind(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	load, _ := p.from(fleet.Position{})
	p.servers.OnStandby(t, "SELECT pg_wal_replay_pause()")
	p.apply(put(fleet.Cluster, "a", "2"))
	storetest.Within(t, 2*time.Second, "a change beside a standby that stands still", func() {
		if c, body := p.from(load.At); c.At.Revision != 2 || body != "2" {
			t.Errorf("revision 2 is %+v", c)
		}
	})
	if c, body := p.from(fleet.Position{}); c.At.Revision != 2 || body != "2" {
		t.Errorf("a load is %+v", c)
	}
	rows, err := p.standby.ResourcesAt(t.Context(), p.key(), 1)
	p.ok(err)
	if len(rows) != 1 || string(rows[0].Body) != "1" {
		t.Errorf("at revision 1 there was %+v", rows)
	}
	if got := p.readings(); got["behind"] == 0 || got["read"] != 1 {
		t.Errorf("readings: %v", got)
	}
	p.servers.OnStandby(t, "SELECT pg_wal_replay_resume()")
	p.awaitRead(2)
	if warned, back := p.log.count("WARN"), p.log.count("read from the standby again"); warned != 1 || back != 1 {
		t.Errorf("%d warnings, %d times back:\n%s", warned, back, p.log.text.String())
	}
}

// Where the standby has rested, one reading finds out whether it is to be used again. One that asks it nothing, as of credentials alone, leaves that to the next one.
func TestAStandbyComesBackBesideReadingsThatDoNotAskIt(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	load, _ := p.from(fleet.Position{})
	p.servers.OnStandby(t, "SELECT pg_wal_replay_pause()")
	p.apply(put(fleet.Cluster, "a", "2"))
	p.from(load.At) // it is behind, and left alone
	p.servers.OnStandby(t, "SELECT pg_wal_replay_resume()")
	p.awaitStandby()
	now, _ := p.from(fleet.Position{})
	earlier := now.At
	earlier.Epoch-- // a credential has changed
	until(t, "the standby has rested", func() bool {
		before := p.readings()["resting"]
		p.from(earlier)
		return p.readings()["resting"] == before
	})
	before := p.readings()["read"]
	if p.from(fleet.Position{}); p.readings()["read"] == before {
		t.Errorf("the standby has all, and is not read: %v", p.readings())
	}
}

// awaitRead waits until the standby is read again, and the fleet is at that revision each time.
func (p *pair) awaitRead(revision fleet.Revision) {
	p.Helper()
	before := p.readings()["read"]
	until(p.T, "the standby is read again", func() bool {
		if c, _ := p.from(fleet.Position{}); c.At.Revision != revision {
			p.Errorf("the fleet is at revision %d: %+v", revision, c)
		}
		return p.readings()["read"] > before
	})
}

// A write comes while the standby is read, again and again: what the standby has by then counts, if the primary has it too.
func TestAStandbyIsReadBesideWrites(t *testing.T) {
	p := setupPair(t, false)
	p.apply(put(fleet.Cluster, "a", "1"))
	var writes atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 2; ctx.Err() == nil; i++ {
			if _, err := p.app.Apply(ctx, p.tenant, p.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", fmt.Sprint(i))}}); err != nil && ctx.Err() == nil {
				t.Error(err)
				stop()
			}
			writes.Add(1)
		}
	})
	last := fleet.Position{}
	for read := 0; read < 50 && ctx.Err() == nil; {
		before := p.load().At
		cs, err := p.standby.CatchUp(t.Context(), []fleet.Known{{Key: p.key(), At: last}})
		p.ok(err)
		for _, c := range cs {
			read++
			if body := string(c.Rows[0].Body); body != fmt.Sprint(c.At.Revision) || c.At.Revision < before.Revision {
				t.Errorf("at revision %d there is %s; before it was asked there was %d", c.At.Revision, body, before.Revision)
			}
			last = c.At
		}
	}
	stop()
	writing.Wait()
	got := p.readings()
	t.Logf("%d writes, readings: %v", writes.Load(), got)
	if got["read"] < 40 {
		t.Errorf("readings: %v", got)
	}
}

// The standby is killed, and comes back.
func TestAStandbyIsKilled(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	load, _ := p.from(fleet.Position{})
	p.servers.Standby.Kill()
	p.apply(put(fleet.Cluster, "a", "2"))
	storetest.Within(t, 2*time.Second, "a change beside a standby that is away", func() {
		if c, body := p.from(load.At); c.At.Revision != 2 || body != "2" {
			t.Errorf("revision 2 is %+v", c)
		}
	})
	if got := p.readings(); got["failed"] == 0 {
		t.Errorf("readings: %v", got)
	}
	p.ok(p.servers.Standby.Restart(t.Context()))
	p.awaitRead(2)
}

// A server starts while its standby is away.
func TestAStandbyIsAwayAtFirst(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	p.servers.Standby.Kill()
	storetest.Within(t, 3*time.Second, "the start", func() { p.open(p.servers.Read, true) })
	if c, body := p.from(fleet.Position{}); c.At.Revision != 1 || body != "1" {
		t.Errorf("a load is %+v", c)
	}
	p.ok(p.servers.Standby.Restart(t.Context()))
	p.awaitRead(1)
}

// Of another cluster nothing is believed, nor of a role that reads no fleets.
func TestADatabaseThatIsNoStandby(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	for url, words := range map[string]string{
		storetest.New(t).Node:   "it is no standby of this database, but of another cluster",
		storetest.Empty(t).Node: "the database has no schema yet",
		strings.Replace(p.servers.Read, "fairlead_node", "fairlead_app", 1): "change the user in the database URL",
	} {
		p.open(url, true)
		if c, body := p.from(fleet.Position{}); c.At.Revision != 1 || body != "1" {
			t.Errorf("a load is %+v", c)
		}
		if p.log.count(words) != 1 {
			t.Errorf("the log does not say %q:\n%s", words, p.log.text.String())
		}
		if got := p.readings(); got["read"] != 0 {
			t.Errorf("readings: %v", got)
		}
	}
}

// A standby that has become a primary of its own has the same revisions with other content.
func TestAStandbyOfAnotherTimeline(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	load, _ := p.from(fleet.Position{})
	promoted := p.servers.Promoted(t)
	other := promoted.Store(t)
	until(t, "the other one takes writes", func() bool {
		_, err := other.Apply(t.Context(), p.tenant, p.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "other")}})
		return err == nil
	})
	p.apply(put(fleet.Cluster, "a", "ours"))
	for _, at := range []fleet.Position{{}, load.At} {
		if c, body := p.from(at); c.At.Revision != 2 || body != "ours" {
			t.Errorf("%+v is read from another timeline", c)
		}
	}
	rows, err := p.standby.ResourcesAt(t.Context(), p.key(), 1)
	p.ok(err)
	if len(rows) != 1 || string(rows[0].Body) != "1" {
		t.Errorf("at revision 1 there was %+v", rows)
	}
	if got := p.readings(); got["read"] != 1 || got["behind"] == 0 {
		t.Errorf("readings: %v", got)
	}
	p.ok(other.DeleteFleet(t.Context(), p.tenant, actor, p.fleet))
	for _, at := range []fleet.Position{{}, load.At} {
		if c, _ := p.from(at); c.Gone {
			t.Error("what is deleted elsewhere is gone")
		}
	}
}

// Later revisions of a timeline that the primary has lost are not believed, although the standby has all that the primary has.
func TestAStandbyThatIsAheadOfALostTimeline(t *testing.T) {
	p := setupPair(t, true)
	p.apply(put(fleet.Cluster, "a", "1"))
	other := p.servers.Promoted(t).Store(t)
	until(t, "the other one takes writes", func() bool {
		_, err := other.Apply(t.Context(), p.tenant, p.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "a", "lost")}})
		return err == nil
	})
	if c, body := p.from(fleet.Position{}); c.At.Revision != 1 || body != "1" {
		t.Errorf("a load is %+v", c)
	}
	if got := p.readings(); got["read"] != 0 || got["behind"] != 1 {
		t.Errorf("readings: %v", got)
	}
}
