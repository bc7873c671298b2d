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
	judged := func(rs ...store.Read) (applied, planned error) {
		t.Helper()
		n++
		c := put(fleet.Cluster, "c", string(rune('A'+n)))
		write := store.Write{Actor: actor, Changes: []store.ResourceChange{c}, Read: rs}
		_, planned = w.app.Plan(t.Context(), w.tenant, w.fleet, write)
		_, applied = w.app.Apply(t.Context(), w.tenant, w.fleet, write)
		return applied, planned
	}
	want := func(moved bool, rs ...store.Read) {
		t.Helper()
		applied, planned := judged(rs...)
		for what, err := range map[string]error{"apply": applied, "plan": planned} {
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
