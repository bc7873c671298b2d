package main

import (
	"slices"
	"testing"
	"time"

	client "fairlead/clients/go"
)

// TestTheEndOfACredentialIsWarnedOf, before it and, of a node that is not connected, after it.
func TestTheEndOfACredentialIsWarnedOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	id := "cred1"
	for _, c := range []struct {
		ends  time.Duration
		state client.NodeState
		want  []string
	}{
		{credentialSoon + time.Minute, client.NodeStateLive, nil},
		{credentialSoon, client.NodeStateLive, []string{"edge-1: its node credential expires at 2030-05-15 12:00:00Z: renew it before (fairlead credential renew cred1), and give the node the new token"}},
		{-time.Hour, client.NodeStateLive, nil},
		{-time.Hour, client.NodeStateOffline, []string{"edge-1: the node credential cred1 with which it came last ended at 2030-05-01 11:00:00Z: make a new one, and give the node its token"}},
	} {
		at := now.Add(c.ends)
		n := client.Node{Id: "edge-1", State: c.state, Credential: &id, CredentialExpiresAt: &at}
		if got := nodeTroubles([]client.Node{n}, now); !slices.Equal(got, c.want) {
			t.Errorf("%v before, %s: %q, want %q", c.ends, c.state, got, c.want)
		}
	}
	if got := nodeTroubles([]client.Node{{Id: "edge-1", State: client.NodeStateOffline}}, now); len(got) > 0 {
		t.Errorf("without an end: %q", got)
	}
}

// TestASealedSecretIsToldApart from one that is not there.
func TestASealedSecretIsToldApart(t *testing.T) {
	t.Parallel()
	s := client.ResourceRef{Type: "secrets", Name: "s"}
	got := waitsOf(&[]client.Withheld{
		{Resource: s, By: s, Reason: client.WithheldReasonSealed},
		{Resource: client.ResourceRef{Type: "listeners", Name: "l"}, By: s, Reason: client.WithheldReasonSealed},
	}, nil)
	want := []string{
		"secrets/s is sealed with a key that its xDS server does not have: let the API servers and the xDS servers have keys of one pair, then write the secret again",
		"listeners/l waits for secrets/s, which its xDS server has no key for: let the API servers and the xDS servers have keys of one pair, then write the secret again",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestTheEndOfATokenIsWarnedOf in the list of tokens, before it and for as long after it.
func TestTheEndOfATokenIsWarnedOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ends    time.Duration
		revoked bool
		want    []string
	}{
		{tokenSoon + time.Minute, false, nil},
		{tokenSoon, false, []string{"deploy (t-1) expires at 2030-05-15 12:00:00Z: create its next one before (fairlead token create), and give that to whoever uses it"}},
		{tokenSoon, true, nil},
		{-time.Hour, false, []string{"deploy (t-1) ended at 2030-05-01 11:00:00Z: whoever uses it is refused; make a new one (fairlead token create), or revoke it if nobody does"}},
		{-time.Hour, true, nil},
		{-tokenSoon - time.Minute, false, nil},
	} {
		at := now.Add(c.ends)
		k := client.Token{Id: "t-1", Name: "deploy", ExpiresAt: &at}
		if c.revoked {
			k.RevokedAt = &now
		}
		if got := tokenLines(k, now); !slices.Equal(got, c.want) {
			t.Errorf("%v before, revoked %v: %q, want %q", c.ends, c.revoked, got, c.want)
		}
	}
	if got := tokenLines(client.Token{Id: "t-1"}, now); len(got) > 0 {
		t.Errorf("without an end: %q", got)
	}
}
