package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// ListTokens implements listTokens.
func (a *API) ListTokens(ctx context.Context, c *call, r oapi.ListTokensRequestObject) (oapi.ListTokensResponseObject, error) {
	t := c.tenant.ID
	q, err := credentialFilter("tokens", r.Params.State, r.Params.Prefix, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	q.Role = auth.Role(deref(r.Params.Role))
	list, more, err := a.store.Tokens(ctx, t, q)
	if err != nil {
		return nil, err
	}
	names, err := a.fleetNames(ctx, t)
	if err != nil {
		return nil, err
	}
	out := oapi.ListTokens200JSONResponse{Items: each(list, func(k store.APIToken) oapi.Token { return tokenOf(k, names) })}
	if more {
		out.NextCursor = nextCredential("tokens", list[len(list)-1].ID)
	}
	return out, nil
}

// CreateToken implements createToken. The token is in the answer and nowhere else.
func (a *API) CreateToken(ctx context.Context, c *call, r oapi.CreateTokenRequestObject) (oapi.CreateTokenResponseObject, error) {
	role, err := auth.ParseRole(string(r.Body.Role))
	if err != nil {
		return nil, badField("/role", "not_allowed", "one of viewer, ci, editor, admin, owner")
	}
	if !c.principal.MayGrant(role) {
		return nil, refuse(http.StatusForbidden, "forbidden", "nobody can create a token of a higher role than their own")
	}
	if err := textField("/name", r.Body.Name, maxTitle); err != nil {
		return nil, err
	}
	if role == auth.RoleViewer && deref(r.Body.WritesSecrets) {
		return nil, badField("/writes_secrets", "not_allowed", "a viewer writes nothing: leave it out, or take the role ci")
	}
	grants, err := secretGrants(role, r.Body.UsesSecrets)
	if err != nil {
		return nil, err
	}
	alone := c.principal.Operator || deref(r.Body.HandedOver)
	if alone && !c.principal.May(auth.HandOverTokens) {
		return nil, refuse(http.StatusForbidden, "forbidden", "only an owner can make a token that does not end with the one that makes it: leave handed_over out")
	}
	now := time.Now()
	expires, err := tokenExpiry(r.Body.ExpiresAt, now, c.expires, alone)
	if err != nil {
		return nil, err
	}
	if role == auth.RoleCI && expires.After(now.Add(defaultLife)) {
		return nil, badField("/expires_at", "too_large", "at most 90 days from now for a token of the role ci")
	}
	bound, err := a.boundFleet(ctx, c, role, r.Body.Fleet)
	if err != nil {
		return nil, err
	}
	var parent *fleet.CredentialID
	if !alone {
		parent = &c.principal.Credential
	}
	id, token, hash := auth.NewAPIToken(role.TokenKind())
	k, err := a.store.CreateToken(ctx, c.tenant.ID, c.actor, store.APIToken{
		ID: id, Hash: hash, Role: role, Name: r.Body.Name, Fleet: bound, WritesSecrets: deref(r.Body.WritesSecrets), UsesSecrets: grants, ExpiresAt: expires, Parent: parent,
	})
	if err != nil {
		return nil, err
	}
	names := map[fleet.ID]string{}
	if bound != nil {
		names[*bound] = *r.Body.Fleet
	}
	return oapi.CreateToken201JSONResponse{ApiToken: tokenOf(k, names), Token: token}, nil
}

// secretGrants reads which Secrets a new token may use. Who makes tokens may use all, so it is never more than they have.
func secretGrants(role auth.Role, in *oapi.SecretGrants) (auth.SecretGrants, error) {
	if in == nil || len(*in) == 0 {
		return nil, nil
	}
	switch role {
	case auth.RoleCI, auth.RoleEditor:
	case auth.RoleViewer:
		return nil, badField("/uses_secrets", "not_allowed", "a viewer writes nothing: leave it out, or take the role ci or editor")
	default:
		return nil, badField("/uses_secrets", "not_allowed", "the roles admin and owner may use every secret: leave it out")
	}
	switch i, err := auth.CheckSecretGrants(*in); {
	case err == nil:
		return auth.SecretGrants(*in), nil
	case i < 0:
		return nil, badField("/uses_secrets", "too_large", invalidWords(err))
	default:
		return nil, badField(fmt.Sprintf("/uses_secrets/%d", i), "invalid", invalidWords(err))
	}
}

// invalidWords is what an error that is fleet.ErrInvalid says beside that.
func invalidWords(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+fleet.ErrInvalid.Error())
}

// tokenExpiry is expiry for a token that ends with its maker, unless it stands alone. The
// zero makerEnds is a maker without an end.
func tokenExpiry(at *time.Time, now, makerEnds time.Time, alone bool) (time.Time, error) {
	expires, err := expiry(at, now)
	if err != nil || alone || makerEnds.IsZero() || !expires.After(makerEnds) {
		return expires, err
	}
	if at != nil {
		return time.Time{}, badField("/expires_at", "too_large", "no later than "+makerEnds.Format(time.RFC3339Nano)+
			", when the token ends that makes this one: it ends with it, unless an owner makes it with handed_over")
	}
	return makerEnds, nil
}

