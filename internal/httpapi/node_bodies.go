package httpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// addBodies adds to each resource what the version in force for the node says. A Secret's body is sealed and stays where it
// is; one that is not kept any more is left out.
func (a *API) addBodies(ctx context.Context, node string, items []oapi.NodeResource) error {
	c := callOf(ctx)
	var held []store.HeldVersion
	var of []*oapi.NodeResource
	for i := range items {
		if items[i].Version != nil {
			held = append(held, store.HeldVersion{Ref: fleet.Ref{Type: typeOf(items[i].Type), Name: items[i].Name}, Version: *items[i].Version})
			of = append(of, &items[i])
		}
	}
	if err := a.store.HeldBodies(ctx, c.tenant.ID, c.fleet.ID, node, held); err != nil {
		return err
	}
	for i, v := range held {
		if err := addBody(of[i], v); err != nil {
			return err
		}
	}
	return nil
}

func addBody(to *oapi.NodeResource, v store.HeldVersion) (err error) {
	switch {
	case v.Type == fleet.Secret && v.Summary != nil:
		to.Secret, err = shownSecret(v.Name, v.Summary)
	case v.Type != fleet.Secret && v.Body != nil:
		body, err := resource.Render(v.Type, v.Body)
		if err != nil {
			return fmt.Errorf("render %s %q: %w", v.Type, v.Name, err)
		}
		raw := json.RawMessage(body)
		to.Body = &raw
	}
	return err
}
