package store_test

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// While a large apply is under way in one fleet, who waits for it is who writes to that fleet: another fleet of the tenant and another tenant write as if it were
// not there, and all of them read. It stands in the middle of its work, with all of its locks but that of the audit's chain, which is the last.
func TestALargeApplyKeepsItsOwnFleetAlone(t *testing.T) {
	w := setup(t)
	w.exec(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.name = 'last' THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN NULL; END $$`)
	w.exec(`CREATE TRIGGER hold AFTER INSERT ON resource_history FOR EACH ROW EXECUTE FUNCTION hold()`)
	hold := w.db.Connect(t, w.db.Owner)
	defer hold.Close(t.Context()) //nolint:errcheck // it ends with the database
	_, err := hold.Exec(t.Context(), `SELECT pg_advisory_lock(4711)`)
	w.ok(err)
	var changes []store.ResourceChange
	for i := range 2000 {
		changes = append(changes, put(fleet.Cluster, fmt.Sprintf("c%05d", i), "1"))
	}
	changes = append(changes, put(fleet.Cluster, "last", "1"))
	done := make(chan error, 2)
	go func() {
		_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: changes})
		done <- err
	}()
	until(t, "it is in the middle of its work", func() bool { return w.waitingForLocks() == 1 })

	other := w.db.Open(t, store.Config{URL: w.db.App})
	stranger, beside := w.db.Tenant(t), w.db.Fleet(t, w.tenant)
	for what, of := range map[string]struct {
		tenant fleet.TenantID
		fleet  fleet.ID
	}{"another fleet of the tenant": {w.tenant, beside}, "another tenant": {stranger, w.db.Fleet(t, stranger)}} {
		for from, s := range map[string]*store.Store{"the same server": w.app, "another server": other} {
			if _, err := s.Apply(t.Context(), of.tenant, of.fleet, store.Write{Actor: actor, Changes: []store.ResourceChange{put(fleet.Cluster, "x", what+from)}}); err != nil {
				t.Errorf("%s, on %s: %v", what, from, err)
			}
		}
		_, _, err := w.app.Resources(t.Context(), of.tenant, of.fleet, store.Filter{})
		w.ok(err)
	}
	_, _, err = w.app.Resources(t.Context(), w.tenant, w.fleet, store.Filter{})
	w.ok(err)
	go func() {
		_, err := w.app.Apply(t.Context(), w.tenant, w.fleet, store.Write{Actor: actor, Changes: append(changes[:1000:1000], put(fleet.Cluster, "small", "1"))})
		done <- err
	}()
	until(t, "a write of the same fleet waits behind it", func() bool { return w.app.AtHead(w.fleet) == 2 })
	if n := w.waitingForLocks(); n != 1 {
		t.Errorf("%d connections wait", n)
	}
	_, err = hold.Exec(t.Context(), `SELECT pg_advisory_unlock(4711)`)
	w.ok(err)
	for range cap(done) {
		w.ok(<-done)
	}
}
