package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const insertEvent = `INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, revision) VALUES ($1, $2, clock_timestamp() - make_interval(secs => $4), 'refused', $3, 1)`

func (w *world) event(node string, secondsAgo int) {
	w.Helper()
	w.exec(insertEvent, w.tenant.String(), w.fleet.String(), node, secondsAgo)
}

// tail reads on in small pages until there is nothing more.
func (w *world) tail(p store.EventPosition) (nodes []string, _ store.EventPosition) {
	w.Helper()
	for more := true; more; {
		var es []store.Event
		var err error
		es, p, more, err = w.app.EventsAfter(w.Context(), w.tenant, w.fleet, p, 2)
		w.ok(err)
		for _, e := range es {
			nodes = append(nodes, e.Node)
		}
	}
	return nodes, p
}

// Neither the order of their times nor that of their writing hides an event from who reads on:
// one that was written first and commits last is read all the same, and none is read twice.
func TestEventsAreReadOnFromAPlace(t *testing.T) {
	w := setup(t)
	w.event("before", 0)
	p, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Time{})
	w.ok(err)
	slow := w.db.Connect(t, w.db.Owner)
	defer slow.Close(t.Context()) //nolint:errcheck // it has committed
	tx, err := slow.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), insertEvent, w.tenant.String(), w.fleet.String(), "slow", 100)
	w.ok(err)
	w.event("quick", 0)
	first, p := w.tail(p)
	w.ok(tx.Commit(t.Context()))
	for i := range 5 {
		w.event(fmt.Sprint("n", i), 1000-i)
	}
	then, p := w.tail(p)
	got := append(first, then...)
	slices.Sort(got)
	if d := cmp.Diff([]string{"n0", "n1", "n2", "n3", "n4", "quick", "slow"}, got); d != "" {
		t.Error(d)
	}
	if again, _ := w.tail(p); len(again) > 0 {
		t.Errorf("read twice: %v", again)
	}
	w.event("last", 0)
	if last, _ := w.tail(p); !slices.Equal(last, []string{"last"}) {
		t.Errorf("%v", last)
	}
	p.Transaction += 1 << 40
	_, _, _, err = w.app.EventsAfter(t.Context(), w.tenant, w.fleet, p, 1)
	w.is(err, fleet.ErrInvalid)
}

// A dump keeps the numbers of the transactions that wrote its events, and another Postgres begins with low ones: what follows the events
// after a restore reads the old ones at once, each once, and then new ones.
func TestEventsOfARestoredDumpComeFirst(t *testing.T) {
	w := setup(t)
	w.event("second", 1)
	w.event("first", 2)
	w.exec(`UPDATE node_events SET xact = (e.xact::text::bigint + 1000000 + e.n)::text::xid8 FROM (SELECT id AS event, xact, row_number() OVER (ORDER BY at DESC) AS n FROM node_events) e WHERE e.event = id`)
	done, err := store.Migrate(t.Context(), w.db.Owner)
	w.ok(err)
	if done.Events != 2 {
		t.Errorf("%d events were placed, want 2", done.Events)
	}
	got, p := w.tail(store.EventPosition{})
	if d := cmp.Diff([]string{"first", "second"}, got); d != "" {
		t.Error(d)
	}
	w.event("new", 0)
	if got, _ := w.tail(p); !slices.Equal(got, []string{"new"}) {
		t.Errorf("then %v", got)
	}
	if done, err = store.Migrate(t.Context(), w.db.Owner); err != nil || done.Events != 0 {
		t.Errorf("%+v, %v: what this Postgres wrote stays where it is", done, err)
	}
}

// TestT44_APlaceThatIsNotYetIsRefused: no event can have been told of a transaction that has not ended. Who could begin there would hide
// events from those who listen beside it.
func TestT44_APlaceThatIsNotYetIsRefused(t *testing.T) {
	w := setup(t)
	open := w.db.Connect(t, w.db.Owner)
	defer open.Close(t.Context()) //nolint:errcheck // nothing is pending
	tx, err := open.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), insertEvent, w.tenant.String(), w.fleet.String(), "open", 0)
	w.ok(err)
	w.event("later", 0)
	p, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Time{}) // the transaction that is under way
	w.ok(err)
	for _, at := range []store.EventCursor{{At: time.Unix(1, 0)}, {At: time.Now()}, {At: time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC), ID: [16]byte{0xff}}} {
		_, _, _, err := w.app.EventsAfter(t.Context(), w.tenant, w.fleet, store.EventPosition{Transaction: p.Transaction, EventCursor: at}, 1)
		w.is(err, fleet.ErrInvalid)
	}
	since, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Now().Add(-time.Minute)) // of the later one, which is not read yet
	w.ok(err)
	if _, _, _, err := w.app.EventsAfter(t.Context(), w.tenant, w.fleet, since, 1); err != nil {
		t.Errorf("since a minute ago: %v", err)
	}
	w.ok(tx.Commit(t.Context()))
	if got, _ := w.tail(p); !slices.Equal(got, []string{"open", "later"}) {
		t.Errorf("%v", got)
	}
}

