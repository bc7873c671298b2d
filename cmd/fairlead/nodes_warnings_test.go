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
		{credentialSoon, client.NodeStateLive, []string{"edge-1: its node credential ends at 2030-05-15 12:00:00Z: renew it before (fairlead credential renew cred1), and give the node the new token"}},
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
