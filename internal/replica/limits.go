package replica

import (
	"fmt"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
)

const defaultStreams = 20_000

// streamCounts counts the streams of all fleets, that live or wait to begin (T08).
type streamCounts struct {
	cfg Config // its three limits

	mu           sync.Mutex // guards all below
	all          int
	byTenant     map[fleet.TenantID]int
	byCredential map[fleet.CredentialID]int
}

func newStreamCounts(cfg Config) *streamCounts {
	return &streamCounts{cfg: cfg, byTenant: make(map[fleet.TenantID]int), byCredential: make(map[fleet.CredentialID]int)}
}

// add counts one more stream, which remove takes back, or says which limit is reached.
func (s *streamCounts) add(id xds.Identity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, named := id.Credential, id.Credential != fleet.CredentialID{}
	switch {
	case named && s.byCredential[c] >= s.cfg.StreamsPerCredential:
		return fmt.Errorf("node credential %s has %d streams on this server, which is the limit of a credential: end some, or give proxies credentials of their own: %w",
			c, s.cfg.StreamsPerCredential, fleet.ErrLimit)
	case s.byTenant[id.Key.Tenant] >= s.cfg.StreamsPerTenant:
		return fmt.Errorf("the tenant has %d streams on this server, which is the limit of a tenant: connect to another server: %w",
			s.cfg.StreamsPerTenant, fleet.ErrLimit)
	case s.all >= s.cfg.Streams:
		return fmt.Errorf("this server has %d streams, which is its limit: connect to another one: %w", s.cfg.Streams, fleet.ErrLimit)
	}
	s.all++
	s.byTenant[id.Key.Tenant]++
	if named {
		s.byCredential[c]++
	}
	return nil
}

func (s *streamCounts) remove(id xds.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	less(s.byTenant, id.Key.Tenant)
	less(s.byCredential, id.Credential)
}

func (s *streamCounts) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// less leaves nothing behind of what is not there any more.
func less[K comparable](counts map[K]int, k K) {
	if counts[k] <= 1 {
		delete(counts, k)
		return
	}
	counts[k]--
}
