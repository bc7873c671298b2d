package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

// Session is one of the web page. It acts as its token, and ends with it.
type Session struct {
	ID         fleet.SessionID
	Hash       [32]byte // SHA-256 of its secret; not in lists
	CreatedAt  time.Time
	LastSeenAt time.Time // to the minute
	IdleAt     time.Time // when it ends, unless it is used before
	ExpiresAt  time.Time // when it ends at the latest, with its token if not sooner
	EndedAt    time.Time // zero while it was not ended
}

// OpenSession is a session as it is listed.
type OpenSession struct {
	Session
	Token     fleet.CredentialID
	Name      string    // of the token
	Role      auth.Role // of the token; "" of an operator's
	IP        string
	UserAgent string // whatever the browser said
}

// NewSession is a session that is to begin.
type NewSession struct {
	ID            fleet.SessionID
	Hash          [32]byte
	Token         fleet.CredentialID
	IP, UserAgent string
	// Before is the session that the browser has, and OldHash what it knows of it: it ends.
	Before  fleet.SessionID
	OldHash [32]byte
}

// BeginSession begins a session of a token, which has to be good, else it is
// fleet.ErrUnauthenticated, and tells when it ends at the latest. The oldest of those that
// the token has too many of ends.
func (s *Store) BeginSession(ctx context.Context, a Actor, n NewSession) (ends time.Time, err error) {
	who, err := json.Marshal(a.json())
	if err != nil {
		return ends, fmt.Errorf("begin a session: %w", err)
	}
	at, err := crossTenant(ctx, s, pgx.RowTo[time.Time], `SELECT begin_session($1, $2, $3, $4, $5, $6, $7, $8)`,
		n.ID.String(), n.Hash[:], n.Token.String(), n.IP, n.UserAgent, n.Before.String(), n.OldHash[:], who)
	if err != nil {
		return ends, fmt.Errorf("begin a session of token %s: %w", n.Token, err)
	}
	return at[0].UTC(), nil
}

// FindSession looks a session up by its public id, with its token, whoever's it is. Ones that
// are over are found too, and their tokens.
func (s *Store) FindSession(ctx context.Context, id fleet.SessionID) (Session, Token, error) {
	type found struct {
		Session
		Token
	}
	fs, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (f found, err error) {
		f.Session, f.Token, err = scanFoundSession(row)
		return f, err
	}, `SELECT hash, created_at, last_seen_at, idle_at, expires_at, ended_at, credential_id, operator, tenant_id, role, name, fleet_id, writes_secrets, uses_secrets,
	           token_created_at, token_expires_at, token_revoked_at FROM find_session($1)`, id.String())
	if err == nil && len(fs) != 1 {
		err = fleet.ErrNotFound
	}
	if err != nil {
		return Session{}, Token{}, fmt.Errorf("find session %s: %w", id, err)
	}
	fs[0].Session.ID = id
	return fs[0].Session, fs[0].Token, nil
}

func scanFoundSession(row pgx.CollectableRow) (x Session, k Token, err error) {
	var hash []byte
	var ended, expires, revoked *time.Time
	var tenant, f *[16]byte
	var role *string
	p := &k.Principal
	err = row.Scan(&hash, &x.CreatedAt, &x.LastSeenAt, &x.IdleAt, &x.ExpiresAt, &ended, (*[16]byte)(&p.Credential), &p.Operator, &tenant, &role, &p.Name, &f,
		&p.WritesSecrets, (*[]string)(&p.UsesSecrets), &k.CreatedAt, &expires, &revoked)
	x.Hash, x.EndedAt = hashOf(hash), timeOrZero(ended)
	x.utc()
	p.Tenant, p.Fleet = uuidOrZero[fleet.TenantID](tenant), (*fleet.ID)(f)
	if role != nil {
		p.Role = auth.Role(*role)
	}
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = k.CreatedAt.UTC(), timeOrZero(expires), timeOrZero(revoked)
	return x, k, err
}

