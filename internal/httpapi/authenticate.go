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
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// call is who asks and for what, as far as it was decided before the handler.
type call struct {
	principal auth.Principal
	expires   time.Time    // of the caller's token
	tenant    store.Tenant // of the path; zero where the path has none
	fleet     store.Fleet
	actor     store.Actor
	accept    []string // what the client takes, of its headers
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		panic("httpapi: a handler ran without authentication")
	}
	return c
}

// authenticated finds out who calls, from the bearer token's row alone.
func (a *API) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, err := a.token(r)
		if err != nil {
			fail(w, r, err)
			return
		}
		n := note(r.Context())
		p := token.Principal
		n.credential = p.Credential.String()
		c := &call{principal: p, expires: token.ExpiresAt, accept: r.Header.Values("Accept")}
		c.actor = store.Actor{Credential: p.Credential, Name: p.Name, RequestID: n.id, IP: clientIP(r)}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)))
		a.denial(r, c, n)
	})
}

func (a *API) token(r *http.Request) (store.Token, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return store.Token{}, unauthenticated("send one Authorization header: Bearer, then an API token")
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return store.Token{}, unauthenticated("the Authorization header has to be Bearer, then an API token")
	}
	text = strings.TrimSpace(text)
	kind, id, err := auth.ParseAPIToken(text)
	if err != nil {
		return store.Token{}, unauthenticated(strings.TrimSuffix(err.Error(), ": "+fleet.ErrUnauthenticated.Error()))
	}
	sent := auth.Hash(text)
	if a.lookups.Rejected(sent, time.Now()) != nil {
		return store.Token{}, errTokenNotValid()
	}
	row, err := a.findToken(r, id)
	if err != nil && !errors.Is(err, fleet.ErrNotFound) {
		return store.Token{}, err
	}
	if !tokenHolds(row, err == nil, kind, sent, time.Now()) {
		a.lookups.Reject(sent, r.RemoteAddr, fleet.ErrUnauthenticated, time.Now())
		return store.Token{}, errTokenNotValid()
	}
	return row, nil
}

// findToken waits for its turn if bad tokens have come from the same address lately.
func (a *API) findToken(r *http.Request, id fleet.CredentialID) (store.Token, error) {
	ctx, cancel := context.WithTimeout(r.Context(), databasePatience)
	defer cancel()
	leave, err := a.lookups.Begin(ctx, r.RemoteAddr, time.Now())
	if err != nil {
		return store.Token{}, err
	}
	defer leave()
	return a.store.FindToken(ctx, id)
}

// tokenHolds compares the sent token with its row. Where there is none it compares with
// nothing, so that an unknown id takes as long as a wrong secret.
func tokenHolds(row store.Token, found bool, kind auth.Kind, sent [32]byte, now time.Time) bool {
	same := auth.Equal(row.Hash, sent) // of no row: with zeroes
	live := row.RevokedAt.IsZero() && (row.ExpiresAt.IsZero() || now.Before(row.ExpiresAt))
	return same && found && live && kind == kindOf(row.Principal)
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
		if err := a.authorize(r, callOf(r.Context())); err != nil {
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
	if rule.scope == ofTenant || rule.scope == ofFleet || rule.scope == ofGone && !c.principal.Operator {
		if err := a.resolveTenant(ctx, c, pathParameter(r, "tenant")); err != nil {
			return err
		}
	}
	switch rule.scope {
	case self:
		return nil
	case ofFleet:
		if err := a.resolveFleet(ctx, c, pathParameter(r, "fleet")); err != nil {
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

// resolveTenant finds the tenant that the path names. A member's request asks for the
// member's own tenant alone, so whether another one exists changes neither the answer nor
// the time that it takes.
func (a *API) resolveTenant(ctx context.Context, c *call, slug string) error {
	var t store.Tenant
	var err error
	if c.principal.Operator {
		t, err = a.store.TenantBySlug(ctx, slug)
	} else {
		t, err = a.store.Tenant(ctx, c.principal.Tenant)
	}
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		return errNoTenant
	case err != nil:
		return err
	case t.Slug != slug, !c.principal.Sees(t.ID):
		return errNoTenant
	}
	c.tenant, note(ctx).tenant = t, t.Slug
	return nil
}

func (a *API) resolveFleet(ctx context.Context, c *call, name string) error {
	f, err := a.store.FleetByName(ctx, c.tenant.ID, name)
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		return errNoFleet
	case err != nil:
		return err
	case c.principal.Fleet != nil && *c.principal.Fleet != f.ID:
		return errNoFleet // a token that is bound to a fleet does not see its neighbours
	}
	c.fleet, note(ctx).fleet = f, f.Name
	return nil
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
