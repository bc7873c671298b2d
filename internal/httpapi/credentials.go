package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

const (
	defaultLife = 90 * 24 * time.Hour
	longestLife = 366 * 24 * time.Hour
)

// expiry reads an expires_at of a new token or credential.
func expiry(at *time.Time, now time.Time) (time.Time, error) {
	switch {
	case at == nil:
		return now.Add(defaultLife), nil
	case !at.After(now):
		return time.Time{}, badField("/expires_at", "too_small", "the time has to be in the future")
	case at.After(now.Add(longestLife)):
		return time.Time{}, badField("/expires_at", "too_large", "at most 366 days from now")
	}
	return *at, nil
}

// ListCredentials implements listCredentials.
func (a *API) ListCredentials(ctx context.Context, c *call, r oapi.ListCredentialsRequestObject) (oapi.ListCredentialsResponseObject, error) {
	q, err := credentialFilter("credentials", r.Params.State, nil, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	list, more, err := a.store.NodeCredentials(ctx, c.tenant.ID, c.fleet.ID, q)
	if err != nil {
		return nil, err
	}
	out := oapi.ListCredentials200JSONResponse{Items: each(list, credentialOf)}
	if more {
		out.NextCursor = nextCredential("credentials", list[len(list)-1].ID)
	}
	return out, nil
}

// credentialFilter reads what the lists of tokens and credentials have in common.
func credentialFilter(list string, state *oapi.CredentialState, prefix *string, limit *int, at *string) (q store.CredentialFilter, err error) {
	from, err := parseCursor(list, at)
	if err != nil {
		return q, err
	}
	q = store.CredentialFilter{State: string(deref(state)), Limit: pageLimit(limit)}
	if from != (cursor{}) {
		if q.After, err = fleet.ParseCredentialID(from.Name); err != nil {
			return q, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
	}
	q.Prefix, err = prefixOf(prefix)
	return q, err
}

func nextCredential(list string, last fleet.CredentialID) *string {
	return next(cursor{List: list, Name: last.String()})
}

// CreateCredential implements createCredential. The token is in the answer and nowhere
// else: what is stored is its hash.
func (a *API) CreateCredential(ctx context.Context, c *call, r oapi.CreateCredentialRequestObject) (oapi.CreateCredentialResponseObject, error) {
	nodes, description := r.Body.Nodes, deref(r.Body.Description)
	if _, err := auth.ParseNodePattern(nodes); err != nil {
		return nil, badField("/nodes", "invalid_pattern", "a node id, a prefix with * at its end, or *")
	}
	if err := textField("/description", description, maxText); err != nil {
		return nil, err
	}
	expires, err := expiry(r.Body.ExpiresAt, time.Now())
	if err != nil {
		return nil, err
	}
	id, token, hash := auth.NewNodeToken(expires)
	n, err := a.store.CreateNodeCredential(ctx, c.tenant.ID, c.fleet.ID, c.actor,
		store.NodeCredential{ID: id, Hash: hash, Nodes: nodes, Description: description, ExpiresAt: expires})
	if err != nil {
		return nil, err
	}
	return oapi.CreateCredential201JSONResponse{Credential: credentialOf(n), Token: token}, nil
}

// RenewCredential implements renewCredential.
func (a *API) RenewCredential(ctx context.Context, c *call, r oapi.RenewCredentialRequestObject) (oapi.RenewCredentialResponseObject, error) {
	old, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchCredential(fleet.ErrNotFound, r.Id)
	}
	now := time.Now()
	expires, err := expiry(r.Body.ExpiresAt, now)
	if err != nil {
		return nil, err
	}
	oldEnd := deref(r.Body.OldExpiresAt)
	if r.Body.OldExpiresAt != nil && !oldEnd.After(now) {
		return nil, badField("/old_expires_at", "too_small", "the time has to be in the future; to end the old credential at once, renew it and then revoke it")
	}
	id, token, hash := auth.NewNodeToken(expires)
	n, err := a.store.RenewNodeCredential(ctx, c.tenant.ID, c.fleet.ID, c.actor, old, oldEnd, store.NodeCredential{ID: id, Hash: hash, ExpiresAt: expires})
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "credential_ended", "the node credential is revoked or has expired: create a new one")
	}
	if err != nil {
		return nil, noSuchCredential(err, r.Id)
	}
	return oapi.RenewCredential201JSONResponse{Credential: credentialOf(n), Token: token}, nil
}

// RevokeCredential implements revokeCredential.
func (a *API) RevokeCredential(ctx context.Context, c *call, r oapi.RevokeCredentialRequestObject) (oapi.RevokeCredentialResponseObject, error) {
	id, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchCredential(fleet.ErrNotFound, r.Id)
	}
	if err := a.store.RevokeNodeCredential(ctx, c.tenant.ID, c.fleet.ID, c.actor, id); err != nil {
		return nil, noSuchCredential(err, r.Id)
	}
	return oapi.RevokeCredential204Response{}, nil
}

func credentialOf(n store.NodeCredential) oapi.Credential {
	out := oapi.Credential{
		Id: n.ID.String(), Nodes: n.Nodes, Description: n.Description, CreatedAt: n.CreatedAt,
		ExpiresAt: optionalTime(n.ExpiresAt), RevokedAt: optionalTime(n.RevokedAt),
		LastUsedAt: optionalTime(n.LastUsedAt), LastUsedFrom: optional(n.LastUsedFrom),
	}
	if n.CreatedBy.Credential != (fleet.CredentialID{}) {
		by := makerOf(n.CreatedBy)
		out.MadeBy = &by
	}
	return out
}
