package httpapi

import (
	"context"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// mostCounted is how many fleets a page has at most that is to tell their counts.
const mostCounted = 100

// counted are fleets with their counts.
func (a *API) counted(ctx context.Context, t fleet.TenantID, fs []store.Fleet) ([]oapi.Fleet, error) {
	counts, err := a.store.CountFleets(ctx, t, fs)
	if err != nil {
		return nil, err
	}
	return each(fs, func(f store.Fleet) oapi.Fleet {
		out := a.fleetOf(f)
		out.Counts = countsOf(counts[f.ID])
		return out
	}), nil
}

func countsOf(n store.FleetCounts) *oapi.FleetCounts {
	out := &oapi.FleetCounts{
		Nodes: oapi.NodeCounts{Live: n.Live, Refusing: n.Refusing, Offline: n.Offline}, OpenRefusals: n.OpenRefusals, Resources: []oapi.TypeCount{},
		Receipt: optional(oapi.ReceiptState(n.Receipt)),
	}
	for t, count := range n.Resources {
		out.Resources = append(out.Resources, oapi.TypeCount{Type: oapi.ResourceType(t.Slug()), Count: count})
	}
	slices.SortFunc(out.Resources, func(a, b oapi.TypeCount) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return out
}
