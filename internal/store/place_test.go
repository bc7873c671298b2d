package store_test

import (
	"testing"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// placed is a tenant with a token of each sort, and an operator's.
type placed struct {
	*world
	token, credential, session, operator, operatorSession fleet.CredentialID
}

func setupPlaced(t *testing.T) *placed {
	t.Helper()
	p := &placed{world: setup(t)}
	p.token, p.credential, p.session = fleet.NewCredentialID(), fleet.NewCredentialID(), fleet.NewCredentialID()
	p.operator, p.operatorSession = fleet.NewCredentialID(), fleet.NewCredentialID()
	_, err := p.app.CreateToken(t.Context(), p.tenant, actor, store.APIToken{ID: p.token, Role: auth.RoleOwner})
	p.ok(err)
	p.exec(`INSERT INTO node_credentials (tenant_id, fleet_id, id, hash, nodes) VALUES ($1, $2, $3, sha256(''), '*')`, p.tenant.String(), p.fleet.String(), p.credential.String())
	p.exec(`INSERT INTO operator_tokens (id, hash, expires_at) VALUES ($1, sha256(''), clock_timestamp() + interval '1 day')`, p.operator.String())
	for id, of := range map[fleet.CredentialID]fleet.CredentialID{p.session: p.token, p.operatorSession: p.operator} {
		p.exec(`INSERT INTO sessions (id, tenant_id, credential_id, hash, expires_at, ip, user_agent)
			SELECT $1, (SELECT tenant_id FROM api_tokens WHERE id = $2), $2, sha256(''), clock_timestamp() + interval '1 hour', '', ''`, id.String(), of.String())
	}
	return p
}

// A cell knows the tokens of the tenants that it serves, and tells those that it had from those that it never saw.
func TestATokensPlaceIsThatOfItsTenant(t *testing.T) {
	p := setupPlaced(t)
	for _, c := range []struct {
		place string
		want  store.TokenPlace
		found error
	}{
		{"here", store.TokenHere, nil},
		{"leaving", store.TokenHere, nil},
		{"arriving", store.TokenArriving, fleet.ErrNotFound},
		{"gone", store.TokenGone, fleet.ErrNotFound},
	} {
		p.exec(`UPDATE tenants SET place = $2 WHERE id = $1`, p.tenant.String(), c.place)
		for _, s := range []*store.Store{p.app, p.node} {
			for _, id := range []fleet.CredentialID{p.token, p.credential, p.session} {
				p.isAt(s, id, c.want)
			}
			p.isAt(s, p.operator, store.TokenHere)
			p.isAt(s, p.operatorSession, store.TokenHere)
			p.isAt(s, fleet.NewCredentialID(), store.TokenUnknown)
		}
		_, err := p.app.FindToken(t.Context(), p.token)
		p.is(err, c.found)
		_, _, err = p.app.FindSession(t.Context(), fleet.SessionID(p.session))
		p.is(err, c.found)
		_, _, err = p.node.FindNodeCredential(t.Context(), p.credential)
		p.is(err, c.found)
		seen, _, err := p.app.Tenants(t.Context(), "", 0)
		p.ok(err)
		if shown := len(seen) == 1; shown != (c.found == nil) {
			t.Errorf("%s: the operator sees %d tenants", c.place, len(seen))
		}
	}
	for _, of := range []fleet.CredentialID{p.credential, p.session, p.operator, p.operatorSession} {
		for hash, want := range map[[32]byte]bool{auth.Hash(""): true, auth.Hash("another"): false} {
			if at, err := p.node.Place(t.Context(), of, hash); err != nil || (at != store.TokenUnknown) != want {
				t.Errorf("with a secret that is right (%v) %s is %v, %v", want, of, at, err)
			}
		}
	}
	p.exec(`UPDATE tenants SET place = 'here', deleted_at = clock_timestamp() WHERE id = $1`, p.tenant.String())
	for _, id := range []fleet.CredentialID{p.token, p.credential, p.session} {
		p.isAt(p.app, id, store.TokenDeleted)
		p.isAt(p.node, id, store.TokenDeleted)
	}
}

func (p *placed) isAt(s *store.Store, id fleet.CredentialID, want store.TokenPlace) {
	p.Helper()
	got, err := s.PlaceOfID(p.Context(), id)
	p.ok(err)
	if got != want {
		p.Errorf("%s is %v, want %v", id, got, want)
	}
}
