package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"fairlead/internal/auth"
	"fairlead/internal/compute"
	"fairlead/internal/door"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// call is who asks and for what, as far as it was decided before the handler.
type call struct {
	principal auth.Principal
	expires   time.Time      // of the caller's token
	session   *store.Session // by whose cookie the caller came; nil: by the token itself
	tenant    store.Tenant   // of the path; zero where the path has none
	fleet     store.Fleet
	actor     store.Actor
	document  document // the body, where the operation takes one; others have theirs in the request object
	note      *requestNote
	found     *lookedUp // what the front of several cells has found of the credential; nil: nothing

	accept, encodings []string // what the client takes, of its headers

	remote  string // the socket's address, with its port
	agent   string // what the client calls itself
	cookie  cookieForm
	cookies []string // of a session, whether they are good or not

	yield func()        // gives its place in the tenant's share to the next request; nil: it has none
	turn  *compute.Turn // in which its long body was checked, until a computation goes on with it; nil: there is none
}

// ends is when what the caller came with ends; zero: never.
func (c *call) ends() time.Time {
	if c.session != nil {
		return c.session.ExpiresAt // no later than the token's
	}
	return c.expires
}

// tenantID is whose the call is: of who acts for the tenant in the path, that one's.
func (c *call) tenantID() fleet.TenantID {
	if c.tenant.ID == (fleet.TenantID{}) { // the path has none
		return c.principal.Tenant
	}
	return c.tenant.ID
}

// callOf is for the middleware. Below a handler there is no request to ask.
func callOf(r *http.Request) *call { return callIn(r.Context()) }

// callIn is for the generated code, which gives the call to each handler.
func callIn(ctx context.Context) *call {
	n := noteIn(ctx)
	if n == nil || n.call == nil {
		panic("httpapi: a handler ran without authentication")
	}
	return n.call
}

// newCall is a call of somebody who is not known yet.
func (a *API) newCall(r *http.Request) *call {
	c := &call{
		note: note(r), found: foundBefore(r.Context()),
		accept: r.Header.Values("Accept"), encodings: r.Header.Values("Accept-Encoding"), remote: r.RemoteAddr, agent: shortened(r.UserAgent(), maxAgent), cookie: a.public.cookieForm(r),
	}
	c.cookies, c.note.cookie = c.cookie.sent(r), c.cookie
	c.actor = store.Actor{RequestID: c.note.id, IP: clientIP(r)}
	return c
}

// authenticated finds out who calls, from the row of the bearer token or of the session alone. What came with a
// cookie has to come from a page of ours.
func (a *API) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := a.newCall(r)
		if err := a.identify(r, c); err != nil {
			fail(w, r, err)
			return
		}
		if err := a.fromOwnPage(r, c); err != nil {
			fail(w, r, err)
		} else {
			a.touch(r, c)
			c.note.call = c
			next.ServeHTTP(w, r)
		}
		a.denial(r, c)
	})
}

// identify asks the Authorization header where there is one, else the cookie of a session.
func (a *API) identify(r *http.Request, c *call) error {
	if a.operation(r).rule.scope == anybody {
		return nil
	}
	var token store.Token
	var err error
	if len(c.cookies) > 0 && len(r.Header.Values("Authorization")) == 0 {
		var x store.Session
		x, token, err = a.bySession(r.Context(), c)
		c.session = &x
	} else {
		token, err = a.token(r, c)
	}
	if err != nil {
		return err
	}
	p := token.Principal
	c.principal, c.expires = p, token.ExpiresAt
	c.actor.Credential, c.actor.Name = p.Credential, p.Name
	c.note.credential = p.Credential.String()
	door.Prove(r.Context())
	return nil
}

func (a *API) token(r *http.Request, c *call) (store.Token, error) {
	text, err := bearer(r)
	if err != nil {
		return store.Token{}, err
	}
	_, token, err := a.goodToken(r.Context(), c, text)
	return token, err
}

// bearer is what stands in the Authorization header.
func bearer(r *http.Request) (text string, err error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", unauthenticated("send one Authorization header: Bearer, then an API token")
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", unauthenticated("the Authorization header has to be Bearer, then an API token")
	}
	return text, nil
}

