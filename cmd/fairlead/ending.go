package main

import (
	"context"

	client "fairlead/clients/go"
)

// deletedOnes asks a list for what was deleted and can be restored.
func deletedOnes() *client.DeletedState {
	s := client.DeletedState("deleted")
	return &s
}

// fleetDeleteCommand is "fairlead fleet delete".
type fleetDeleteCommand struct {
	Connection connection `embed:""`
	Name       string     `arg:"" help:"The fleet's name."`
	Yes        bool       `help:"Delete it although nodes are connected. Without it a person is asked on a terminal, and nothing is deleted elsewhere."`
	JSON       bool       `name:"json" help:"Print a JSON document."`
}

// Run deletes the fleet.
func (c *fleetDeleteCommand) Run(ctx context.Context, sh *shell) error {
	c.Connection.Fleet = c.Name
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	err = s.confirmed(c.Yes, func(confirm string) error {
		resp, err := s.api.DeleteFleet(ctx, s.tenant, s.fleet, &client.DeleteFleetParams{Confirm: given(confirm)}) //nolint:bodyclose // ended closes it
		return ended(s, resp, err, "fleet "+c.Name+" is deleted; for 30 days \"fairlead fleet restore "+c.Name+"\" brings it back")
	})
	if err != nil {
		return err
	}
	return s.tellEnd(c.JSON, map[string]any{"fleet": c.Name, "deleted": true})
}

// fleetRestoreCommand is "fairlead fleet restore".
type fleetRestoreCommand struct {
	Connection connection `embed:""`
	Name       string     `arg:"" help:"The fleet's name."`
	ID         string     `name:"id" placeholder:"ID" help:"Which one, as \"fairlead fleet list --deleted\" has it, where several of the name were deleted; without it the one that was deleted last."`
	JSON       bool       `name:"json" help:"Print the API's JSON."`
}

// Run takes back the deletion.
func (c *fleetRestoreCommand) Run(ctx context.Context, sh *shell) error {
	c.Connection.Fleet = c.Name
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	resp, err := s.api.RestoreFleet(ctx, s.tenant, s.fleet, &client.RestoreFleetParams{Id: given(c.ID)}) //nolint:bodyclose // answer closes it
	f, raw, err := answer[client.Fleet](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.JSON, raw, "fleet "+f.Name+" is there again", "")
}

type tenantDeleteCommand struct {
	Connection connection `embed:""`
	Slug       string     `arg:"" help:"What paths call it."`
	Yes        bool       `help:"Delete it although nodes are connected. Without it a person is asked on a terminal, and nothing is deleted elsewhere."`
	JSON       bool       `name:"json" help:"Print a JSON document."`
}

// Run deletes the tenant.
func (c *tenantDeleteCommand) Run(ctx context.Context, sh *shell) error {
	c.Connection.Tenant = c.Slug
	s, err := c.Connection.openFor(sh, ofTenant)
	if err != nil {
		return err
	}
	err = s.confirmed(c.Yes, func(confirm string) error {
		resp, err := s.api.DeleteTenant(ctx, s.tenant, &client.DeleteTenantParams{Confirm: given(confirm)}) //nolint:bodyclose // ended closes it
		return ended(s, resp, err, "tenant "+c.Slug+" is deleted; for 30 days an operator's \"fairlead tenant restore "+c.Slug+"\" brings it back")
	})
	if err != nil {
		return err
	}
	return s.tellEnd(c.JSON, map[string]any{"tenant": c.Slug, "deleted": true})
}

type tenantRestoreCommand struct {
	Connection connection `embed:""`
	Slug       string     `arg:"" help:"What paths call it."`
	JSON       bool       `name:"json" help:"Print the API's JSON."`
}

// Run takes back the deletion.
func (c *tenantRestoreCommand) Run(ctx context.Context, sh *shell) error {
	c.Connection.Tenant = c.Slug
	s, err := c.Connection.openFor(sh, ofTenant)
	if err != nil {
		return err
	}
	resp, err := s.api.RestoreTenant(ctx, s.tenant) //nolint:bodyclose // answer closes it
	t, raw, err := answer[client.Tenant](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.JSON, raw, "tenant "+t.Slug+" is there again", "")
}
