package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// deletedFleets is a page of the fleets that were deleted and can be restored. A name is there as often as a fleet of it
// was deleted, so the cursor has the id too.
func (a *API) deletedFleets(ctx context.Context, c *call, p oapi.ListFleetsParams, prefix string) (oapi.ListFleetsResponseObject, error) {
	out := oapi.ListFleets200JSONResponse{Items: []oapi.Fleet{}}
	from, err := parseCursor("deleted fleets", p.Cursor)
	if err != nil || c.principal.Fleet != nil { // who is bound to a fleet has none that is deleted
		return out, err
	}
	after, _ := fleet.ParseID(from.Variant) // zero at the beginning
	fleets, more, err := a.store.DeletedFleets(ctx, c.tenant.ID, prefix, from.Name, after, pageLimit(p.Limit))
	if err != nil {
		return nil, err
	}
	if out.Items = each(fleets, a.fleetOf); more {
		last := fleets[len(fleets)-1]
		out.NextCursor = next(cursor{List: "deleted fleets", Name: last.Name, Variant: last.ID.String()})
	}
	return out, nil
}

// RestoreFleet implements restoreFleet.
func (a *API) RestoreFleet(ctx context.Context, c *call, r oapi.RestoreFleetRequestObject) (oapi.RestoreFleetResponseObject, error) {
	if err := text("fleet", r.Fleet); err != nil {
		return nil, err
	}
	var id *fleet.ID
	if r.Params.Id != nil {
		parsed, err := fleet.ParseID(*r.Params.Id)
		if err != nil {
			return nil, badParameter("id", "invalid", "this is not the id of a fleet, as the list of deleted fleets has it")
		}
		id = &parsed
	}
	gone, err := a.store.DeletedFleet(ctx, c.tenant.ID, r.Fleet, id)
	if err != nil {
		return nil, a.cannotRestore(ctx, c, err, r.Fleet)
	}
	f, err := a.store.RestoreFleet(ctx, c.tenant.ID, c.actor, gone.ID)
	switch {
	case errors.Is(err, fleet.ErrConflict):
		return nil, refuse(http.StatusConflict, "already_exists", fmt.Sprintf(
			"there is a fleet of the name %q by now, and a fleet cannot be given another name: to have this one back, delete that one and restore this one with id=%s", r.Fleet, gone.ID))
	case err != nil:
		return nil, a.cannotRestore(ctx, c, err, r.Fleet)
	}
	return oapi.RestoreFleet200JSONResponse(a.fleetOf(f)), nil
}

// cannotRestore tells of a fleet that was not found among the deleted ones whether it is there.
func (a *API) cannotRestore(ctx context.Context, c *call, err error, name string) error {
	if !errors.Is(err, fleet.ErrNotFound) {
		return err
	}
	_, there := a.store.FleetByName(ctx, c.tenant.ID, name)
	switch {
	case there == nil:
		return refuse(http.StatusConflict, "not_deleted", fmt.Sprintf("the fleet %q is there, and no other one of the name was deleted in the last 30 days", name))
	case !errors.Is(there, fleet.ErrNotFound):
		return there
	}
	return missing(err, oapi.MissingFleet, fmt.Sprintf("no fleet %q was deleted in the last 30 days: the list of fleets with state=deleted has those that can be restored", name))
}

// deletedTenants is a page of the tenants that were deleted and can be restored: an operator's to see.
func (a *API) deletedTenants(ctx context.Context, c *call, p oapi.ListTenantsParams, prefix string) (oapi.ListTenantsResponseObject, error) {
	out := oapi.ListTenants200JSONResponse{Items: []oapi.Tenant{}}
	from, err := parseCursor("deleted tenants", p.Cursor)
	if err != nil || !c.principal.Operator {
		return out, err
	}
	tenants, more, err := a.store.DeletedTenants(ctx, prefix, from.Name, pageLimit(p.Limit))
	if err != nil {
		return nil, err
	}
	if out.Items = each(tenants, tenantOf); more {
		out.NextCursor = next(cursor{List: "deleted tenants", Name: tenants[len(tenants)-1].Slug})
	}
	return out, nil
}

// RestoreTenant implements restoreTenant.
func (a *API) RestoreTenant(ctx context.Context, c *call, r oapi.RestoreTenantRequestObject) (oapi.RestoreTenantResponseObject, error) {
	if err := text("tenant", r.Tenant); err != nil {
		return nil, err
	}
	t, err := a.store.RestoreTenant(ctx, c.actor, r.Tenant)
	switch {
	case errors.Is(err, fleet.ErrConflict):
		return nil, refuse(http.StatusConflict, "not_deleted", fmt.Sprintf("the tenant %q is there", r.Tenant))
	case err != nil:
		return nil, missing(err, oapi.MissingTenant, fmt.Sprintf("no tenant %q was deleted in the last 30 days: the list of tenants with state=deleted has those that can be restored", r.Tenant))
	}
	return oapi.RestoreTenant200JSONResponse(tenantOf(t)), nil
}
