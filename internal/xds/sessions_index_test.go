package xds

import (
	"fmt"
	"testing"

	"fairlead/internal/fleet"
)

// TestWhichVersionsAClientHas: what its sessions have is counted for each client and type, and nothing is left of those that have ended.
func TestWhichVersionsAClientHas(t *testing.T) {
	t.Parallel()
	ss := &sessions{}
	one, other := clientKey{node: "n1", only: fleet.Endpoint}, clientKey{node: "n1", only: fleet.Route}
	begin := func(c clientKey, version string) *session {
		x := &session{of: ss, key: sessionKey{clientKey: c}, held: version}
		x.note()
		return x
	}
	want := func(when string, c clientKey, version string, n int) {
		t.Helper()
		if got := ss.versions.count(c, version); got != n {
			t.Errorf("%s: %d sessions have %q, not %d", when, got, version, n)
		}
	}
	a, b, c := begin(one, "1"), begin(one, "1"), begin(other, "1")
	want("three have begun", one, "1", 2)
	want("three have begun", other, "1", 1)
	a.held = "2"
	a.note()
	want("one has gone on", one, "1", 1)
	want("one has gone on", one, "2", 1)
	if !a.had("2") || a.had("1") || !b.had("1") {
		t.Error("a session does not know what it has")
	}
	for _, x := range []*session{a, b, c} {
		ss.versions.put(x.key.clientKey, x.noted, nil)
	}
	if len(ss.versions.of) != 0 {
		t.Errorf("all have ended: %v", ss.versions.of)
	}
}

// BenchmarkHeldVersions is what it costs to find whether a client has a version, beside so many of its sessions.
func BenchmarkHeldVersions(b *testing.B) {
	for _, n := range []int{1, 1000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ss := &sessions{}
			c := clientKey{node: "n1", only: fleet.Endpoint}
			for i := range n {
				x := &session{of: ss, key: sessionKey{clientKey: c}, held: fmt.Sprint(i)}
				x.note()
			}
			for b.Loop() {
				if ss.versions.count(c, "none") != 0 {
					b.Fatal("it has no such version")
				}
			}
		})
	}
}
