package store_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// begin begins a session of the token.
func (w *world) begin(token fleet.CredentialID) store.NewSession {
	w.Helper()
	id, _, hash := auth.NewSession()
	n := store.NewSession{ID: id, Hash: hash, Token: token, IP: "127.0.0.1", UserAgent: "a browser"}
	_, err := w.app.BeginSession(w.Context(), store.Actor{Credential: token, Name: "ada"}, n)
	w.ok(err)
	return n
}

// open are the ids of the tenant's open sessions, newest first.
func (w *world) open(q store.SessionFilter) (ids []fleet.SessionID) {
	w.Helper()
	for more := true; more; {
		xs, m, err := w.app.Sessions(w.Context(), w.tenant, q)
		w.ok(err)
		for _, x := range xs {
			ids, q.After = append(ids, x.ID), x.ID
		}
		more = m
	}
	return ids
}

func (w *world) holds(id fleet.SessionID) bool {
	w.Helper()
	live, err := w.app.LiveSessions(w.Context(), []fleet.SessionID{id})
	w.ok(err)
	return live[id]
}

func TestASessionIsItsToken(t *testing.T) {
	w := setup(t)
	k, err := w.app.CreateToken(t.Context(), w.tenant, actor, store.APIToken{
		ID: fleet.NewCredentialID(), Role: auth.RoleCI, Fleet: &w.fleet, WritesSecrets: true, UsesSecrets: auth.SecretGrants{"a"}, Name: "ci", ExpiresAt: mintedEnd})
	w.ok(err)
	n := w.begin(k.ID)
	x, token, err := w.app.FindSession(t.Context(), n.ID)
	w.ok(err)
	p := token.Principal
	if p.Operator || p.Tenant != w.tenant || p.Role != auth.RoleCI || p.Credential != k.ID || p.Name != "ci" || *p.Fleet != w.fleet || !p.WritesSecrets || !p.UsesSecrets.Name("a") || !token.ExpiresAt.Equal(mintedEnd) {
		t.Errorf("%+v", token)
	}
	if x.Hash != n.Hash || x.ID != n.ID || !x.ExpiresAt.Equal(mintedEnd) || x.IdleAt.Sub(x.LastSeenAt) != 30*time.Minute || !x.EndedAt.IsZero() {
		t.Errorf("%+v", x)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'session.begin' AND object = 'session ` + n.ID.String() + `'`); n != 1 {
		t.Errorf("%d events tell that it began", n)
	}
	if _, _, err := w.app.FindSession(t.Context(), fleet.NewSessionID()); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
	w.ok(w.app.RevokeToken(t.Context(), w.tenant, actor, k.ID, store.Revocation{Within: auth.Roles()}))
	if _, token, err := w.app.FindSession(t.Context(), n.ID); err != nil || token.RevokedAt.IsZero() || w.holds(n.ID) || len(w.open(store.SessionFilter{})) != 0 {
		t.Errorf("of a revoked token: %+v, %v", token, err)
	}
	if _, err := w.app.BeginSession(t.Context(), actor, n); !errors.Is(err, fleet.ErrUnauthenticated) {
		t.Errorf("a revoked token begins a session: %v", err)
	}
}

// A session lasts 12 hours, 30 minutes without use, and use is noted once a minute.
func TestHowLongASessionLasts(t *testing.T) {
	w := setup(t)
	token := w.mint(fleet.CredentialID{}, auth.RoleViewer)
	w.exec(`UPDATE api_tokens SET expires_at = NULL`)
	n := w.begin(token)
	x, _, err := w.app.FindSession(t.Context(), n.ID)
	w.ok(err)
	if d := x.ExpiresAt.Sub(x.CreatedAt).Round(time.Second); d != 12*time.Hour {
		t.Errorf("it lasts %v", d)
	}
	seen := func() time.Time {
		w.ok(w.app.TouchSession(t.Context(), n.ID))
		x, _, err := w.app.FindSession(t.Context(), n.ID)
		w.ok(err)
		return x.LastSeenAt
	}
	if !seen().Equal(x.LastSeenAt) {
		t.Error("it is written within the minute")
	}
	w.exec(`UPDATE sessions SET last_seen_at = clock_timestamp() - interval '29 minutes'`)
	if late := seen(); late.Before(x.LastSeenAt) || !w.holds(n.ID) {
		t.Errorf("after 29 minutes it is not seen again: %v", late)
	}
	w.exec(`UPDATE sessions SET last_seen_at = clock_timestamp() - interval '31 minutes'`)
	if late := seen(); late.After(x.LastSeenAt) || w.holds(n.ID) || len(w.open(store.SessionFilter{})) != 0 {
		t.Errorf("after 31 minutes it goes on: %v", late)
	}
	w.exec(`UPDATE sessions SET last_seen_at = clock_timestamp(), expires_at = clock_timestamp() - interval '1 second'`)
	if w.holds(n.ID) || len(w.open(store.SessionFilter{})) != 0 {
		t.Error("after its end it goes on")
	}
}

func TestSessionsOfATokenAreBounded(t *testing.T) {
	w := setup(t)
	token, other := w.mint(fleet.CredentialID{}, auth.RoleViewer), w.mint(fleet.CredentialID{}, auth.RoleViewer)
	theirs := w.begin(other)
	var ids []fleet.SessionID
	for range 50 {
		ids = append(ids, w.begin(token).ID)
	}
	want := slices.Clone(ids[30:])
	slices.SortFunc(want, func(a, b fleet.SessionID) int { return bytes.Compare(b[:], a[:]) })
	if got := w.open(store.SessionFilter{Token: token, Limit: 7}); !slices.Equal(got, want) {
		t.Errorf("open are %v\nwant     %v", got, want)
	}
	if n := w.count(`SELECT count(*) FROM sessions WHERE credential_id = '` + token.String() + `'`); n != 40 {
		t.Errorf("%d rows are kept", n)
	}
	if got := w.open(store.SessionFilter{}); len(got) != 21 || !slices.Contains(got, theirs.ID) {
		t.Errorf("of the tenant are open %v", got)
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'session.end' AND detail->>'why' = 'too_many' AND detail->>'token' = '` + token.String() + `'`); n != 30 {
		t.Errorf("%d events of ends", n)
	}
}

