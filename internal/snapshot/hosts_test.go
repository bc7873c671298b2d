package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

// TestHostIsWhatEnvoyTakes: the exact domain, then "*.x", then "x.*", the longest first, and "*" last; as if every domain was compared.
func TestHostIsWhatEnvoyTakes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a test's
	text := func() string {
		b := make([]byte, 1+r.IntN(5))
		for i := range b {
			b[i] = "ab."[r.IntN(3)]
		}
		return string(b)
	}
	for range 300 {
		var set *snapshot.Set
		domains := map[string]bool{}
		for i := range r.IntN(8) {
			d := text()
			switch r.IntN(4) {
			case 0:
				d = "*" + d
			case 1:
				d += "*"
			case 2:
				d = "*"
			}
			if !domains[d] {
				domains[d] = true
				set = set.With(snapshot.NewResource(fleet.VirtualHost, fleet.Row{Name: fmt.Sprint("r/", i), Version: d, Derived: fleet.Derived{Domains: []string{d}}}, nil))
			}
		}
		for range 50 {
			host, want, rank := text(), "", -1
			for d := range domains {
				if n := rankOf(d, host); n > rank {
					want, rank = d, n
				}
			}
			got := ""
			if x := set.Host("r/" + host); x != nil {
				got = x.Domains[0]
			}
			if got != want {
				t.Fatalf("of %v %q is taken for %q, want %q", domains, got, host, want)
			}
		}
	}
}

// rankOf is how well a domain fits a host, negative if it does not.
func rankOf(domain, host string) int {
	switch suffix, begins := strings.CutPrefix(domain, "*"); {
	case domain == host:
		return 1000
	case domain == "*":
		return 0
	case begins && len(host) > len(suffix) && strings.HasSuffix(host, suffix):
		return 500 + len(domain)
	}
	if prefix, ends := strings.CutSuffix(domain, "*"); ends && len(host) > len(prefix) && strings.HasPrefix(host, prefix) {
		return len(domain)
	}
	return -1
}
