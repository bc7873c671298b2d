package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/store"
)

// ListFleets implements listFleets. A caller that is bound to a fleet sees that one.
func (a *API) ListFleets(ctx context.Context, c *call, r oapi.ListFleetsRequestObject) (oapi.ListFleetsResponseObject, error) {
	prefix, err := prefixOf(r.Params.Prefix)
	if err != nil {
		return nil, err
	}
	if r.Params.State != nil {
		return a.deletedFleets(ctx, c, r.Params, prefix)
	}
	from, err := parseCursor("fleets", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := pageLimit(r.Params.Limit)
	if deref(r.Params.Counts) {
		limit = min(limit, mostCounted)
	}
	fleets, more, err := a.fleetsFor(ctx, c, prefix, from.Name, limit)
	if err != nil {
		return nil, err
	}
	out := oapi.ListFleets200JSONResponse{Items: each(fleets, a.fleetOf)}
	if deref(r.Params.Counts) && len(fleets) > 0 {
		if out.Items, err = a.counted(ctx, c.tenant.ID, fleets); err != nil {
			return nil, err
		}
	}
	if more {
		out.NextCursor = next(cursor{List: "fleets", Name: fleets[len(fleets)-1].Name})
	}
	return out, nil
}

// fleetsFor are the fleets that the caller sees: all of the tenant, or the one that it is bound to.
func (a *API) fleetsFor(ctx context.Context, c *call, prefix, after string, limit int) ([]store.Fleet, bool, error) {
	if c.principal.Fleet == nil {
		return a.store.FleetsNamed(ctx, c.tenant.ID, prefix, after, limit)
	}
	names, err := a.fleetNames(ctx, c.tenant.ID)
	if err != nil {
		return nil, false, err
	}
	name, ok := names[*c.principal.Fleet]
	if !ok || !strings.HasPrefix(name, prefix) || name <= after {
		return nil, false, nil
	}
	f, err := a.store.FleetByName(ctx, c.tenant.ID, name)
	return []store.Fleet{f}, false, err
}

// fleetNames returns the names of all fleets of the tenant that are not deleted.
func (a *API) fleetNames(ctx context.Context, t fleet.TenantID) (map[fleet.ID]string, error) {
	names := map[fleet.ID]string{}
	for after, more := "", true; more; {
		var fleets []store.Fleet
		var err error
		if fleets, more, err = a.store.Fleets(ctx, t, after, mostFleets); err != nil {
			return nil, err
		}
		for _, f := range fleets {
			names[f.ID], after = f.Name, f.Name
		}
	}
	return names, nil
}

const mostFleets = 1000 // on one of the store's pages

// CreateFleet implements createFleet.
func (a *API) CreateFleet(ctx context.Context, c *call, r oapi.CreateFleetRequestObject) (oapi.CreateFleetResponseObject, error) {
	description := deref(r.Body.Description)
	if err := textField("/description", description, maxText); err != nil {
		return nil, err
	}
	set, err := settingsOf(r.Body.References, r.Body.NodeIds, r.Body.ReceiptWindow, r.Body.ForgetNodesAfter, r.Body.StaticClusters, r.Body.PrivateClusters, r.Body.LocalPorts, r.Body.Values)
	if err != nil {
		return nil, err
	}
	if err := a.loadSettingsOf(&set, r.Body.LoadReportInterval, r.Body.LoadReportClusters, r.Body.LoadReportEndpoints); err != nil {
		return nil, err
	}
	f, err := a.store.CreateFleetWith(ctx, c.tenant.ID, c.actor, r.Body.Name, description, set)
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "already_exists", "a fleet of this name is there already")
	}
	if err != nil {
		return nil, err
	}
	return oapi.CreateFleet201JSONResponse(a.fleetOf(f)), nil
}

// GetFleet implements getFleet.
func (a *API) GetFleet(ctx context.Context, c *call, _ oapi.GetFleetRequestObject) (oapi.GetFleetResponseObject, error) {
	out, err := a.counted(ctx, c.tenant.ID, []store.Fleet{c.fleet})
	if err != nil {
		return nil, err
	}
	return oapi.GetFleet200JSONResponse{Body: out[0], Headers: oapi.GetFleet200ResponseHeaders{ETag: &out[0].Etag}}, nil
}

// DeleteFleet implements deleteFleet.
func (a *API) DeleteFleet(ctx context.Context, c *call, r oapi.DeleteFleetRequestObject) (oapi.DeleteFleetResponseObject, error) {
	seen, err := confirmedDeletion(r.Params.Confirm, write.DeletionOf(c.fleet.ID))
	if err != nil {
		return nil, err
	}
	err = a.store.DeleteFleetConfirmed(ctx, c.tenant.ID, c.actor, c.fleet.ID, store.Confirmation{Seen: seen.Seen, Reasons: seen.Reasons})
	if err != nil {
		return nil, toConfirm(err, write.DeletionOf(c.fleet.ID))
	}
	return oapi.DeleteFleet204Response{}, nil
}

// fleetOf tells of load reports what holds: the xDS servers keep to the least, whatever was written before there was one.
func (a *API) fleetOf(f store.Fleet) oapi.Fleet {
	out := oapi.Fleet{
		Id: f.ID.String(), Name: f.Name, Description: f.Description, References: oapi.References(f.References), NodeIds: oapi.NodeIds(f.NodeIDs),
		DeletedAt:     optionalTime(f.DeletedAt),
		ReceiptWindow: ageText(f.ReceiptWindow), ForgetNodesAfter: ageText(f.ForgetNodesAfter), StaticClusters: f.StaticClusters, PrivateClusters: f.PrivateClusters, LocalPorts: f.LocalPorts, Values: f.Values, Etag: f.ETag,
		Revision: int64(f.Revision), ChangedAt: f.ChangedAt, Resources: f.Resources, CreatedAt: f.CreatedAt,
		LoadReportClusters: listOrNil(f.LoadReports.Clusters), LoadReportEndpoints: optional(f.LoadReports.Endpoints),
	}
	if f.LoadReports.Interval > 0 {
		out.LoadReportInterval = optional(ageText(max(f.LoadReports.Interval, a.leastLoad)))
	}
	return out
}
