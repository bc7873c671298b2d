package store_test

import (
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// A page is found by the key, whatever the fleet has: also that of a prefix, of all types.
func planOfAPageOfResources(q store.Filter) planCase {
	q.Limit = 20
	return planCase{
		most: 2 * perAnswer * 20,
		work: func(w *world, p *planned) {
			rs, _, err := p.Resources(w.Context(), w.tenant, w.fleet, q)
			w.ok(err)
			if len(rs) == 0 || q.NoBodies != (rs[0].Body == nil) {
				w.Errorf("%d resources", len(rs))
			}
		},
	}
}

func planOfAPageOfNodeStates() planCase {
	return planCase{
		most: 2 * perAnswer * 20,
		work: func(w *world, p *planned) {
			ns, _, err := p.NodeStates(w.Context(), w.tenant, w.fleet, "n0000", "n000003", 20)
			w.ok(err)
			if len(ns) == 0 {
				w.Error("no node")
			}
		},
	}
}

// What a fleet has is counted by reading each of it once, and its nodes once more for the receipt.
func planOfCounts() planCase {
	return planCase{
		most: 3 * perAnswer * 1000, // with its receipt
		work: func(w *world, p *planned) {
			cs, err := p.CountFleets(w.Context(), w.tenant, []store.Fleet{{ID: w.fleet, Revision: 1}})
			w.ok(err)
			if c := cs[w.fleet]; c.Receipt == "" || c.Refusing == 0 || c.OpenRefusals < c.Refusing || c.Resources[fleet.Cluster] < 10 {
				w.Errorf("%+v", c)
			}
		},
	}
}

// A list of fleets reads none of what they have.
func planOfAListOfFleets() planCase {
	return planCase{
		most: 3 * perAnswer,
		work: func(w *world, p *planned) {
			fs, _, err := p.Fleets(w.Context(), w.tenant, "", 0)
			w.ok(err)
			if len(fs) == 0 {
				w.Error("no fleet")
			}
		},
	}
}
