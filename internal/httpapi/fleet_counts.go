package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// fleetCounts counts what the call's fleet has.
func (a *API) fleetCounts(ctx context.Context) (*oapi.FleetCounts, error) {
	c := callOf(ctx)
	n, err := a.store.FleetCounts(ctx, c.tenant.ID, c.fleet.ID)
	if err != nil {
		return nil, err
	}
	out := &oapi.FleetCounts{
		Nodes: oapi.NodeCounts{Live: n.Live, Refusing: n.Refusing, Offline: n.Offline}, OpenRefusals: n.OpenRefusals, Resources: []oapi.TypeCount{},
	}
	for t, count := range n.Resources {
		out.Resources = append(out.Resources, oapi.TypeCount{Type: oapi.ResourceType(t.Slug()), Count: count})
	}
	slices.SortFunc(out.Resources, func(a, b oapi.TypeCount) int { return strings.Compare(string(a.Type), string(b.Type)) })
	if c.fleet.Revision == 0 {
		return out, nil
	}
	receipt, err := a.store.Receipt(ctx, c.tenant.ID, c.fleet.ID, c.fleet.Revision)
	switch {
	case errors.Is(err, fleet.ErrNotFound): // a failover has taken the revision back
		return out, nil
	case err != nil:
		return nil, err
	}
	state := oapi.ReceiptState(receipt.State)
	out.Receipt = &state
	return out, nil
}
