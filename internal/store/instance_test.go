package store_test

import (
	"errors"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// A lease ends with the Postgres that it was taken on. What the server was told to have reported there may be lost with a standby that was behind: nothing more
// is written beside it before the server has taken another one, by which it knows that it has to tell all again.
func TestALeaseEndsWithItsPostgres(t *testing.T) {
	t.Parallel()
	db, postgres := storetest.Alone(t)
	w := &world{T: t, db: db, app: db.Store(t), node: db.NodeStore(t), tenant: db.Tenant(t)}
	w.fleet = db.Fleet(t, w.tenant)
	s := w.server("s")
	w.ok(s.late("n"))
	if term := w.lease(s.id, "s", time.Minute); term != s.term {
		t.Fatalf("renewed it is of term %d, and was of %d", term, s.term)
	}
	postgres.Kill()
	w.ok(postgres.Restart(t.Context()))
	var err error
	until(t, "the database answers", func() bool { err = s.late("n"); return !errors.Is(err, fleet.ErrUnavailable) }) // over another connection than the broken ones
	w.is(err, store.ErrLeaseLost)
	again := w.lease(s.id, "s", time.Minute)
	if again <= s.term {
		t.Errorf("on another Postgres it is of term %d after %d", again, s.term)
	}
	s.term = again
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{on("n")}})
}