// Who signs in anew ends the session that the browser had, if it shows that it has it.
func TestASessionIsReplaced(t *testing.T) {
	w := setup(t)
	b := w.db.Tenant(t)
	k, err := w.app.CreateToken(t.Context(), b, actor, store.APIToken{ID: fleet.NewCredentialID(), Role: auth.RoleViewer, Name: "bob"})
	w.ok(err)
	theirs, mine := w.begin(k.ID), w.mint(fleet.CredentialID{}, auth.RoleOwner)
	again := func(hash [32]byte) {
		_, err := w.app.BeginSession(t.Context(), store.Actor{Credential: mine, Name: "ada"},
			store.NewSession{ID: fleet.NewSessionID(), Token: mine, Before: theirs.ID, OldHash: hash})
		w.ok(err)
	}
	if again([32]byte{1}); !w.holds(theirs.ID) {
		t.Error("the id alone ends it")
	}
	if again(theirs.Hash); w.holds(theirs.ID) {
		t.Error("it goes on")
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE tenant_id = '` + b.String() + `' AND action = 'session.end' AND actor = 'bob' AND credential = '` + k.ID.String() + `' AND detail->>'why' = 'replaced'`); n != 1 {
		t.Error("its tenant's audit does not tell of it, or names a token of another tenant")
	}
}

func TestWhoEndsASession(t *testing.T) {
	w := setup(t)
	owner, viewer := w.mint(fleet.CredentialID{}, auth.RoleOwner), w.mint(fleet.CredentialID{}, auth.RoleViewer)
	n, ctx := w.begin(owner), t.Context()
	if err := w.app.EndSession(ctx, w.tenant, actor, n.ID, viewer, []auth.Role{auth.RoleViewer}); !errors.Is(err, fleet.ErrForbidden) || !w.holds(n.ID) {
		t.Errorf("above its role: %v", err)
	}
	if err := w.app.EndSession(ctx, w.db.Tenant(t), actor, n.ID, owner, auth.Roles()); !errors.Is(err, fleet.ErrNotFound) || !w.holds(n.ID) {
		t.Errorf("T04: from another tenant: %v", err)
	}
	if err := w.app.EndOperatorSession(ctx, actor, n.ID); !errors.Is(err, fleet.ErrNotFound) || !w.holds(n.ID) {
		t.Errorf("as an operator's: %v", err)
	}
	for range 2 {
		w.ok(w.app.EndSession(ctx, w.tenant, actor, n.ID, owner, nil))
	}
	if w.holds(n.ID) {
		t.Error("it goes on")
	}
	if n := w.count(`SELECT count(*) FROM audit_events WHERE action = 'session.end'`); n != 1 {
		t.Errorf("%d events of one end", n)
	}
	if s := sqlState(t, w.super, w.tenant, `UPDATE sessions SET ended_at = NULL`); s != "42501" {
		t.Errorf("T30: an end is taken back: %q", s)
	}
}

func TestOperatorsHaveSessions(t *testing.T) {
	w := setup(t)
	ctx, id := t.Context(), fleet.NewCredentialID()
	w.ok(w.app.CreateFirstOperatorToken(ctx, store.OperatorToken{ID: id, Name: "op", ExpiresAt: mintedEnd}))
	n, m := w.begin(id), w.begin(id)
	if _, k, err := w.app.FindSession(ctx, n.ID); err != nil || !k.Principal.Operator || k.Principal.Name != "op" {
		t.Errorf("%+v, %v", k, err)
	}
	xs, more, err := w.app.OperatorSessions(ctx, store.SessionFilter{Token: id, Limit: 1})
	if err != nil || !more || len(xs) != 1 || xs[0].ID != m.ID || xs[0].Name != "op" || xs[0].UserAgent != "a browser" || xs[0].IP != "127.0.0.1" {
		t.Errorf("%+v, %v", xs, err)
	}
	if got := w.open(store.SessionFilter{}); len(got) != 0 {
		t.Errorf("the tenant sees them: %v", got)
	}
	if err := w.app.EndSession(ctx, w.tenant, actor, n.ID, id, auth.Roles()); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("a tenant ends it: %v", err)
	}
	w.ok(w.app.EndOperatorSession(ctx, actor, n.ID))
	if w.holds(n.ID) || !w.holds(m.ID) {
		t.Error("the wrong one ended")
	}
}

func TestOldSessionsGo(t *testing.T) {
	w := setup(t)
	token, id := w.mint(fleet.CredentialID{}, auth.RoleViewer), fleet.NewCredentialID()
	w.ok(w.app.CreateFirstOperatorToken(t.Context(), store.OperatorToken{ID: id, Name: "op", ExpiresAt: mintedEnd}))
	old, young, ops := w.begin(token), w.begin(token), w.begin(id)
	w.exec(`UPDATE sessions SET expires_at = clock_timestamp() - interval '31 days' WHERE id <> '` + young.ID.String() + `'`)
	_, err := w.app.CompactDue(t.Context())
	w.ok(err)
	for _, x := range []struct {
		id    fleet.SessionID
		there bool
	}{{old.ID, false}, {young.ID, true}, {ops.ID, false}} {
		if _, _, err := w.app.FindSession(t.Context(), x.id); errors.Is(err, fleet.ErrNotFound) == x.there {
			t.Errorf("there %t: %v", x.there, err)
		}
	}
}
