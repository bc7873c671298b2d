package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// SEMANTICS 7.2: a repeat of a large write waits for the first one for as long as any repeat does. In the same process it waits for its key, not at the
// fleet's head, where a write may wait the longer the larger it is; from another one the database lets it wait no longer than that for the key.
func TestARepeatOfALargeWriteWaitsNoLongerThanASmallOne(t *testing.T) {
	w := setup(t)
	w.exec(`CREATE SEQUENCE noted MINVALUE 0`) // which keeps what a transaction notes that comes to nothing
	w.exec(`GRANT UPDATE ON SEQUENCE noted TO fairlead_app`)
	w.exec(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM setval('noted', (extract(epoch FROM current_setting('lock_timeout')::interval) * 1000)::bigint);
		RETURN NEW; END $$`)
	w.exec(`CREATE TRIGGER note BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION note()`)
	waited := func() int { return w.count(`SELECT last_value::int FROM noted`) }
	var changes []store.ResourceChange
	for i := range 5000 { // which may take 12 s, and wait 9 s for a lock
		changes = append(changes, put(fleet.Cluster, fmt.Sprint("c", i), "1"))
	}
	large := func(ctx context.Context, s *store.Store) error {
		_, err := s.Apply(ctx, w.tenant, w.fleet, store.Write{Actor: actor, Changes: changes, Idempotency: &store.Idempotency{Key: "k", RequestHash: [32]byte{1}}})
		return err
	}
	release := w.headLocked()
	defer release()
	var writers sync.WaitGroup
	defer writers.Wait()
	first, repeat := make(chan error, 1), make(chan error, 1)
	writers.Go(func() { first <- large(t.Context(), w.app) })
	until(t, "the first has its key and waits for the head", func() bool { return w.waitingForLocks() == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	writers.Go(func() { repeat <- large(ctx, w.app) })
	until(t, "the repeat waits for its key", func() bool { return w.app.AtKey(actor.Credential, "k") == 2 })
	if n := w.app.AtHead(w.fleet); n != 1 {
		t.Errorf("%d are at the head, the repeat is one of them", n)
	}
	cancel() // the client goes away
	w.is(<-repeat, context.Canceled)

	other := w.db.Open(t, store.Config{URL: w.db.App})
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	writers.Go(func() { repeat <- large(ctx, other) })
	until(t, "the repeat waits for the first in the database", func() bool { return w.waitingForLocks() == 2 })
	if ms := waited(); ms > 5000*storetest.Patience {
		t.Errorf("the database lets a repeat wait %d ms", ms)
	}
	release()
	w.ok(<-first)
	w.ok(<-repeat)
	if n := w.count(`SELECT count(*)::int FROM fleet_history`); n != 1 {
		t.Errorf("%d revisions", n)
	}
}
