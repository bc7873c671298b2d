package httpapi

import (
	"net/http"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// TestT07_BadAPITokensCostNoSecondQuery: they are refused while the database is away, and the
// good one, and another bad one, have to wait for it.
func TestT07_BadAPITokensCostNoSecondQuery(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	line, near := newWire(t, db.App)
	w := setupOn(t, db, db.Open(t, store.Config{URL: near, AllowUnsafe: true}))
	whoami := func(token string) answer {
		return w.do(http.MethodGet, "/v1/whoami", "", "Authorization", "Bearer "+token)
	}
	_, unknown, _ := auth.NewAPIToken(auth.KindAPI)
	_, other, _ := auth.NewAPIToken(auth.KindAPI)
	expired := w.tokenOf(w.tenant, store.APIToken{Role: auth.RoleOwner, Name: "old", ExpiresAt: time.Now().Add(-time.Second)})
	good := w.token(w.tenant, auth.RoleViewer, nil)
	for _, token := range []string{unknown, expired} {
		whoami(token).isProblem(401, "unauthenticated", "")
	}
	line.set(cut)
	for _, token := range []string{unknown, expired} {
		if p := whoami(token).isProblem(401, "unauthenticated", ""); *p.Detail != "the token is not valid" {
			t.Errorf("it is told apart: %s", *p.Detail)
		}
	}
	for _, token := range []string{good, other} {
		whoami(token).isProblem(503, "unavailable", "")
	}
}
