package store_test

import (
	"errors"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// TestT47_AWriteIsMadeAsItWasJudged: what was read to judge a write, of each variant, is what is there when it is made.
func TestT47_AWriteIsMadeAsItWasJudged(t *testing.T) {
	w := setup(t)
	secret := put(fleet.Secret, "s", "S")
	secret.Labels = map[string]string{"team": "shop"}
	secret = fill(secret)
	at := w.apply(secret).Revision
	us, err := w.app.Used(t.Context(), w.tenant, w.fleet, []fleet.Ref{{Type: fleet.Secret, Name: "s"}, {Type: fleet.Secret, Name: "none"}})
	w.ok(err)
	if len(us) != 1 || us[0].Name != "s" || us[0].Labels["team"] != "shop" || us[0].Revision != at || us[0].Deleted {
		t.Fatalf("read are %+v", us)
	}
	n := 0
	judged := func(rs ...store.Read) map[string]error {
		t.Helper()
		n++
		c := put(fleet.Cluster, "c", string(rune('A'+n)))
		write := store.Write{Actor: actor, Changes: []store.ResourceChange{c}, Read: rs}
		back := store.Write{Actor: actor, Only: []store.Cursor{{Type: fleet.Cluster, Name: "c"}}, Read: rs, Confirmed: new(store.Reasons)}
		_, planned := w.app.Plan(t.Context(), w.tenant, w.fleet, write)
		_, applied := w.app.Apply(t.Context(), w.tenant, w.fleet, write)
		_, backPlanned := w.app.PlanRollback(t.Context(), w.tenant, w.fleet, at, back)
		_, rolledBack := w.app.Rollback(t.Context(), w.tenant, w.fleet, at, back)
		return map[string]error{"plan": planned, "apply": applied, "plan of a rollback": backPlanned, "rollback": rolledBack}
	}
	want := func(moved bool, rs ...store.Read) {
		t.Helper()
		for what, err := range judged(rs...) {
			if moved != errors.Is(err, store.ErrReadMoved) || !moved && err != nil || moved && !errors.Is(err, fleet.ErrPrecondition) {
				t.Errorf("%s, judged by %+v: %v", what, rs, err)
			}
		}
	}
	was, none := store.Read{Type: fleet.Secret, Name: "s", Revision: at}, store.Read{Type: fleet.Secret, Name: "none"}
	want(false)
	want(false, was, none)
	want(true, store.Read{Type: fleet.Secret, Name: "s", Revision: at - 1})
	want(true, store.Read{Type: fleet.Secret, Name: "s"})
	variant := put(fleet.Secret, "s", "V")
	variant.Variant, variant.Selector = "v", "node.id=n"
	w.apply(fill(variant))
	want(true, was)
	w.apply(fill(put(fleet.Secret, "none", "N")))
	want(true, none)
}
