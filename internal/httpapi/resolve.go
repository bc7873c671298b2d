package httpapi

import (
	"context"
	"errors"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// tenantKey is how a tenant is looked up: a member's own by its id, and by the slug of the path for an operator.
type tenantKey struct {
	id   fleet.TenantID
	slug string // of an operator's
}

// tenantKeyOf is a member's own tenant alone, so whether another one exists changes neither the answer nor the time that it takes.
func tenantKeyOf(c *call, slug string) tenantKey {
	if c.principal.Operator {
		return tenantKey{slug: slug}
	}
	return tenantKey{id: c.principal.Tenant}
}

// fleetKey is a fleet by its name.
type fleetKey struct {
	of   tenantKey
	name string
}

// tenantAndFleet is shared: nobody changes it.
type tenantAndFleet struct {
	tenant store.Tenant
	fleet  *store.Fleet // nil: there is none
}

func (a *API) tenant(ctx context.Context, k tenantKey) (store.Tenant, error) {
	if k.id == (fleet.TenantID{}) {
		return a.store.TenantBySlug(ctx, k.slug)
	}
	return a.store.Tenant(ctx, k.id)
}

func (a *API) tenantAndFleet(ctx context.Context, k fleetKey) (out tenantAndFleet, err error) {
	id := k.of.id
	if id == (fleet.TenantID{}) {
		if out.tenant, err = a.tenant(ctx, k.of); err != nil {
			return out, err
		}
		id = out.tenant.ID
	}
	out.tenant, out.fleet, err = a.store.TenantAndFleet(ctx, id, k.name)
	return out, err
}

// resolveTenant finds the tenant that the path names.
func (a *API) resolveTenant(ctx context.Context, c *call, slug string) error {
	k := tenantKeyOf(c, slug)
	t, err := a.tenants.Do(ctx, k, func(ctx context.Context) (store.Tenant, error) { return a.tenant(ctx, k) })
	return c.in(slug, t, err)
}

// resolveFleet finds the tenant and the fleet that the path names.
func (a *API) resolveFleet(ctx context.Context, c *call, slug, name string) error {
	k := fleetKey{tenantKeyOf(c, slug), name}
	found, err := a.fleets.Do(ctx, k, func(ctx context.Context) (tenantAndFleet, error) { return a.tenantAndFleet(ctx, k) })
	if err := c.in(slug, found.tenant, err); err != nil {
		return err
	}
	switch f := found.fleet; {
	case f == nil:
		return errNoFleet
	case c.principal.Fleet != nil && *c.principal.Fleet != f.ID:
		return errNoFleet // a token that is bound to a fleet does not see its neighbours
	default:
		c.fleet, c.note.fleet = *f, f.Name
		return nil
	}
}

// in notes the tenant that was looked up, if the caller sees it and the path names it.
func (c *call) in(slug string, t store.Tenant, err error) error {
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		return errNoTenant
	case err != nil:
		return err
	case t.Slug != slug, !c.principal.Sees(t.ID):
		return errNoTenant
	}
	c.tenant, c.note.tenant = t, t.Slug
	return nil
}
