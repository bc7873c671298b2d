package replica

import (
	"fmt"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

const defaultStreams = 20_000

// StreamCounts counts the streams of all fleets, that live or wait to begin (T08). It is safe for concurrent use.
type StreamCounts struct {
	most, perTenant, perCredential int

	mu           sync.Mutex // guards all below
	all          int
	byTenant     map[fleet.TenantID]int
	byCredential map[fleet.CredentialID]int
}

// NewStreamCounts has the limits of Config, which may be 0 likewise.
func NewStreamCounts(most, perTenant, perCredential int) *StreamCounts {
	if most <= 0 {
		most = defaultStreams
	}
	for _, x := range []*int{&perTenant, &perCredential} {
		if *x <= 0 {
			*x = (most + 1) / 2
		}
	}
	return &StreamCounts{most: most, perTenant: perTenant, perCredential: perCredential, byTenant: make(map[fleet.TenantID]int), byCredential: make(map[fleet.CredentialID]int)}
}

// add counts one more stream, which remove takes back, or says which limit is reached.
func (s *StreamCounts) add(id xds.Identity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, named := id.Credential, id.Credential != fleet.CredentialID{}
	switch {
	case named && s.byCredential[c] >= s.perCredential:
		return fmt.Errorf("node credential %s has %d streams on this server, which is the limit of a credential: end some, or give proxies credentials of their own: %w",
			c, s.perCredential, fleet.ErrLimit)
	case s.byTenant[id.Key.Tenant] >= s.perTenant:
		return fmt.Errorf("the tenant has %d streams on this server, which is the limit of a tenant: connect to another server: %w",
			s.perTenant, fleet.ErrLimit)
	case s.all >= s.most:
		return fmt.Errorf("this server has %d streams, which is its limit: connect to another one: %w", s.most, fleet.ErrLimit)
	}
	s.all++
	s.byTenant[id.Key.Tenant]++
	if named {
		s.byCredential[c]++
	}
	return nil
}

func (s *StreamCounts) remove(id xds.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	less(s.byTenant, id.Key.Tenant)
	less(s.byCredential, id.Credential)
}

// less leaves nothing behind of what is not there any more.
func less[K comparable](counts map[K]int, k K) {
	if counts[k] <= 1 {
		delete(counts, k)
		return
	}
	counts[k]--
}
