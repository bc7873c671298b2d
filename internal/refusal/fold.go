package refusal

import "fairlead/internal/fleet"

// perRevision is how many offers of a node are counted at a revision before those of the next one.
const perRevision = 1 << 16

// FirstOffer is a node's first offer at a revision: above all that were counted at earlier ones.
func FirstOffer(r fleet.Revision) fleet.Offer { return fleet.Offer(r) * perRevision }

// UnknownOffer is the first one where it could not be read which offers of the node were counted at the revision: what it
// refuses is not taken for what has ended already.
func UnknownOffer(r fleet.Revision) fleet.Offer { return FirstOffer(r) + perRevision/2 }

// Ends reports whether an end is one of the refusal.
func Ends(end, r fleet.Refusal) bool {
	return KeyOf(end) == KeyOf(r) && r.Offer <= end.Offer && r.Revision <= end.By
}

// Fold says what stands of what one node refused, and what is over. Events are refusals, ends (which have no Revision), and
// refusals that are known to have ended. They may come in any order, and more than once. Of a version and a revision the
// refusal of the highest offer counts; of those in one offer the last one is returned.
func Fold(events ...[]fleet.Refusal) (stand, over []fleet.Refusal) {
	type place struct {
		Key
		revision fleet.Revision
	}
	var all []fleet.Refusal
	at, ends := make(map[place]int), make(map[Key][]fleet.Refusal)
	for _, some := range events {
		for _, r := range some {
			k := KeyOf(r)
			if r.By > 0 {
				ends[k] = append(ends[k], r)
			}
			i, known := at[place{k, r.Revision}]
			switch {
			case r.By > 0 && r.Revision == 0:
			case !known:
				at[place{k, r.Revision}] = len(all)
				all = append(all, r)
			case r.Offer >= all[i].Offer:
				if r.Row == nil && r.Good == all[i].Good {
					r.Row = all[i].Row
				}
				all[i] = r
			}
		}
	}
	for _, r := range all {
		for _, end := range ends[KeyOf(r)] {
			if Ends(end, r) && (r.By == 0 || end.By < r.By) {
				r.By, r.End = end.By, end.End
			}
		}
		if r.Stands() {
			stand = append(stand, r)
		} else {
			over = append(over, r)
		}
	}
	return stand, over
}
