package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"fairlead/internal/auth"
	"fairlead/internal/client"
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
// fleet, an API token and a node credential. It says whether the fleet is new.
func (s *started) setup(ctx context.Context) (fresh bool, err error) {
	if err := s.operator(ctx); err != nil {
		return false, err
	}
	operator, err := s.client(s.state.OperatorToken)
	if err != nil {
		return false, err
	}
	tenant, err := operator.CreateTenantWithResponse(ctx, client.TenantCreate{Slug: tenantSlug})
	if err := made("the tenant", tenant, err); err != nil {
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
	if err := made("the fleet", f, err); err != nil {
		return false, err
	}
	fresh = f.StatusCode() == http.StatusCreated
	if err := s.nodeToken(ctx, admin); err != nil {
		return fresh, err
	}
	return fresh, s.state.save()
}

func (s *started) client(token string) (*client.ClientWithResponses, error) {
	return client.NewClientWithResponses(s.apiURL(), client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
}

func (s *started) apiURL() string { return "http://" + s.ports.http.Addr().String() }

// operator makes the first operator token. It is kept before it is stored: one that is
// stored and lost could not be made again.
func (s *started) operator(ctx context.Context) error {
	if s.state.OperatorToken != "" {
		return nil
	}
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	s.state.OperatorToken = token
	if err := s.state.save(); err != nil {
		return err
	}
	err := s.api.Store().CreateOperatorToken(ctx, store.OperatorToken{ID: id, Hash: hash, Name: "fairlead dev"})
	if errors.Is(err, fleet.ErrConflict) {
		return fmt.Errorf("the database has an operator token that %s does not hold: bring the file back, or remove the folder %s to begin anew", s.state.path, s.cmd.Data)
	}
	return err
}

// apiToken keeps the stored token while it is good.
func (s *started) apiToken(ctx context.Context, operator *client.ClientWithResponses) error {
	if s.state.APIToken != "" {
		c, err := s.client(s.state.APIToken)
		if err != nil {
			return err
		}
		who, err := c.WhoamiWithResponse(ctx)
		if err != nil {
			return fmt.Errorf("try the API token: %w", err)
		}
		if who.StatusCode() == http.StatusOK {
			return nil
		}
	}
	t, err := operator.CreateTokenWithResponse(ctx, tenantSlug, client.TokenCreate{Name: "fairlead dev", Role: client.Admin})
	if err := made("the API token", t, err); err != nil {
		return err
	}
	s.state.APIToken = t.JSON201.Token
	return nil
}

// nodeToken keeps the stored token while its credential is good.
func (s *started) nodeToken(ctx context.Context, admin *client.ClientWithResponses) error {
	if id, err := auth.ParseNodeToken(s.state.NodeToken); err == nil {
		list, err := admin.ListCredentialsWithResponse(ctx, tenantSlug, fleetName)
		if err != nil {
			return fmt.Errorf("look at the node credentials: %w", err)
		}
		if list.JSON200 != nil && slices.ContainsFunc(list.JSON200.Items, func(c client.Credential) bool {
			return c.Id == id.String() && c.RevokedAt == nil && (c.ExpiresAt == nil || c.ExpiresAt.After(s.since))
		}) {
			return nil
		}
	}
	description := "fairlead dev"
	c, err := admin.CreateCredentialWithResponse(ctx, tenantSlug, fleetName, client.CredentialCreate{Description: &description})
	if err := made("the node credential", c, err); err != nil {
		return err
	}
	s.state.NodeToken = c.JSON201.Token
	return nil
}

// apply puts a document and returns the revision that holds it.
func (s *started) apply(ctx context.Context, doc []byte) (fleet.Revision, error) {
	c, err := s.client(s.state.APIToken)
	if err != nil {
		return 0, err
	}
	r, err := c.ApplyWithBodyWithResponse(ctx, tenantSlug, fleetName, nil, "application/yaml", bytes.NewReader(doc))
	if err := made("the demo's resources", r, err); err != nil {
		return 0, err
	}
	return fleet.Revision(r.JSON200.Revision), nil
}

// answer is what every generated response has.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// made returns the error of a call that was to make something: that it is there already
// is none.
func made(what string, a answer, err error) error {
	if err != nil {
		return fmt.Errorf("make %s: %w", what, err)
	}
	if code := a.StatusCode(); code >= 300 && code != http.StatusConflict {
		return fmt.Errorf("make %s: the API answered %d: %s", what, code, a.GetBody())
	}
	return nil
}
