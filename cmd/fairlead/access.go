package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	client "fairlead/clients/go"
)

// tokenCommand is "fairlead token".
type tokenCommand struct {
	List   tokenListCommand   `cmd:"" help:"List the tenant's API tokens."`
	Create tokenCreateCommand `cmd:"" help:"Create a token, and print it this once."`
	Revoke tokenRevokeCommand `cmd:"" help:"End a token at once."`
}

type tokenListCommand struct {
	Listing listing `embed:""`
}

// Run prints the tokens, and warns of those that end.
func (c *tokenListCommand) Run(ctx context.Context, sh *shell) error {
	var warnings []string
	err := list(c.Listing, sh, ofTenant, "the tenant has no token", []string{"ID", "NAME", "ROLE", "FLEET", "EXPIRES", "REVOKED"},
		func(t client.Token) []string {
			warnings = append(warnings, tokenLines(t, sh.now())...)
			return []string{t.Id, t.Name, string(t.Role), deref(t.Fleet), until(t.ExpiresAt), until(t.RevokedAt)}
		},
		func(s *session, limit *int, cursor *string) (*http.Response, error) {
			return s.api.ListTokens(ctx, s.tenant, &client.ListTokensParams{Limit: limit, Cursor: cursor})
		})
	if err == nil && len(warnings) > 0 {
		fmt.Fprintln(sh.out, strings.Join(warnings, "\n"))
	}
	return err
}

// tokenSoon is how long before its end a token is spoken of, and after it, as the finding token_expires has it.
const tokenSoon = credentialSoon

// tokenLines tell of a token that ends, or has ended lately: whether anybody still uses it is not known.
func tokenLines(t client.Token, now time.Time) []string {
	if t.ExpiresAt == nil || t.RevokedAt != nil {
		return nil
	}
	switch left := t.ExpiresAt.Sub(now); {
	case left > tokenSoon || left < -tokenSoon:
		return nil
	case left > 0:
		return []string{plain(fmt.Sprintf("%s (%s) expires at %s: create its next one before (fairlead token create), and give that to whoever uses it", t.Name, t.Id, when(*t.ExpiresAt)))}
	default:
		return []string{plain(fmt.Sprintf("%s (%s) ended at %s: whoever uses it is refused; make a new one (fairlead token create), or revoke it if nobody does", t.Name, t.Id, when(*t.ExpiresAt)))}
	}
}

type tokenCreateCommand struct {
	Listing listing  `embed:""`
	Name    string   `arg:"" help:"For people: whose it is, or what for."`
	Role    string   `required:"" placeholder:"ROLE" help:"What it may do: viewer, ci, editor, admin, owner."`
	Bound   string   `name:"for-fleet" placeholder:"FLEET" help:"The one fleet that it is for; needed for ci."`
	Expires string   `placeholder:"WHEN" help:"A date, or a time from now such as 30d; 90 days where it is left out."`
	Secrets bool     `name:"writes-secrets" help:"It may write secrets, where its role does not say so."`
	Uses    []string `name:"uses-secrets" placeholder:"NAME,..." help:"What it writes may use these secrets: names, beginnings of names and *, labels as key=value. For ci and editor."`
}

// Run makes the token and prints it.
func (c *tokenCreateCommand) Run(ctx context.Context, sh *shell) error {
	role := client.Role(c.Role)
	if !role.Valid() {
		return usageError("--role is one of viewer, ci, editor, admin, owner")
	}
	at, err := expires(sh, "expires", c.Expires)
	if err != nil {
		return err
	}
	s, err := c.Listing.Connection.openFor(sh, ofTenant)
	if err != nil {
		return err
	}
	in := client.TokenCreate{Name: c.Name, Role: role, Fleet: given(c.Bound), ExpiresAt: at}
	if c.Secrets {
		in.WritesSecrets = &c.Secrets
	}
	if len(c.Uses) > 0 {
		in.UsesSecrets = &c.Uses
	}
	resp, err := s.api.CreateToken(ctx, s.tenant, in)
	t, raw, err := answer[client.TokenCreated](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.Listing.JSON, raw, "token "+t.ApiToken.Id+" of the role "+string(t.ApiToken.Role)+" made; it is shown this once:", t.Token)
}

