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

// ListOperatorTokens implements listOperatorTokens.
func (a *API) ListOperatorTokens(ctx context.Context, _ *call, r oapi.ListOperatorTokensRequestObject) (oapi.ListOperatorTokensResponseObject, error) {
	q, err := credentialFilter("operator tokens", r.Params.State, r.Params.Prefix, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	list, more, err := a.store.OperatorTokens(ctx, q)
	if err != nil {
		return nil, err
	}
	out := oapi.ListOperatorTokens200JSONResponse{Items: each(list, operatorTokenOf)}
	if more {
		out.NextCursor = nextCredential("operator tokens", list[len(list)-1].ID)
	}
	return out, nil
}

// CreateOperatorToken implements createOperatorToken. The token is in the answer and
// nowhere else.
func (a *API) CreateOperatorToken(ctx context.Context, c *call, r oapi.CreateOperatorTokenRequestObject) (oapi.CreateOperatorTokenResponseObject, error) {
	if err := textField("/name", r.Body.Name, maxTitle); err != nil {
		return nil, err
	}
	expires, err := expiry(r.Body.ExpiresAt, time.Now())
	if err != nil {
		return nil, err
	}
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	k, err := a.store.CreateOperatorToken(ctx, c.actor, store.OperatorToken{ID: id, Hash: hash, Name: r.Body.Name, ExpiresAt: expires})
	if err != nil {
		return nil, err
	}
	return oapi.CreateOperatorToken201JSONResponse{OperatorToken: operatorTokenOf(k), Token: token}, nil
}

// RevokeOperatorToken implements revokeOperatorToken.
func (a *API) RevokeOperatorToken(ctx context.Context, c *call, r oapi.RevokeOperatorTokenRequestObject) (oapi.RevokeOperatorTokenResponseObject, error) {
	id, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchToken(fleet.ErrNotFound, r.Id)
	}
	err = a.store.RevokeOperatorToken(ctx, c.actor, id)
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "last_operator_token", "this is the last operator token that is good: make another before you revoke it")
	}
	if err != nil {
		return nil, noSuchToken(err, r.Id)
	}
	return oapi.RevokeOperatorToken204Response{}, nil
}

func operatorTokenOf(k store.OperatorToken) oapi.OperatorToken {
	return oapi.OperatorToken{
		Id: k.ID.String(), Name: k.Name, CreatedAt: k.CreatedAt, MadeBy: optional(k.CreatedBy),
		ExpiresAt: k.ExpiresAt, RevokedAt: optionalTime(k.RevokedAt), RevokedBy: optional(k.RevokedBy),
	}
}
