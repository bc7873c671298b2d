package store_test

import (
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// What is told again after a restart of Postgres has 512 bytes of a client's words. Those that the database has stay.
func TestWordsThatTheDatabaseHasStayWhenTheyAreToldAgainInPart(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	rev := w.apply(put(fleet.Cluster, "c", "bad")).Revision
	words := strings.Repeat("no such filter ", 200)
	r := fleet.Refusal{Node: "a", Type: fleet.Cluster, Name: "c", Version: put(fleet.Cluster, "c", "bad").Version, Revision: rev, Detail: words, Offer: 1, At: time.Now()}
	s.report(fleet.Status{Settled: rev, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{r}})
	r.Detail = words[:512] // nothing was lost: as delivery tells it in another term
	s.report(fleet.Status{Settled: rev, Nodes: []fleet.NodeStatus{on("a")}, Refusals: []fleet.Refusal{r}})
	if got := w.receipt(rev).Nodes[0].Detail; got != words {
		t.Errorf("of %d bytes that the database had there are %d", len(words), len(got))
	}
	if n := w.count(`SELECT count(*) FROM node_events WHERE kind = 'refused'`); n != 1 {
		t.Errorf("%d events of one refusal", n)
	}
}