func TestEventsSinceATime(t *testing.T) {
	w := setup(t)
	for i := range 5 {
		w.event(fmt.Sprint("n", i), 1000-100*i)
	}
	p, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Now().Add(-750*time.Second))
	w.ok(err)
	if got, _ := w.tail(p); !slices.Equal(got, []string{"n3", "n4"}) {
		t.Errorf("%v", got)
	}
}

// One question tells of all feeds which have news and which are gone, whoever's they are.
func TestEventsMoved(t *testing.T) {
	w := setup(t)
	p, err := w.app.EventsSince(t.Context(), w.tenant, w.fleet, time.Time{})
	w.ok(err)
	own := store.EventFeed{Key: w.key(), Known: p}
	other := store.EventFeed{Key: fleet.Key{Tenant: w.db.Tenant(t)}, Known: p}
	other.Fleet = w.db.Fleet(t, other.Tenant)
	lost := store.EventFeed{Key: fleet.Key{Tenant: other.Tenant, Fleet: w.fleet}, Known: p} // another tenant's fleet is not there
	feeds := []store.EventFeed{other, own, lost}
	moved, gone, err := w.app.EventsMoved(t.Context(), feeds)
	w.ok(err)
	if len(moved) != 0 || !slices.Equal(gone, []fleet.Key{lost.Key}) {
		t.Errorf("%v moved, %v are gone", moved, gone)
	}
	w.event("n", 0)
	moved, _, err = w.app.EventsMoved(t.Context(), feeds)
	w.ok(err)
	if !slices.Equal(moved, []fleet.Key{own.Key}) {
		t.Errorf("%v moved", moved)
	}
	w.ok(w.app.DeleteFleet(t.Context(), w.tenant, actor, w.fleet))
	if _, gone, err = w.app.EventsMoved(t.Context(), feeds); err != nil || len(gone) != 2 {
		t.Errorf("%v are gone: %v", gone, err)
	}
}

// Events that say the same are one line, however many nodes say it.
func TestEventsInGroups(t *testing.T) {
	w := setup(t)
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, type, name, revision)
		SELECT $1, $2, clock_timestamp() - i * interval '1 second', 'refused', 'n' || i, 'clusters', CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END, 7 FROM generate_series(1, 30) i`, w.tenant.String(), w.fleet.String())
	var all []string
	from := store.GroupCursor{}
	for more := true; more; {
		var gs []store.EventGroup
		var err error
		gs, more, err = w.app.EventGroups(t.Context(), w.tenant, w.fleet, store.EventFilter{}, from, 1)
		w.ok(err)
		for _, g := range gs {
			all = append(all, fmt.Sprintf("%s %s %d: %d nodes, %d ids, last %s, over %v", g.Kind, g.Resource.Name, g.Revision, g.Nodes, len(g.Sample), g.Node, g.At.Sub(g.FirstAt).Round(time.Second)))
			if from.After = g.Position().EventCursor; from.Newest.At.IsZero() {
				from.Newest = from.After
				w.event("new", 0) // not in pages that have begun
			}
		}
	}
	if d := cmp.Diff([]string{"refused b 7: 20 nodes, 10 ids, last n1, over 28s", "refused a 7: 10 nodes, 10 ids, last n3, over 27s"}, all); d != "" {
		t.Error(d)
	}
	gs, _, err := w.app.EventGroups(t.Context(), w.tenant, w.fleet, store.EventFilter{Node: "n4", Since: time.Now().Add(-time.Minute)}, store.GroupCursor{}, 0)
	if err != nil || len(gs) != 1 || gs[0].Nodes != 1 {
		t.Errorf("of one node: %+v, %v", gs, err)
	}
}

func (w *world) manyEvents(few, many int) {
	w.Helper()
	w.exec(`INSERT INTO node_events (tenant_id, fleet_id, at, kind, node_id, revision)
		SELECT $1, $2, clock_timestamp() - ($4 - i) * interval '1 second', 'refused', 'n' || i, 1 FROM generate_series($3 + 1, $4::int) i`, w.tenant.String(), w.fleet.String(), few, many)
}

// A page of what comes next costs its own rows, and the question whether there is any some rows for each fleet.
func planOfReadingOnInEvents() planCase {
	return planCase{
		most: 4 * perAnswer * 20,
		work: func(w *world, p *planned) {
			from, err := p.EventsSince(w.Context(), w.tenant, w.fleet, time.Now().Add(-5*time.Second))
			w.ok(err)
			_, _, err = p.EventsMoved(w.Context(), []store.EventFeed{{Key: w.key(), Known: from}})
			w.ok(err)
			es, _, _, err := p.EventsAfter(w.Context(), w.tenant, w.fleet, store.EventPosition{}, 20)
			w.ok(err)
			if len(es) == 0 {
				w.Error("no event")
			}
		},
	}
}

// Groups read each of the newest events once.
func planOfEventsInGroups() planCase {
	return planCase{
		most: perAnswer * 1000,
		work: func(w *world, p *planned) {
			gs, _, err := p.EventGroups(w.Context(), w.tenant, w.fleet, store.EventFilter{}, store.GroupCursor{}, 20)
			w.ok(err)
			if len(gs) != 1 {
				w.Errorf("%d groups", len(gs))
			}
		},
	}
}