func (x *Session) utc() {
	x.CreatedAt, x.LastSeenAt, x.IdleAt, x.ExpiresAt = x.CreatedAt.UTC(), x.LastSeenAt.UTC(), x.IdleAt.UTC(), x.ExpiresAt.UTC()
}

// TouchSession notes that a session is used, once a minute at most.
func (s *Store) TouchSession(ctx context.Context, id fleet.SessionID) error {
	if _, err := crossTenant(ctx, s, func(pgx.CollectableRow) (struct{}, error) { return struct{}{}, nil }, `SELECT touch_session($1)`, id.String()); err != nil {
		return fmt.Errorf("note that session %s is used: %w", id, err)
	}
	return nil
}

// LiveSessions are those of the sessions that are open at present, with tokens that hold: one
// statement, and look-ups by key for each.
func (s *Store) LiveSessions(ctx context.Context, ids []fleet.SessionID) (map[fleet.SessionID]bool, error) {
	live := make(map[fleet.SessionID]bool, len(ids))
	if len(ids) == 0 {
		return live, nil
	}
	raw := make([][16]byte, len(ids))
	for i, id := range ids {
		raw[i] = id
	}
	_, err := crossTenant(ctx, s, func(row pgx.CollectableRow) (struct{}, error) {
		var id [16]byte
		err := row.Scan(&id)
		live[id] = true
		return struct{}{}, err
	}, `SELECT i.id FROM unnest($1::uuid[]) AS i (id) CROSS JOIN LATERAL find_session(i.id) f
	     WHERE session_open(f.last_seen_at, f.expires_at, f.ended_at) AND f.token_revoked_at IS NULL`, raw)
	if err != nil {
		return nil, fmt.Errorf("look %d sessions up: %w", len(ids), err)
	}
	return live, nil
}

// EndSession ends a session of a token of the tenant: one of the token own, or of one whose role is one of
// within, else it is fleet.ErrForbidden. To end one again is no error.
func (s *Store) EndSession(ctx context.Context, t fleet.TenantID, a Actor, id fleet.SessionID, own fleet.CredentialID, within []auth.Role) error {
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("end session %s: %w", id, err)
	}
	if within == nil {
		within = []auth.Role{}
	}
	err = s.inTenant(ctx, writeTimeout, t, func(b *pgx.Batch) {
		b.Queue(`SELECT end_session($1, $2, $3, $4)`, id.String(), own.String(), within, who)
	})
	if err != nil {
		return fmt.Errorf("end session %s: %w", id, err)
	}
	return nil
}

// EndOperatorSession does the same of an operator's.
func (s *Store) EndOperatorSession(ctx context.Context, a Actor, id fleet.SessionID) error {
	who, err := json.Marshal(a.json())
	if err != nil {
		return fmt.Errorf("end session %s: %w", id, err)
	}
	if _, err := crossTenant(ctx, s, func(pgx.CollectableRow) (struct{}, error) { return struct{}{}, nil }, `SELECT operator_end_session($1, $2)`, id.String(), who); err != nil {
		return fmt.Errorf("end operator session %s: %w", id, err)
	}
	return nil
}

// EndOtherSessions ends the open sessions of a token, whoever's it is, but one, and tells how many. The zero
// id keeps none.
func (s *Store) EndOtherSessions(ctx context.Context, a Actor, token fleet.CredentialID, keep fleet.SessionID) (int, error) {
	who, err := json.Marshal(a.json())
	if err != nil {
		return 0, fmt.Errorf("end the sessions of token %s: %w", token, err)
	}
	n, err := crossTenant(ctx, s, pgx.RowTo[int], `SELECT end_other_sessions($1, $2, $3)`, token.String(), uuidOrNil(keep), who)
	if err != nil {
		return 0, fmt.Errorf("end the sessions of token %s: %w", token, err)
	}
	return n[0], nil
}
