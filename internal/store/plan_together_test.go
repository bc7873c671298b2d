package store_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

func TestPlansOfWhatAFleetHas(t *testing.T) {
	t.Parallel()
	typ := fleet.Cluster
	judgeAll(t, (*world).clusters, 1000, map[string]planCase{
		"a load":                          planOfALoad(),
		"a plan":                          planOfAPlan(),
		"an overview":                     planOfAnOverview(),
		"neighbours":                      planOfNeighbours(),
		"referrers":                       planOfReferrers(),
		"alike":                           planOfAlike(),
		"a page of resources, of all":     planOfAPageOfResources(store.Filter{}),
		"a page of resources of a type":   planOfAPageOfResources(store.Filter{Type: &typ}),
		"a page of resources of a prefix": planOfAPageOfResources(store.Filter{Prefix: "c9"}),
		"a page of resources behind one":  planOfAPageOfResources(store.Filter{After: store.Cursor{Type: fleet.Cluster, Name: "c5"}}),
		"a page of bare resources":        planOfAPageOfResources(store.Filter{NoBodies: true}),
	})
}

func TestPlansOfNodes(t *testing.T) {
	t.Parallel()
	judgeAll(t, (*world).nodes, 1000, map[string]planCase{
		"the usage":             planOfTheUsage(),
		"a receipt":             planOfAReceipt(),
		"a page of nodes":       planOfAPageOfNodes(),
		"a page of node states": planOfAPageOfNodeStates(),
	})
}

func TestPlansOfWhatNodesHave(t *testing.T) {
	t.Parallel()
	both := func(w *world, few, many int) { w.clusters(few, many); w.nodes(few, many) }
	judgeAll(t, both, 1000, map[string]planCase{
		"counts of a fleet":            planOfCounts(),
		"a list of fleets":             planOfAListOfFleets(),
		"a page of a node's config":    planOfAPageOfANodesConfig(),
		"the bodies that a node holds": planOfTheBodiesThatANodeHolds(),
	})
}

func TestPlansOfThePast(t *testing.T) {
	t.Parallel()
	judgeAll(t, (*world).old, 9000, map[string]planCase{
		"a page of revisions":           planOfAPageOfRevisions(),
		"a page of revisions by filter": planOfAPageOfRevisionsByFilter(),
		"the past":                      planOfThePast(),
		"a comparison":                  planOfAComparison(),
	})
}

func TestPlansOfEvents(t *testing.T) {
	t.Parallel()
	judgeAll(t, (*world).manyEvents, 1000, map[string]planCase{
		"reading on": planOfReadingOnInEvents(),
		"groups":     planOfEventsInGroups(),
	})
}

func TestPlansOfMarks(t *testing.T) {
	t.Parallel()
	fill := func(w *world, few, many int) {
		w.manyEvents(few, many)
		w.exec(`INSERT INTO nodes (tenant_id, fleet_id, node_id) SELECT $1, $2, 'n' || i FROM generate_series($3 + 1, $4::int) i`, w.tenant.String(), w.fleet.String(), few, many)
	}
	judgeAll(t, fill, 1000, map[string]planCase{
		"of a fleet":  planOfMarks(),
		"of a tenant": planOfMarksOfATenant(),
	})
}
