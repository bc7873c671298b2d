package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// headLocked keeps the fleet's head, as a writer in another process does that takes long.
func (w *world) headLocked() (release func()) {
	w.Helper()
	conn := w.db.Connect(w.T, w.db.Owner)
	tx, err := conn.Begin(w.Context())
	w.ok(err)
	_, err = tx.Exec(w.Context(), `SELECT FROM fleet_heads WHERE fleet_id = $1 FOR NO KEY UPDATE`, w.fleet.String())
	w.ok(err)
	return sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
}

// waitingForLocks is how many sessions of the database wait for a lock now. Within a transaction Postgres
// would tell of the sessions that it saw first, without those that have come since.
func (w *world) waitingForLocks() int {
	w.Helper()
	w.exec(`SELECT pg_stat_clear_snapshot()`)
	return w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

func waitedFor(t *testing.T, err error, what store.Wait) {
	t.Helper()
	var late *store.TimeoutError
	if !errors.As(err, &late) || late.Wait != what || !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("the error is %v, want one that waited for %d", err, what)
	}
}

// Forty clients change a fleet whose head somebody holds: one of them waits with a
// connection, the others without, and nobody else notices.
func TestABusyFleetKeepsNobodyOut(t *testing.T) {
	w := setup(t)
	release := w.headLocked()
	defer release()
	another := w.db.Fleet(t, w.tenant)
	stranger := w.db.Tenant(t)
	elsewhere := w.db.Fleet(t, stranger)
	var writers sync.WaitGroup
	for i := range 40 {
		writers.Go(func() {
			if _, err := w.try(put(fleet.Cluster, fmt.Sprint("c", i), "1")); err != nil {
				waitedFor(t, err, store.WaitHead)
			}
		})
	}
	until(t, "a writer waits for the head", func() bool { return w.waitingForLocks() > 0 })
	for i := range 5 {
		_, err := w.app.Apply(t.Context(), stranger, elsewhere, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", fmt.Sprint(i))}})
		w.ok(err)
		_, err = w.app.Apply(t.Context(), w.tenant, another, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", fmt.Sprint(i))}})
		w.ok(err)
		_, _, err = w.app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{})
		w.ok(err)
		if n := w.waitingForLocks(); n > 1 {
			t.Errorf("%d connections wait for one head", n)
		}
	}
	release()
	writers.Wait()
	w.apply(put(fleet.Cluster, "c0", "2"))
}

// Whatever a tenant waits for in the database, half of the connections stay for the others.
func TestATenantHasAPartOfThePool(t *testing.T) {
	w := setup(t)
	stranger := w.db.Tenant(t)
	s := w.db.Open(t, store.Config{URL: w.db.App, MaxConns: 4})
	tx, err := w.super.Begin(t.Context())
	w.ok(err)
	_, err = tx.Exec(t.Context(), `LOCK fleets`)
	w.ok(err)
	look := &world{T: t, super: w.db.Connect(t, w.db.Owner)}
	defer look.super.Close(t.Context()) //nolint:errcheck // nothing is pending
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			if _, _, err := s.Fleets(t.Context(), w.tenant, "", 0); err != nil {
				w.is(err, fleet.ErrUnavailable)
			}
		})
	}
	until(t, "the tenant's share is used", func() bool { return look.waitingForLocks() == 2 })
	for range 5 {
		_, err := s.Tenant(t.Context(), stranger)
		w.ok(err)
	}
	if n := look.waitingForLocks(); n != 2 {
		t.Errorf("%d of 4 connections are one tenant's", n)
	}
	w.ok(tx.Rollback(t.Context()))
	readers.Wait()
}

// Who got no connection, because others had all of them, is told so: the database is there,
// and nothing was done.
func TestABusyPoolIsNotADatabaseThatIsAway(t *testing.T) {
	w := setup(t)
	s := w.db.Open(t, store.Config{URL: w.db.App, MaxConns: 2, Patience: 1})
	for range 2 {
		release, err := s.TakeConn(t.Context())
		w.ok(err)
		defer release()
	}
	_, err := s.Tenant(t.Context(), w.tenant)
	waitedFor(t, err, store.WaitConn)
}

