package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// What the first start makes.
const (
	tenantSlug = "demo"
	fleetName  = "edge"
	nodeID     = "demo-envoy"
)

// setup makes, over the API as anybody would, what is not there yet: the tenant, the
// fleet, an API token and a node credential. It says whether the fleet is fresh: nothing
// was ever written to it, by this start or by an earlier one that was broken off.
func (s *started) setup(ctx context.Context) (fresh bool, err error) {
	if err := s.operator(ctx); err != nil {
		return false, err
	}
	operator, err := s.client(s.state.OperatorToken)
	if err != nil {
		return false, err
	}
	tenant, err := operator.CreateTenantWithResponse(ctx, client.TenantCreate{Slug: tenantSlug})
	if err := madeOrThere("the tenant", tenant, err); err != nil {
		return false, err
	}
	if err := s.apiToken(ctx, operator); err != nil {
		return false, err
	}
	admin, err := s.client(s.state.APIToken)
	if err != nil {
		return false, err
	}
	f, err := admin.CreateFleetWithResponse(ctx, tenantSlug, client.FleetCreate{Name: fleetName})
	if err := madeOrThere("the fleet", f, err); err != nil {
		return false, err
	}
	there, err := admin.GetFleetWithResponse(ctx, tenantSlug, fleetName)
	if err := answered("look at the fleet", there, err); err != nil {
		return false, err
	}
	if err := s.nodeToken(ctx, admin); err != nil {
		return false, err
	}
	return there.JSON200.Revision == 0, s.state.save()
}

func (s *started) client(token string) (*client.ClientWithResponses, error) {
	return client.NewClientWithResponses(s.apiURL(), client.WithHTTPClient(patientClient{}), client.WithToken(token))
}

func (s *started) apiURL() string { return "http://" + s.ports.http.Addr().String() }

// operatorLife is as long as an operator token may be good; then the next start makes
// another.
const operatorLife = 366 * 24 * time.Hour

// operator makes an operator token where the kept one is not good: the first, or the next
// when that has expired. It is kept before it is stored: one that is stored and lost could
// not be made again.
func (s *started) operator(ctx context.Context) error {
	if s.state.OperatorToken != "" {
		if good, err := s.good(ctx, s.state.OperatorToken); good || err != nil {
			return err
		}
	}
	k := store.OperatorToken{Name: "fairlead dev", ExpiresAt: time.Now().Add(operatorLife)}
	k.ID, s.state.OperatorToken, k.Hash = auth.NewAPIToken(auth.KindOperator)
	if err := s.state.save(); err != nil {
		return err
	}
	err := patiently(ctx, func() error { return s.api.Store().CreateFirstOperatorToken(ctx, k) })
	if !errors.Is(err, fleet.ErrConflict) {
		return err
	}
	// It may be our own, of a call whose answer was lost.
	if good, err := s.good(ctx, s.state.OperatorToken); good || err != nil {
		return err
	}
	return fmt.Errorf("the database has an operator token that %s does not hold: bring the file back, or remove the folder %s to start again", s.state.path, s.cmd.Data)
}

// good tells whether the API takes a token.
func (s *started) good(ctx context.Context, token string) (bool, error) {
	c, err := s.client(token)
	if err != nil {
		return false, err
	}
	who, err := c.WhoamiWithResponse(ctx)
	if err == nil && who.StatusCode() == http.StatusUnauthorized {
		return false, nil
	}
	return true, answered("try a token of an earlier start", who, err)
}

// apiToken keeps the stored token while it is good.
func (s *started) apiToken(ctx context.Context, operator *client.ClientWithResponses) error {
	if s.state.APIToken != "" {
		if good, err := s.good(ctx, s.state.APIToken); good || err != nil {
			return err
		}
	}
	t, err := operator.CreateTokenWithResponse(ctx, tenantSlug, client.TokenCreate{Name: "fairlead dev", Role: client.Admin})
	if err := answered("make the API token", t, err); err != nil {
		return err
	}
	s.state.APIToken = t.JSON201.Token
	return nil
}

// nodeLife is as long as the node credential is good, which is to outlive every run; a start with less than half of it
// left makes the next one.
const nodeLife = 365 * 24 * time.Hour

// nodeToken keeps the stored token while its credential does not expire soon.
func (s *started) nodeToken(ctx context.Context, admin *client.ClientWithResponses) error {
	if id, err := auth.ParseNodeToken(s.state.NodeToken); err == nil {
		list, err := admin.ListCredentialsWithResponse(ctx, tenantSlug, fleetName, nil)
		if err := answered("look at the node credentials", list, err); err != nil {
			return err
		}
		if slices.ContainsFunc(list.JSON200.Items, func(c client.Credential) bool {
			return c.Id == id.String() && c.RevokedAt == nil && (c.ExpiresAt == nil || c.ExpiresAt.After(s.since.Add(nodeLife/2)))
		}) {
			return nil
		}
	}
	description, end := "fairlead dev", time.Now().Add(nodeLife)
	c, err := admin.CreateCredentialWithResponse(ctx, tenantSlug, fleetName, client.CredentialCreate{Nodes: "*", Description: &description, ExpiresAt: &end})
	if err := answered("make the node credential", c, err); err != nil {
		return err
	}
	s.state.NodeToken = c.JSON201.Token
	return nil
}

// apply puts a document.
func (s *started) apply(ctx context.Context, doc []byte) error {
	c, err := s.client(s.state.APIToken)
	if err != nil {
		return err
	}
	r, err := c.ApplyWithBodyWithResponse(ctx, tenantSlug, fleetName, nil, "application/yaml", bytes.NewReader(doc))
	return answered("make the demo's resources", r, err)
}

// answer is what every generated response has.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// madeOrThere returns the error of a call that was to make something that is made once:
// that it is there already is none.
func madeOrThere(what string, a answer, err error) error {
	if err == nil && a.StatusCode() == http.StatusConflict {
		return nil
	}
	return answered("make "+what, a, err)
}

// answered returns the error of a call that was to do something. Without one, the
// answer's body was read.
func answered(do string, a answer, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", do, err)
	}
	if code := a.StatusCode(); code >= 300 {
		return fmt.Errorf("%s: the API answered %d: %s", do, code, bytes.TrimSpace(a.GetBody()))
	}
	return nil
}