// goodToken looks up an API token that came with a call, however it was sent. in is the API whose database has it: another one where
// there are several cells and nothing has said yet which one is meant.
func (a *API) goodToken(ctx context.Context, c *call, text string) (in *API, token store.Token, err error) {
	text = strings.TrimSpace(text)
	kind, id, err := auth.ParseAPIToken(text)
	if err != nil {
		return nil, store.Token{}, unauthenticated(strings.TrimSuffix(err.Error(), ": "+fleet.ErrUnauthenticated.Error()))
	}
	sent := auth.Hash(text)
	if a.lookups.Rejected(sent, time.Now()) != nil {
		return nil, store.Token{}, errTokenNotValid()
	}
	f := a.find(ctx, c, credential{id: id, sent: sent})
	if f.err != nil && !errors.Is(f.err, fleet.ErrNotFound) {
		return nil, store.Token{}, f.err
	}
	if !tokenHolds(f.token, f.err == nil, kind, sent, time.Now()) {
		a.lookups.Reject(sent, c.remote, fleet.ErrUnauthenticated, time.Now())
		return nil, store.Token{}, errTokenNotValid()
	}
	return f.api, f.token, nil
}

// lookUp waits for its turn if bad tokens have come from the same address lately.
func (a *API) lookUp(ctx context.Context, address string, find func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	leave, err := a.lookups.Begin(ctx, address, time.Now())
	if err != nil {
		return err
	}
	defer leave()
	return find(ctx)
}

// tokenHolds compares the sent token with its row. Where there is none it compares with
// nothing, so that an unknown id takes as long as a wrong secret.
func tokenHolds(row store.Token, found bool, kind auth.Kind, sent [32]byte, now time.Time) bool {
	same := auth.Equal(row.Hash, sent) // of no row: with zeroes
	return same && found && tokenLives(row, now) && kind == kindOf(row.Principal)
}

func tokenLives(row store.Token, now time.Time) bool {
	return row.RevokedAt.IsZero() && (row.ExpiresAt.IsZero() || now.Before(row.ExpiresAt))
}

// kindOf is the kind of token that belongs to a principal's row.
func kindOf(p auth.Principal) auth.Kind {
	if p.Operator {
		return auth.KindOperator
	}
	return p.Role.TokenKind()
}

func errTokenNotValid() error { return unauthenticated("the token is not valid") }

func unauthenticated(detail string) error {
	return refuse(http.StatusUnauthorized, "unauthenticated", detail)
}

// authorized resolves the tenant and the fleet of the path and asks the rules. What the
// caller cannot see is answered like what is not there.
func (a *API) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.authorize(r, callOf(r)); err != nil {
			fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *API) authorize(r *http.Request, c *call) error {
	rule := a.operation(r).rule
	ctx, cancel := context.WithTimeout(r.Context(), databasePatience)
	defer cancel()
	if rule.scope == ofTenant || rule.scope == ofGone && !c.principal.Operator {
		if err := a.resolveTenant(ctx, c, pathParameter(r, "tenant")); err != nil {
			return err
		}
	}
	switch rule.scope {
	case anybody, self:
		return nil
	case ofFleet:
		if err := a.resolveFleet(ctx, c, pathParameter(r, "tenant"), pathParameter(r, "fleet")); err != nil {
			return err
		}
		if c.principal.May(rule.action, c.fleet.ID) {
			return nil
		}
	case installation, ofTenant, ofGone:
		if rule.action == "" || c.principal.May(rule.action) || rule.action == auth.ReadConfig && mayReadItsFleet(c.principal) {
			return nil
		}
	}
	return mayNot(c.principal, rule.action)
}

// mayReadItsFleet holds of a caller that is bound to one fleet: of a list of the
// tenant's it is shown its own part.
func mayReadItsFleet(p auth.Principal) bool {
	return p.Fleet != nil && p.May(auth.ReadConfig, *p.Fleet)
}

// pathParameter decodes a segment once; what is no text is "", which names nothing.
func pathParameter(r *http.Request, name string) string {
	s, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil || !plainText(s) {
		return ""
	}
	return s
}

// plainText reports whether s can be stored: Postgres takes neither invalid UTF-8 nor NUL.
func plainText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// text refuses a name that cannot be one, before it reaches the database.
func text(parameter, s string) error {
	if !plainText(s) || len(s) > maxName {
		return badParameter(parameter, "invalid_name", "a name is UTF-8 without NUL, of at most 512 bytes")
	}
	return nil
}
