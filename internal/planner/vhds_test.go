package planner_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

func vhost(name, version string, domains ...string) fleet.Row {
	return fleet.Row{Name: name, Version: version, Derived: fleet.Derived{Domains: domains}}
}

func onDemand(name, version string) fleet.Row {
	return fleet.Row{Name: name, Version: version, Derived: fleet.Derived{VHDS: true}}
}

func vhdsFleet(hosts ...fleet.Row) *snapshot.Target {
	return fleetAt(1, 1, map[fleet.Type][]fleet.Row{
		fleet.Route:       {onDemand("r", "1"), onDemand("s", "1"), {Name: "plain", Version: "1"}},
		fleet.VirtualHost: hosts,
	})
}

func vhdsClient(t *testing.T, target *snapshot.Target, routes ...string) *script {
	t.Helper()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
	s.c.Subscribe(request{Type: fleet.Route, Names: routes}, target)
	return s
}

// TestEveryOnDemandRouteGetsAnEntry: a virtual host or, if there is none, the word that
// one is not there; also the second route on a stream, for which nothing is asked
// (PROTOCOL rule 8).
func TestEveryOnDemandRouteGetsAnEntry(t *testing.T) {
	t.Parallel()
	target := vhdsFleet(vhost("s/a", "1", "a.example"))
	s := vhdsClient(t, target, "r", "plain")
	s.step(target, "routes plain@1 r@1", "")
	s.c.Subscribe(request{Type: fleet.VirtualHost}, target)
	s.step(target, "virtual-hosts s/a@1 -r/-", "")
	s.c.Subscribe(request{Type: fleet.Route, Names: []string{"s"}}, target)
	r := s.send(target) // not ACKed yet
	if got := describe(r); got != "routes s@1" {
		t.Fatalf("got %s, want s@1", got)
	}
	s.step(target, "virtual-hosts s/a@1", "")
	s.c.Acknowledge(fleet.Route, r.Nonce)
	// A route that changes keeps its virtual hosts.
	changed := fleetAt(2, 1, map[fleet.Type][]fleet.Row{
		fleet.Route:       {onDemand("r", "2"), onDemand("s", "2"), {Name: "plain", Version: "1"}},
		fleet.VirtualHost: {vhost("s/a", "1", "a.example")},
	})
	s.step(changed, "routes r@2 s@2", "")
	s.step(changed, "nothing", "")
}

// TestAliases: a name that is asked for on demand is answered by the virtual host that
// serves it, with the name among the aliases; or by a word that there is none.
func TestAliases(t *testing.T) {
	t.Parallel()
	target := vhdsFleet(
		vhost("r/exact", "1", "a.example", "port.example:8080"), vhost("r/suffix", "1", "*.wild.example"),
		vhost("r/longer", "1", "*.very.wild.example"), vhost("r/prefix", "1", "api.*"), vhost("s/any", "1", "*"),
	)
	for asked, want := range map[string]string{
		"r/a.example":           "virtual-hosts r/exact@1=r/a.example",
		"r/A.Example":           "virtual-hosts r/exact@1=r/A.Example",
		"r/a.example:10000":     "virtual-hosts r/exact@1=r/a.example:10000",
		"r/port.example:8080":   "virtual-hosts r/exact@1=r/port.example:8080",
		"r/x.wild.example":      "virtual-hosts r/suffix@1=r/x.wild.example",
		"r/x.very.wild.example": "virtual-hosts r/longer@1=r/x.very.wild.example",
		"r/api.example":         "virtual-hosts r/prefix@1=r/api.example",
		"r/exact":               "virtual-hosts r/exact@1",
		"r/wild.example":        "virtual-hosts ?r/wild.example",
		"r/port.example":        "virtual-hosts ?r/port.example",
		"s/whatever":            "virtual-hosts s/any@1=s/whatever",
		"t/a.example":           "virtual-hosts ?t/a.example",
		"a.example":             "virtual-hosts ?a.example",
		"r/[::1]:80":            "virtual-hosts ?r/[::1]:80",
	} {
		s := &script{t: t, c: client{t: t, Delta: true, Envoy: true}}
		s.c.Subscribe(request{Type: fleet.VirtualHost}, target)
		s.step(target, "virtual-hosts r/exact@1 r/longer@1 r/prefix@1 r/suffix@1 s/any@1", "")
		s.c.Subscribe(request{Type: fleet.VirtualHost, Names: []string{asked}}, target)
		s.step(target, want, "")
		s.step(target, "nothing", "")
	}
}

// TestAliasWithoutWildcard: a client that asks for names alone holds what they resolve to,
// and hears of its changes.
func TestAliasWithoutWildcard(t *testing.T) {
	t.Parallel()
	s := &script{t: t, c: client{t: t, Delta: true}}
	none := vhdsFleet()
	s.c.Subscribe(request{Type: fleet.VirtualHost, Names: []string{"r/a.example", "r/b.example"}}, none)
	s.step(none, "virtual-hosts ?r/a.example ?r/b.example", "")
	one := vhdsFleet(vhost("r/one", "1", "a.example", "b.example"), vhost("r/other", "1", "c.example"))
	s.step(one, "virtual-hosts r/one@1", "")
	s.step(one, "nothing", "")
	s.step(vhdsFleet(vhost("r/one", "2", "a.example")), "virtual-hosts r/one@2", "")
	s.step(none, "virtual-hosts -r/one", "")
}