// boundFleet finds the one fleet that a new token is for; nil: all of the tenant's.
func (a *API) boundFleet(ctx context.Context, c *call, role auth.Role, name *string) (*fleet.ID, error) {
	if name == nil {
		if role == auth.RoleCI {
			return nil, badField("/fleet", "required", "a token of the role ci is bound to one fleet: name it here (fairlead token create --for-fleet NAME)")
		}
		return nil, nil
	}
	if err := textField("/fleet", *name, maxTitle); err != nil {
		return nil, err
	}
	f, err := a.store.FleetByName(ctx, c.tenant.ID, *name)
	if errors.Is(err, fleet.ErrNotFound) {
		return nil, badField("/fleet", "unknown_fleet", "there is no fleet of this name")
	}
	if err != nil {
		return nil, err
	}
	return &f.ID, nil
}

// RevokeToken implements revokeToken.
func (a *API) RevokeToken(ctx context.Context, c *call, r oapi.RevokeTokenRequestObject) (oapi.RevokeTokenResponseObject, error) {
	id, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchToken(fleet.ErrNotFound, r.Id)
	}
	err = a.store.RevokeToken(ctx, c.tenant.ID, c.actor, id, store.Revocation{Within: revocable(c.principal), Leaked: deref(r.Params.Leaked)})
	if errors.Is(err, fleet.ErrForbidden) {
		return nil, refuse(http.StatusForbidden, "forbidden", "nobody can revoke a token of a higher role than their own")
	}
	if err != nil {
		return nil, noSuchToken(err, r.Id)
	}
	return oapi.RevokeToken204Response{}, nil
}

// GetTokenMade implements getTokenMade.
func (a *API) GetTokenMade(ctx context.Context, c *call, r oapi.GetTokenMadeRequestObject) (oapi.GetTokenMadeResponseObject, error) {
	id, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchToken(fleet.ErrNotFound, r.Id)
	}
	m, err := a.store.Made(ctx, c.tenant.ID, id)
	if err != nil {
		return nil, noSuchToken(err, r.Id)
	}
	names, err := a.fleetNames(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	return oapi.GetTokenMade200JSONResponse{
		TokenCount: m.TokenCount, StayingTokenCount: m.StayingCount, Tokens: each(m.Tokens, func(k store.APIToken) oapi.Token { return tokenOf(k, names) }),
		CredentialCount: m.CredentialCount,
		Credentials: each(m.Credentials, func(x store.MadeCredential) oapi.MadeCredential {
			return oapi.MadeCredential{Fleet: x.Fleet, Credential: credentialOf(x.NodeCredential)}
		}),
	}, nil
}

// revocable are the roles of the tokens that the caller may revoke.
func revocable(p auth.Principal) (roles []auth.Role) {
	for _, role := range auth.Roles() {
		if p.MayRevoke(role) {
			roles = append(roles, role)
		}
	}
	return roles
}

// HandOverToken implements handOverToken.
func (a *API) HandOverToken(ctx context.Context, c *call, r oapi.HandOverTokenRequestObject) (oapi.HandOverTokenResponseObject, error) {
	id, err := fleet.ParseCredentialID(r.Id)
	if err != nil {
		return nil, noSuchToken(fleet.ErrNotFound, r.Id)
	}
	k, err := a.store.HandOverToken(ctx, c.tenant.ID, c.actor, id)
	if errors.Is(err, fleet.ErrConflict) {
		return nil, refuse(http.StatusConflict, "token_ended", "the token is revoked or has expired: create a new one")
	}
	if err != nil {
		return nil, noSuchToken(err, r.Id)
	}
	names, err := a.fleetNames(ctx, c.tenant.ID)
	if err != nil {
		return nil, err
	}
	return oapi.HandOverToken200JSONResponse(tokenOf(k, names)), nil
}

func tokenOf(k store.APIToken, fleets map[fleet.ID]string) oapi.Token {
	out := oapi.Token{
		Id: k.ID.String(), Name: k.Name, Role: oapi.Role(k.Role), WritesSecrets: optional(k.WritesSecrets), CreatedAt: k.CreatedAt,
		ExpiresAt: optionalTime(k.ExpiresAt), RevokedAt: optionalTime(k.RevokedAt), MadeBy: makerOf(k.CreatedBy),
	}
	if len(k.UsesSecrets) > 0 {
		out.UsesSecrets = (*oapi.SecretGrants)(&k.UsesSecrets)
	}
	if k.Parent != nil {
		out.EndsWith = optional(k.Parent.String())
	}
	if k.Fleet != nil {
		out.Fleet = optional(fleets[*k.Fleet])
	}
	return out
}

func makerOf(m store.Maker) oapi.Maker {
	out := oapi.Maker{Kind: oapi.MakerKindToken, Name: m.Name}
	switch {
	case m.Credential == (fleet.CredentialID{}):
		out.Kind = oapi.MakerKindServer
		return out
	case m.Operator:
		out.Kind = oapi.MakerKindOperator
	}
	out.Id = optional(m.Credential.String())
	return out
}