func TestWaitingForAHeadEnds(t *testing.T) {
	w := setup(t)
	release := w.headLocked()
	defer release()
	first := make(chan error, 1)
	var writers sync.WaitGroup
	defer writers.Wait()
	writers.Go(func() { _, err := w.try(put(fleet.Cluster, "a", "1")); first <- err })
	until(t, "a writer waits for the head", func() bool { return w.waitingForLocks() == 1 })

	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	writers.Go(func() {
		_, err := w.app.Apply(ctx, w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "b", "1")}})
		second <- err
	})
	until(t, "another waits behind it", func() bool { return w.app.AtHead(w.fleet) == 2 })
	cancel() // the client goes away
	err := <-second
	if n := w.app.AtHead(w.fleet); n != 1 {
		t.Errorf("%d wait for the head, one of them had a client that is gone", n)
	}
	w.is(err, fleet.ErrUnavailable)
	w.is(err, context.Canceled)
	_, err = w.hasty().Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "c", "1")}})
	waitedFor(t, err, store.WaitHead) // the database gives up
	release()
	w.ok(<-first)
	w.apply(put(fleet.Cluster, "a", "2"))
}

// Of the writers of one fleet a hundred may wait; the next is told at once.
func TestTheQueueForAHeadIsBounded(t *testing.T) {
	w := setup(t)
	release := w.headLocked()
	defer release()
	var writers sync.WaitGroup
	errs := make(chan error, 150)
	for i := range cap(errs) {
		writers.Go(func() {
			_, err := w.try(put(fleet.Cluster, fmt.Sprint("c", i), "1"))
			errs <- err
		})
	}
	for range 49 { // beside one that works and 100 that wait
		err := <-errs
		waitedFor(t, err, store.WaitHead)
		w.is(err, store.ErrCrowded)
		if late := (*store.TimeoutError)(nil); errors.As(err, &late) && !late.Crowded {
			t.Errorf("it is told that it waited: %v", err)
		}
	}
	release()
	writers.Wait()
}

// A write may take the longer the larger it is, also where the role allows less; what takes
// longer is given up by the database and leaves nothing behind.
func TestTheLimitGrowsWithTheWrite(t *testing.T) {
	w := setup(t)
	w.exec(`CREATE TABLE noted (name text, timeout text, lock text)`)
	w.exec(`GRANT INSERT ON noted TO fairlead_app`)
	w.exec(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO noted VALUES (NEW.name, current_setting('statement_timeout'), current_setting('lock_timeout'));
		IF NEW.name = 'endless' THEN PERFORM pg_sleep(60); END IF;
		RETURN NULL; END $$`)
	w.exec(`CREATE TRIGGER note AFTER INSERT ON resource_history FOR EACH ROW EXECUTE FUNCTION note()`)
	apply := func(patience int, cs ...store.ResourceChange) error {
		s := w.db.Open(t, store.Config{URL: as(t, w.db.App, "", "statement_timeout=500ms"), Patience: patience})
		_, err := s.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: cs})
		return err
	}
	waitedFor(t, apply(1, put(fleet.Cluster, "endless", "1")), store.WaitWork)
	if n := w.count(`SELECT count(*) FROM resources`) + w.count(`SELECT count(*) FROM noted`); n != 0 {
		t.Fatal("a write that was given up wrote something")
	}
	w.ok(apply(storetest.Patience, put(fleet.Cluster, "small", "1")))
	w.ok(apply(storetest.Patience, put(fleet.Cluster, "large", string(make([]byte, 1<<20)))))
	many := []store.ResourceChange{put(fleet.Cluster, "many", "1")}
	for i := range 999 {
		many = append(many, put(fleet.Endpoint, fmt.Sprint("e", i), "1"))
	}
	w.ok(apply(storetest.Patience, many...))
	for name, want := range map[string]struct{ work, lock int }{"small": {1800, 1500}, "large": {2700, 2250}, "many": {3600, 3000}} {
		if got := w.count(`SELECT extract(epoch FROM timeout::interval) * 1000 FROM noted WHERE name = $1`, name); got != want.work*storetest.Patience {
			t.Errorf("the statement of a %s write may take %d ms, want %d, and %d times that here", name, got, want.work, storetest.Patience)
		}
		if got := w.count(`SELECT extract(epoch FROM lock::interval) * 1000 FROM noted WHERE name = $1`, name); got != want.lock*storetest.Patience {
			t.Errorf("a %s write may wait %d ms for one of another process, want %d, and %d times that here", name, got, want.lock, storetest.Patience)
		}
	}
	if got := store.ApplyTimeout(make([]store.ResourceChange, 60_000)); got != 30*time.Second {
		t.Errorf("a very large write may take %v, and its client may be gone by then", got)
	}
}
