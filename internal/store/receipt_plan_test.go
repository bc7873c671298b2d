package store_test

import (
	"testing"

	"fairlead/internal/store"
)

// A receipt is one long statement: it is planned once for a session and not for each revision, as the planner would have it
// for the first five.
func TestAReceiptIsPlannedOnce(t *testing.T) {
	w := setup(t)
	w.nodes(0, 10)
	s := w.db.Open(t, store.Config{URL: w.db.App, MaxConns: 1})
	for range 4 {
		_, err := s.Receipt(t.Context(), w.tenant, w.fleet, 1)
		w.ok(err)
	}
	if generic, custom, err := s.Planned(t.Context(), "hosts AS MATERIALIZED"); err != nil || generic != 4 || custom != 0 {
		t.Errorf("of four receipts %d ran by one plan, %d by their own, %v", generic, custom, err)
	}
}
