package main

import (
	"context"
	"fmt"
	"strings"

	client "fairlead/clients/go"
)

type tokenRevokeCommand struct {
	Listing listing `embed:""`
	ID      string  `arg:"" help:"The token's id."`
	Leaked  bool    `help:"Others may have it: all that it made ends too, node credentials and tokens that were handed over."`
}

// Run ends the token, and tells what it made. That it cannot be told is no reason to leave a token that leaked.
func (c *tokenRevokeCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Listing.Connection.openFor(sh, ofTenant)
	if err != nil {
		return err
	}
	resp, err := s.api.GetTokenMade(ctx, s.tenant, c.ID)
	m, _, unknown := answer[client.TokenMade](s, resp, err)
	var leaked *bool
	if c.Leaked {
		leaked = &c.Leaked
	}
	resp, err = s.api.RevokeToken(ctx, s.tenant, c.ID, &client.RevokeTokenParams{Leaked: leaked}) //nolint:bodyclose // revoked closes it
	if err = revoked(s, c.Listing.JSON, resp, err, "token", c.ID); err != nil {
		return err
	}
	lines := madeLines(c.ID, m, c.Leaked)
	if unknown != nil {
		lines = []string{"what it made is not known: " + unknown.Error()}
	}
	for _, line := range lines {
		fmt.Fprintln(s.err, plain(line))
	}
	return nil
}

// madeLines say what a token made that ended with it, and what stays.
func madeLines(id string, m client.TokenMade, leaked bool) (lines []string) {
	ended, stays := madeCounts(m.TokenCount-m.StayingTokenCount, 0), madeCounts(m.StayingTokenCount, m.CredentialCount)
	if leaked {
		ended, stays = madeCounts(m.TokenCount, m.CredentialCount), ""
	}
	if ended != "" {
		lines = append(lines, "with it ended what it made: "+ended)
	}
	if stays != "" {
		lines = append(lines, "what it made and stays: "+stays+"; if it leaked, end that too: fairlead token revoke "+id+" --leaked")
	}
	return lines
}

func madeCounts(tokens, credentials int) string {
	var parts []string
	if tokens > 0 {
		parts = append(parts, fmt.Sprintf("tokens %d", tokens))
	}
	if credentials > 0 {
		parts = append(parts, fmt.Sprintf("node credentials %d", credentials))
	}
	return strings.Join(parts, ", ")
}

type credentialRevokeCommand struct {
	Listing listing `embed:""`
	ID      string  `arg:"" help:"The credential's id."`
}

// Run ends the credential.
func (c *credentialRevokeCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Listing.Connection.open(sh)
	if err != nil {
		return err
	}
	resp, err := s.api.RevokeCredential(ctx, s.tenant, s.fleet, c.ID) //nolint:bodyclose // revoked closes it
	return revoked(s, c.Listing.JSON, resp, err, "credential", c.ID)
}
