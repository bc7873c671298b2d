package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// touchedAfter is how old the note of a session's last use gets before it is written again.
const touchedAfter = time.Minute

// bySession finds out who calls from the cookie of a session, in one query.
func (a *API) bySession(ctx context.Context, c *call) (store.Session, store.Token, error) {
	if len(c.cookies) > 1 {
		return store.Session{}, store.Token{}, errSession("two cookies of a session came: sign in again")
	}
	id, err := auth.ParseSession(c.cookies[0])
	if err != nil {
		return store.Session{}, store.Token{}, errSession("the session's cookie is damaged: sign in again")
	}
	sent := auth.Hash(c.cookies[0])
	if a.lookups.Rejected(sent, time.Now()) != nil {
		return store.Session{}, store.Token{}, errSessionOver()
	}
	f := a.find(ctx, c, credential{id: fleet.CredentialID(id), session: true, sent: sent})
	if f.err != nil && !errors.Is(f.err, fleet.ErrNotFound) {
		return store.Session{}, store.Token{}, f.err
	}
	if !sessionHolds(f.session, f.token, f.err == nil, sent, time.Now()) {
		a.lookups.Reject(sent, c.remote, fleet.ErrUnauthenticated, time.Now())
		return store.Session{}, store.Token{}, errSessionOver()
	}
	return f.session, f.token, nil
}

// sessionHolds does for the cookie of a session what tokenHolds does for a token.
func sessionHolds(x store.Session, token store.Token, found bool, sent [32]byte, now time.Time) bool {
	same := auth.Equal(x.Hash, sent) // of no row: with zeroes
	open := x.EndedAt.IsZero() && now.Before(x.ExpiresAt) && now.Before(x.IdleAt)
	return same && found && open && tokenLives(token, now)
}

func errSessionOver() error { return errSession("the session has ended: sign in again") }

// errSession also makes the browser forget the cookie.
func errSession(detail string) error {
	p := refuse(http.StatusUnauthorized, "unauthenticated", detail)
	p.forget = true
	return p
}

// touch notes that the session is used. A note that cannot be written is in the log: the request may still do.
func (a *API) touch(r *http.Request, c *call) {
	if c.session == nil || time.Since(c.session.LastSeenAt) < touchedAfter || !a.isUse(r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), databasePatience)
	defer cancel()
	if err := a.store.TouchSession(ctx, c.session.ID); err != nil {
		a.log.WarnContext(ctx, "the use of a session is not noted", slog.String("error", err.Error()))
	}
}

// isUse reports whether somebody uses the page: what streams or waits goes on in a tab that nobody looks at, and so does
// what asks how long the session lasts, and what the page asks again by the clock: the load.
func (a *API) isUse(r *http.Request) bool {
	id := a.operation(r).id
	return !wantsStream(r.Header.Values("Accept")) && !r.URL.Query().Has("wait") && id != "whoami" && id != "listLoad"
}
