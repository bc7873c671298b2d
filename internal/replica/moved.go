package replica

import (
	"context"
	"fmt"

	"fairlead/internal/fleet"
)

// moved asks whether another database has the fleet's tenant. A tenant that leaves moves its fleets' epochs, so a fleet is asked about when it is read for the
// first time, and when its epoch has moved. Any of its credentials tells.
func (o *owner) moved(ctx context.Context, old *held, c fleet.Change) (bool, error) {
	ask := o.r.cfg.Moving
	if ask == nil || old != nil && !c.EpochMoved {
		return false, nil
	}
	id, ok := oneOf(c.Credentials)
	if !ok && old != nil {
		for id = range old.creds {
			ok = true
			break
		}
	}
	if !ok {
		return false, nil // nobody has a token for it
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	moved, err := ask(ctx, id)
	if err != nil {
		return false, fmt.Errorf("find where the tenant is: %w", err)
	}
	return moved, nil
}

func oneOf(cs []fleet.Credential) (id fleet.CredentialID, ok bool) {
	if len(cs) == 0 {
		return id, false
	}
	return cs[0].ID, true
}
