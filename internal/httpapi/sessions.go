package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// maxAgent is how much is kept of what a browser calls itself, in bytes.
const maxAgent = 256

// SignIn implements signIn. The secret of the session is in its cookie and nowhere else.
func (a *API) SignIn(ctx context.Context, c *call, r oapi.SignInRequestObject) (oapi.SignInResponseObject, error) {
	in, token, err := a.goodToken(ctx, c, r.Body.Token)
	if err != nil {
		return nil, err
	}
	p := token.Principal
	c.note.credential = p.Credential.String()
	if err := in.spend(ctx, p, access.BothOf(p, store.LimitTokenWrites, store.LimitWrites)); err != nil {
		return nil, err
	}
	id, secret, hash := auth.NewSession()
	begun := store.NewSession{ID: id, Hash: hash, Token: p.Credential, IP: c.actor.IP, UserAgent: c.agent}
	if len(c.cookies) == 1 { // whoever planted it has no session that somebody signed in to
		if old, err := auth.ParseSession(c.cookies[0]); err == nil {
			begun.Before, begun.OldHash = old, auth.Hash(c.cookies[0])
		}
	}
	actor := c.actor
	actor.Credential, actor.Name = p.Credential, p.Name
	ends, err := in.store.BeginSession(ctx, actor, begun)
	if err != nil {
		return nil, err
	}
	if a.cells != nil && begun.Before != (fleet.SessionID{}) {
		a.cells.endElsewhere(ctx, in, c, begun)
	}
	cookie := c.cookie.given(secret, time.Until(ends))
	return oapi.SignIn204Response{Headers: oapi.SignIn204ResponseHeaders{SetCookie: cookie.String()}}, nil
}

// SignOut implements signOut.
func (a *API) SignOut(ctx context.Context, c *call, _ oapi.SignOutRequestObject) (oapi.SignOutResponseObject, error) {
	if c.session == nil {
		return oapi.SignOut204Response{}, nil
	}
	err := a.endOwn(ctx, c)
	if err != nil && !errors.Is(err, fleet.ErrNotFound) {
		return nil, err
	}
	return signedOut{c.cookie}, nil
}

func (a *API) endOwn(ctx context.Context, c *call) error {
	if p := c.principal; !p.Operator {
		return a.store.EndSession(ctx, p.Tenant, c.actor, c.session.ID, p.Credential, nil)
	}
	return a.store.EndOperatorSession(ctx, c.actor, c.session.ID)
}

// EndOtherSessions implements endOtherSessions.
func (a *API) EndOtherSessions(ctx context.Context, c *call, _ oapi.EndOtherSessionsRequestObject) (oapi.EndOtherSessionsResponseObject, error) {
	var keep fleet.SessionID
	if c.session != nil {
		keep = c.session.ID
	}
	n, err := a.store.EndOtherSessions(ctx, c.actor, c.principal.Credential, keep)
	if err != nil {
		return nil, err
	}
	return oapi.EndOtherSessions200JSONResponse{Ended: n}, nil
}

// signedOut removes the cookie.
type signedOut struct{ form cookieForm }

// VisitSignOutResponse implements oapi.SignOutResponseObject.
func (s signedOut) VisitSignOutResponse(w http.ResponseWriter) error {
	http.SetCookie(w, s.form.removed())
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ListSessions implements listSessions: of all tokens for who manages them, else of the own one.
func (a *API) ListSessions(ctx context.Context, c *call, r oapi.ListSessionsRequestObject) (oapi.ListSessionsResponseObject, error) {
	const list = "sessions"
	q, err := sessionFilter(list, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	if !c.principal.May(auth.ManageTokens) {
		q.Token = c.principal.Credential
	}
	xs, more, err := a.store.Sessions(ctx, c.tenant.ID, q)
	if err != nil {
		return nil, err
	}
	return oapi.ListSessions200JSONResponse(c.sessionsOf(list, xs, more)), nil
}

// ListOperatorSessions implements listOperatorSessions.
func (a *API) ListOperatorSessions(ctx context.Context, c *call, r oapi.ListOperatorSessionsRequestObject) (oapi.ListOperatorSessionsResponseObject, error) {
	const list = "operator sessions"
	q, err := sessionFilter(list, r.Params.Limit, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	xs, more, err := a.store.OperatorSessions(ctx, q)
	if err != nil {
		return nil, err
	}
	return oapi.ListOperatorSessions200JSONResponse(c.sessionsOf(list, xs, more)), nil
}

// EndSession implements endSession: everybody those of their own token, who manages tokens those of roles that they
// could revoke.
func (a *API) EndSession(ctx context.Context, c *call, r oapi.EndSessionRequestObject) (oapi.EndSessionResponseObject, error) {
	id, err := fleet.ParseSessionID(r.Id)
	if err != nil {
		return nil, noSuchSession(fleet.ErrNotFound, r.Id)
	}
	err = a.store.EndSession(ctx, c.tenant.ID, c.actor, id, c.principal.Credential, revocable(c.principal))
	if errors.Is(err, fleet.ErrForbidden) {
		return nil, refuse(http.StatusForbidden, "forbidden",
			"it is another token's: the role admin or owner ends that, and nobody one of a token of a higher role than their own")
	}
	if err != nil {
		return nil, noSuchSession(err, r.Id)
	}
	return oapi.EndSession204Response{}, nil
}

// EndOperatorSession implements endOperatorSession.
func (a *API) EndOperatorSession(ctx context.Context, c *call, r oapi.EndOperatorSessionRequestObject) (oapi.EndOperatorSessionResponseObject, error) {
	id, err := fleet.ParseSessionID(r.Id)
	if err != nil {
		return nil, noSuchSession(fleet.ErrNotFound, r.Id)
	}
	if err := a.store.EndOperatorSession(ctx, c.actor, id); err != nil {
		return nil, noSuchSession(err, r.Id)
	}
	return oapi.EndOperatorSession204Response{}, nil
}

func sessionFilter(list string, limit *int, at *string) (q store.SessionFilter, err error) {
	from, err := parseCursor(list, at)
	if err != nil {
		return q, err
	}
	q.Limit = pageLimit(limit)
	if from != (cursor{}) {
		if q.After, err = fleet.ParseSessionID(from.Name); err != nil {
			return q, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
		}
	}
	return q, nil
}

func (c *call) sessionsOf(list string, xs []store.OpenSession, more bool) oapi.SessionList {
	out := oapi.SessionList{Items: each(xs, c.sessionOf)}
	if more {
		out.NextCursor = next(cursor{List: list, Name: xs[len(xs)-1].ID.String()})
	}
	return out
}

func (c *call) sessionOf(x store.OpenSession) oapi.Session {
	return oapi.Session{
		Id: x.ID.String(), Token: oapi.SessionToken{Id: x.Token.String(), Name: x.Name, Role: optional(oapi.Role(x.Role))},
		Current: c.session != nil && c.session.ID == x.ID, CreatedAt: x.CreatedAt, LastSeenAt: x.LastSeenAt, IdleAt: x.IdleAt, ExpiresAt: x.ExpiresAt,
		Address: optional(x.IP), UserAgent: optional(x.UserAgent),
	}
}
