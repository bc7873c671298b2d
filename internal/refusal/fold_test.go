package refusal_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"fairlead/internal/fleet"
	"fairlead/internal/refusal"
	_ "fairlead/test/pinned" // the same histories each time
)

// truth is what one node refuses, as it happens.
type truth struct {
	revision   fleet.Revision
	offer      fleet.Offer
	introduced [2]fleet.Revision // of each name's only version
	stands     map[string]bool   // by name and revision: false, it is over
	events     []fleet.Refusal
}

func (tr *truth) do(step string, name int) {
	tr.offer = max(tr.offer, refusal.FirstOffer(tr.revision))
	r := fleet.Refusal{Type: fleet.Cluster, Name: fmt.Sprint(name), Version: "v", Offer: tr.offer}
	switch step {
	case "refuse":
		r.Revision = tr.introduced[name]
		tr.stands[place(r)] = true
	case "end":
		r.By, r.End = tr.revision, fleet.EndOffered
		for rev := range tr.revision + 1 {
			if p := (fleet.Refusal{Name: r.Name, Revision: rev}); tr.stands[place(p)] {
				tr.stands[place(p)] = false
			}
		}
		tr.offer++
	case "bring back":
		tr.revision++
		tr.introduced[name] = tr.revision
		return
	}
	tr.events = append(tr.events, r)
}

func place(r fleet.Refusal) string { return fmt.Sprint(r.Name, " of ", r.Revision) }

// TestWhatStandsIsTheSameInAnyOrder: events come in any order and more than once, beside what is known of the first of them.
func TestWhatStandsIsTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr := truth{revision: 1, introduced: [2]fleet.Revision{1, 1}, stands: map[string]bool{}}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			tr.do(rapid.SampledFrom([]string{"refuse", "refuse", "end", "bring back"}).Draw(t, "step"), rapid.IntRange(0, 1).Draw(t, "name"))
		}
		stood, ended := refusal.Fold(tr.events[:rapid.IntRange(0, len(tr.events)).Draw(t, "known")])
		again := rapid.SliceOfN(rapid.SampledFrom(append(tr.events, fleet.Refusal{Name: "other", Revision: 1})), 0, 5).Draw(t, "again")
		told := rapid.Permutation(append(again, tr.events...)).Draw(t, "order")
		stand, over := refusal.Fold(told, stood, ended)
		got := map[string]bool{}
		for _, r := range append(stand, over...) {
			if r.Name != "other" {
				got[place(r)] = r.Stands()
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tr.stands) {
			t.Errorf("stands %v, want %v", got, tr.stands)
		}
	})
}

// TestWhatIsRemembered: of what is told twice the last words, with the bytes that only one has; and the first of the ends.
func TestWhatIsRemembered(t *testing.T) {
	t.Parallel()
	known := fleet.Refusal{Type: fleet.Route, Name: "r", Version: "v", Revision: 2, Offer: 3, Good: "g", Row: &fleet.Row{Version: "g"}, Detail: "no"}
	later := known
	later.Detail, later.Row, later.Action = "no, I said", nil, fleet.ActionKept
	stand, over := refusal.Fold([]fleet.Refusal{known}, []fleet.Refusal{later})
	if len(stand) != 1 || len(over) > 0 || stand[0].Row != known.Row || stand[0].Detail != later.Detail {
		t.Errorf("stand %+v, over %+v", stand, over)
	}
	end := fleet.Refusal{Type: fleet.Route, Name: "r", Version: "v", Offer: 4, By: 5, End: fleet.EndTaken}
	last := end
	last.Offer, last.By, last.End = 9, 7, fleet.EndReplaced
	stand, over = refusal.Fold([]fleet.Refusal{last, end}, []fleet.Refusal{known})
	if len(stand) > 0 || len(over) != 1 || over[0].By != 5 || over[0].End != fleet.EndTaken || over[0].Row == nil {
		t.Errorf("stand %+v, over %+v", stand, over)
	}
	for what, r := range map[string]fleet.Refusal{
		"a later offer":    {Type: fleet.Route, Name: "r", Version: "v", Revision: 2, Offer: 10},
		"a later revision": {Type: fleet.Route, Name: "r", Version: "v", Revision: 8, Offer: 3},
		"another version":  {Type: fleet.Route, Name: "r", Version: "w", Revision: 2, Offer: 3},
	} {
		if stand, _ := refusal.Fold([]fleet.Refusal{last, end, r}); len(stand) != 1 {
			t.Errorf("%s is over", what)
		}
	}
}

// TestOffersOfRevisions: a later revision's are above those of the earlier one, and what is not known of one above what is.
func TestOffersOfRevisions(t *testing.T) {
	t.Parallel()
	for _, rev := range []fleet.Revision{0, 1, 1 << 40} {
		first, unknown, next := refusal.FirstOffer(rev), refusal.UnknownOffer(rev), refusal.FirstOffer(rev+1)
		if unknown-first < 10_000 || next-unknown < 10_000 {
			t.Errorf("of revision %d: %d, %d, and then %d", rev, first, unknown, next)
		}
	}
}
