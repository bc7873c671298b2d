package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// addBodies adds to each resource what the version in force for the node says, and returns those that fit into one answer. A Secret's body is sealed
// and stays where it is; one that is not kept any more is left out.
func (a *API) addBodies(ctx context.Context, c *call, node string, items []oapi.NodeResource) ([]oapi.NodeResource, error) {
	room, told := answerBytes, 0
	for batch := range slices.Chunk(items, bodiesAtOnce) {
		var held []store.HeldVersion
		var of []int
		for i, item := range batch {
			if item.Version != nil {
				held = append(held, store.HeldVersion{Ref: fleet.Ref{Type: typeOf(item.Type), Name: item.Name}, Version: *item.Version})
				of = append(of, i)
			}
		}
		if err := a.store.HeldBodies(ctx, c.tenant.ID, c.fleet.ID, node, held); err != nil {
			return nil, err
		}
		size, full := 0, -1 // the first that has no room
		for _, v := range held {
			size += rowBytes + len(v.Body)
		}
		err := a.computeReading(ctx, c, partBytes(size, len(items)), func(step func() error) error {
			for i, v := range held {
				if room <= 0 {
					full = of[i]
					return nil
				}
				if err := step(); err != nil {
					return err
				}
				to := &batch[of[i]]
				if err := addBody(to, v); err != nil {
					return err
				}
				if to.Body != nil {
					room -= len(*to.Body)
				}
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case full >= 0:
			return items[:told+full], nil
		}
		told += len(batch)
	}
	return items, nil
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
