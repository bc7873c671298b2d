package store_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// A page is found by the key, whatever the fleet has: also that of a prefix, of all types.
func TestPlansOfAPageOfResources(t *testing.T) {
	t.Parallel()
	typ := fleet.Cluster
	for name, q := range map[string]store.Filter{
		"all": {}, "of a type": {Type: &typ}, "of a prefix": {Prefix: "c9"}, "behind one": {After: store.Cursor{Type: fleet.Cluster, Name: "c5"}}, "bare": {NoBodies: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q.Limit = 20
			planCase{
				many: 1000, most: 2 * perAnswer * 20, fill: (*world).clusters,
				work: func(w *world, p *planned) {
					rs, _, err := p.Resources(w.Context(), w.tenant, w.fleet, q)
					w.ok(err)
					if len(rs) == 0 || q.NoBodies != (rs[0].Body == nil) {
						w.Errorf("%d resources", len(rs))
					}
				},
			}.judge(t)
		})
	}
}

func TestPlansOfAPageOfNodeStates(t *testing.T) {
	t.Parallel()
	planCase{
		many: 1000, most: 2 * perAnswer * 20, fill: (*world).nodes,
		work: func(w *world, p *planned) {
			ns, _, err := p.NodeStates(w.Context(), w.tenant, w.fleet, "n0000", "n000003", 20)
			w.ok(err)
			if len(ns) == 0 {
				w.Error("no node")
			}
		},
	}.judge(t)
}

// What a fleet has is counted by reading each of it once, and its nodes once more for the receipt; a list of fleets reads none of it.
func TestPlansOfCounts(t *testing.T) {
	t.Parallel()
	both := func(w *world, few, many int) { w.clusters(few, many); w.nodes(few, many) }
	t.Run("of a fleet", func(t *testing.T) {
		t.Parallel()
		planCase{
			many: 1000, most: 3 * perAnswer * 1000, fill: both, // with its receipt
			work: func(w *world, p *planned) {
				cs, err := p.CountFleets(w.Context(), w.tenant, []store.Fleet{{ID: w.fleet, Revision: 1}})
				w.ok(err)
				if c := cs[w.fleet]; c.Receipt == "" || c.Refusing == 0 || c.OpenRefusals < c.Refusing || c.Resources[fleet.Cluster] < 10 {
					w.Errorf("%+v", c)
				}
			},
		}.judge(t)
	})
	t.Run("of a list", func(t *testing.T) {
		t.Parallel()
		planCase{
			many: 1000, most: 3 * perAnswer, fill: both,
			work: func(w *world, p *planned) {
				fs, _, err := p.Fleets(w.Context(), w.tenant, "", 0)
				w.ok(err)
				if len(fs) == 0 {
					w.Error("no fleet")
				}
			},
		}.judge(t)
	})
}
