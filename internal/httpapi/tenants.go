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

// Whoami implements whoami.
func (a *API) Whoami(ctx context.Context, c *call, _ oapi.WhoamiRequestObject) (oapi.WhoamiResponseObject, error) {
	out := oapi.Whoami200JSONResponse{Kind: oapi.WhoamiKindOperator, Id: c.principal.Credential.String(), Name: c.principal.Name, ExpiresAt: optionalTime(c.expires)}
	if x := c.session; x != nil {
		out.Session = &oapi.OwnSession{Id: x.ID.String(), ExpiresAt: x.ExpiresAt, IdleAt: x.IdleAt}
	}
	if c.principal.Operator {
		return out, nil
	}
	t, err := a.store.Tenant(ctx, c.principal.Tenant)
	if err != nil {
		return nil, err
	}
	role := oapi.Role(c.principal.Role)
	out.Kind, out.Tenant, out.Role = oapi.WhoamiKindTenant, &t.Slug, &role
	if len(c.principal.UsesSecrets) > 0 {
		out.UsesSecrets = (*oapi.SecretGrants)(&c.principal.UsesSecrets)
	}
	if c.principal.Fleet != nil {
		names, err := a.fleetNames(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		out.Fleet = optional(names[*c.principal.Fleet])
	}
	return out, nil
}

// ListTenants implements listTenants: all for an operator, the own one for a member.
func (a *API) ListTenants(ctx context.Context, c *call, r oapi.ListTenantsRequestObject) (oapi.ListTenantsResponseObject, error) {
	prefix, err := prefixOf(r.Params.Prefix)
	if err != nil {
		return nil, err
	}
	if r.Params.State != nil {
		return a.deletedTenants(ctx, c, r.Params, prefix)
	}
	from, err := parseCursor("tenants", r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if !c.principal.Operator {
		t, err := a.store.Tenant(ctx, c.principal.Tenant)
		if err != nil {
			return nil, err
		}
		out := oapi.ListTenants200JSONResponse{Items: []oapi.Tenant{}}
		if strings.HasPrefix(t.Slug, prefix) && t.Slug > from.Name {
			out.Items = append(out.Items, tenantOf(t))
		}
		return out, nil
	}
	tenants, more, err := a.store.TenantsNamed(ctx, prefix, from.Name, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListTenants200JSONResponse{Items: each(tenants, tenantOf)}
	if more {
		out.NextCursor = next(cursor{List: "tenants", Name: tenants[len(tenants)-1].Slug})
	}
	return out, nil
}

// CreateTenant implements createTenant.
func (a *API) CreateTenant(ctx context.Context, c *call, r oapi.CreateTenantRequestObject) (oapi.CreateTenantResponseObject, error) {
	name := r.Body.Slug
	if r.Body.Name != nil && *r.Body.Name != "" {
		name = *r.Body.Name
	}
	if err := textField("/name", name, maxTitle); err != nil {
		return nil, err
	}
	t, err := a.store.CreateTenant(ctx, c.actor, r.Body.Slug, name)
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "already_exists", "the slug is in use: by a tenant that exists, or by one that was deleted less than 30 days ago, which an operator can restore")
	}
	if err != nil {
		return nil, err
	}
	return oapi.CreateTenant201JSONResponse(tenantOf(t)), nil
}

// GetTenant implements getTenant.
func (a *API) GetTenant(_ context.Context, c *call, _ oapi.GetTenantRequestObject) (oapi.GetTenantResponseObject, error) {
	return oapi.GetTenant200JSONResponse(tenantOf(c.tenant)), nil
}

// DeleteTenant implements deleteTenant.
func (a *API) DeleteTenant(ctx context.Context, c *call, r oapi.DeleteTenantRequestObject) (oapi.DeleteTenantResponseObject, error) {
	seen, err := confirmedDeletion(r.Params.Confirm, write.DeletionOf(c.tenant.ID))
	if err != nil {
		return nil, err
	}
	if err := a.store.DeleteTenantConfirmed(ctx, c.tenant.ID, c.actor, seen.Reasons); err != nil {
		return nil, toConfirm(err, write.DeletionOf(c.tenant.ID))
	}
	return oapi.DeleteTenant204Response{}, nil
}

func tenantOf(t store.Tenant) oapi.Tenant {
	return oapi.Tenant{Id: t.ID.String(), Slug: t.Slug, Name: t.Name, CreatedAt: t.CreatedAt, DeletedAt: optionalTime(t.DeletedAt)}
}
