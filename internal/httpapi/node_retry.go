package httpapi

import (
	"context"
	"errors"
	"net/http"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const maxRetryRefs = 100

// RetryNode implements retryNode.
func (a *API) RetryNode(ctx context.Context, c *call, r oapi.RetryNodeRequestObject) (oapi.RetryNodeResponseObject, error) {
	if err := text("node", r.Node); err != nil {
		return nil, err
	}
	refs, err := a.store.RetryNode(ctx, c.tenant.ID, c.fleet.ID, c.actor, r.Node)
	if err != nil {
		return nil, noRetry(err)
	}
	n, err := a.store.Node(ctx, c.tenant.ID, c.fleet.ID, r.Node)
	if err != nil {
		return nil, noSuchNode(err)
	}
	out := oapi.RetryNode200JSONResponse{Node: n.ID, State: oapi.NodeState(n.State), Resources: []oapi.ResourceRef{}}
	for _, ref := range refs {
		if ref.Name == "" {
			continue
		}
		if out.Retried++; out.Retried <= maxRetryRefs {
			out.Resources = append(out.Resources, refOf(ref))
		}
	}
	return out, nil
}

// noRetry says what can be done instead.
func noRetry(err error) error {
	if !errors.Is(err, store.ErrNothingRefused) {
		return noSuchNode(err)
	}
	p := refuse(http.StatusConflict, "nothing_refused", "the node refuses nothing at present, so there is nothing to offer it again: "+
		"its page tells what it has refused, and what is still on its way to it")
	p.cause = err
	return p
}
