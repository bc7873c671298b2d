package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListFleets implements listFleets. A caller that is bound to a fleet sees that one.
func (a *API) ListFleets(ctx context.Context, r oapi.ListFleetsRequestObject) (oapi.ListFleetsResponseObject, error) {
	c := callOf(ctx)
	prefix, err := prefixOf(r.Params.Prefix)
	if err != nil {
		return nil, err
	}
	if r.Params.State != nil {
		return a.deletedFleets(ctx, r.Params, prefix)
	}
	from, err := parseCursor("fleets", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if c.principal.Fleet != nil {
		return a.ownFleet(ctx, c, prefix, from.Name)
	}
	fleets, more, err := a.store.FleetsNamed(ctx, c.tenant.ID, prefix, from.Name, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListFleets200JSONResponse{Items: each(fleets, fleetOf)}
	if more {
		out.NextCursor = next(cursor{List: "fleets", Name: fleets[len(fleets)-1].Name})
	}
	return out, nil
}

// ownFleet is the list of a caller that is bound to a fleet, if it has a name of the list behind the cursor.
func (a *API) ownFleet(ctx context.Context, c *call, prefix, after string) (oapi.ListFleetsResponseObject, error) {
	out := oapi.ListFleets200JSONResponse{Items: []oapi.Fleet{}}
	names, err := a.fleetNames(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	if name, ok := names[*c.principal.Fleet]; ok && strings.HasPrefix(name, prefix) && name > after {
		f, err := a.store.FleetByName(ctx, c.tenant.ID, name)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, fleetOf(f))
	}
	return out, nil
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
func (a *API) CreateFleet(ctx context.Context, r oapi.CreateFleetRequestObject) (oapi.CreateFleetResponseObject, error) {
	c := callOf(ctx)
	description := deref(r.Body.Description)
	if err := textField("/description", description, maxText); err != nil {
		return nil, err
	}
	set, err := settingsOf(r.Body.References, r.Body.NodeIds, r.Body.ReceiptWindow, r.Body.ForgetNodesAfter, r.Body.StaticClusters)
	if err != nil {
		return nil, err
	}
	f, err := a.store.CreateFleetWith(ctx, c.tenant.ID, c.actor, r.Body.Name, description, set)
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "already_exists", "a fleet of this name is there already")
	}
	if err != nil {
		return nil, err
	}
	return oapi.CreateFleet201JSONResponse(fleetOf(f)), nil
}

// GetFleet implements getFleet.
func (a *API) GetFleet(ctx context.Context, _ oapi.GetFleetRequestObject) (oapi.GetFleetResponseObject, error) {
	out := fleetOf(callOf(ctx).fleet)
	var err error
	out.Counts, err = a.fleetCounts(ctx)
	return oapi.GetFleet200JSONResponse(out), err
}

// DeleteFleet implements deleteFleet.
func (a *API) DeleteFleet(ctx context.Context, r oapi.DeleteFleetRequestObject) (oapi.DeleteFleetResponseObject, error) {
	c := callOf(ctx)
	seen, err := confirmedDeletion(r.Params.Confirm, deletionOf(c.fleet.ID))
	if err != nil {
		return nil, err
	}
	err = a.store.DeleteFleetConfirmed(ctx, c.tenant.ID, c.actor, c.fleet.ID, store.Confirmation{Seen: seen.seen, Reasons: seen.reasons})
	if err != nil {
		return nil, toConfirm(err, deletionOf(c.fleet.ID))
	}
	return oapi.DeleteFleet204Response{}, nil
}

func fleetOf(f store.Fleet) oapi.Fleet {
	return oapi.Fleet{
		Id: f.ID.String(), Name: f.Name, Description: f.Description, References: oapi.References(f.References), NodeIds: oapi.NodeIds(f.NodeIDs),
		DeletedAt:     optionalTime(f.DeletedAt),
		ReceiptWindow: ageText(f.ReceiptWindow), ForgetNodesAfter: ageText(f.ForgetNodesAfter), StaticClusters: f.StaticClusters,
		Revision: int64(f.Revision), ChangedAt: f.ChangedAt, Resources: f.Resources, CreatedAt: f.CreatedAt,
	}
}