// credentialCommand is "fairlead credential".
type credentialCommand struct {
	List   credentialListCommand   `cmd:"" help:"List the credentials with which the fleet's nodes connect."`
	Create credentialCreateCommand `cmd:"" help:"Create a credential, and print its token this once."`
	Renew  credentialRenewCommand  `cmd:"" help:"Create the next credential for the nodes of one, and print its token this once."`
	Revoke credentialRevokeCommand `cmd:"" help:"End a credential, and the streams that use it."`
}

type credentialListCommand struct {
	Listing listing `embed:""`
}

// Run prints the credentials.
func (c *credentialListCommand) Run(ctx context.Context, sh *shell) error {
	return list(c.Listing, sh, ofFleet, "the fleet has no credential", []string{"ID", "NODES", "EXPIRES", "REVOKED", "MADE BY", "LAST USED", "FROM", "DESCRIPTION"},
		func(k client.Credential) []string {
			return []string{k.Id, k.Nodes, until(k.ExpiresAt), until(k.RevokedAt), makerName(k.MadeBy), until(k.LastUsedAt), deref(k.LastUsedFrom), k.Description}
		},
		func(s *session, limit *int, cursor *string) (*http.Response, error) {
			return s.api.ListCredentials(ctx, s.tenant, s.fleet, &client.ListCredentialsParams{Limit: limit, Cursor: cursor})
		})
}

// makerName is "" of a maker that is not known.
func makerName(m *client.Maker) string {
	if m == nil {
		return ""
	}
	return m.Name
}

type credentialCreateCommand struct {
	Listing     listing `embed:""`
	Nodes       string  `arg:"" help:"The node ids that may use it: one id, a prefix with *, or * for all."`
	Description string  `placeholder:"TEXT" help:"For people."`
	Expires     string  `placeholder:"WHEN" help:"A date, or a time from now such as 30d; 90 days where it is left out."`
}

// Run makes the credential and prints its token.
func (c *credentialCreateCommand) Run(ctx context.Context, sh *shell) error {
	at, err := expires(sh, "expires", c.Expires)
	if err != nil {
		return err
	}
	s, err := c.Listing.Connection.open(sh)
	if err != nil {
		return err
	}
	resp, err := s.api.CreateCredential(ctx, s.tenant, s.fleet, client.CredentialCreate{Nodes: c.Nodes, Description: given(c.Description), ExpiresAt: at})
	k, raw, err := answer[client.CredentialCreated](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.Listing.JSON, raw, "credential "+k.Credential.Id+" of the nodes "+k.Credential.Nodes+" made; its token is shown this once:", k.Token)
}

type credentialRenewCommand struct {
	Listing    listing `embed:""`
	ID         string  `arg:"" help:"The id of the credential to renew."`
	Expires    string  `placeholder:"WHEN" help:"When the new one expires: a date, or a time from now such as 30d; 90 days where it is left out."`
	OldExpires string  `placeholder:"WHEN" help:"When the old one expires, if not sooner: a date, or a time from now such as 24h. Left out, its expiry stays."`
}

// Run makes the next credential and prints its token.
func (c *credentialRenewCommand) Run(ctx context.Context, sh *shell) error {
	at, err := expires(sh, "expires", c.Expires)
	if err != nil {
		return err
	}
	old, err := expires(sh, "old-expires", c.OldExpires)
	if err != nil {
		return err
	}
	s, err := c.Listing.Connection.open(sh)
	if err != nil {
		return err
	}
	resp, err := s.api.RenewCredential(ctx, s.tenant, s.fleet, c.ID, client.CredentialRenew{ExpiresAt: at, OldExpiresAt: old})
	k, raw, err := answer[client.CredentialCreated](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.Listing.JSON, raw, "credential "+k.Credential.Id+" of the nodes "+k.Credential.Nodes+" made in the place of "+c.ID+"; its token is shown this once:", k.Token)
}
