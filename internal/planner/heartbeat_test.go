package planner_test

import (
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// brief is a runtime layer with a TTL.
func brief(name, version string, ttl time.Duration) fleet.Row {
	return fleet.Row{Name: name, Version: version, TTL: ttl}
}

func layers(rows ...fleet.Row) *snapshot.Target {
	return fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Runtime: rows})
}

// at moves the script's clock.
func (s *script) at(d time.Duration) { s.c.Now = start.Add(d) }

var start = time.Unix(1_000_000, 0)

func expiringClient(t *testing.T, target *snapshot.Target, names ...string) *script {
	t.Helper()
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, TTL: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Runtime, Names: names}, target)
	return s
}

// TestHeartbeats: a third of the shortest TTL after all was renewed, for what is held,
// never behind an unanswered response (PROTOCOL rule 21).
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second), brief("b", "1", 30*time.Second), brief("c", "1", 0))
	s := expiringClient(t, target, "a", "b", "c")
	s.step(target, "runtimes a@1 b@1 c@1", "")
	if got, want := s.c.Due(), start.Add(time.Second); !got.Equal(want) {
		t.Fatalf("due %s, want %s", got, want)
	}
	s.at(999 * time.Millisecond)
	s.step(target, "nothing", "")
	s.at(time.Second)
	s.step(target, "heartbeat runtimes a@1 b@1", "")
	s.step(target, "nothing", "")

	// b changes and is not answered: a is renewed all the same, b by its response alone.
	s.at(1500 * time.Millisecond)
	changed := layers(brief("a", "1", 3*time.Second), brief("b", "2", 30*time.Second), brief("c", "1", 0))
	open := s.send(changed)
	if got := describe(open); got != "runtimes b@2" {
		t.Fatalf("got %s, want b@2", got)
	}
	s.at(2 * time.Second)
	s.step(changed, "heartbeat runtimes a@1", "")
	s.c.Acknowledge(fleet.Runtime, open.Nonce)
	s.at(3 * time.Second)
	s.step(changed, "heartbeat runtimes a@1 b@2", "")
}

// TestHeartbeatRefused: the client did not hold it. It gets it in full, and heartbeats
// again.
func TestHeartbeatRefused(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second))
	s := expiringClient(t, target, "a")
	s.step(target, "runtimes a@1", "")
	s.at(time.Second)
	s.step(target, "heartbeat runtimes a@1", "no such resource")
	s.step(target, "runtimes a@1", "")
	s.step(target, "nothing", "")
	s.at(2 * time.Second)
	s.step(target, "heartbeat runtimes a@1", "")
}

// TestExpiredIsSentAgain: past its TTL without a heartbeat, or with its ACK held back for
// as long, a resource is not held (PROTOCOL rule 23).
func TestExpiredIsSentAgain(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second), brief("b", "1", time.Minute))
	s := expiringClient(t, target, "a", "b")
	r := s.send(target)
	s.at(4 * time.Second)
	s.c.Acknowledge(fleet.Runtime, r.Nonce)
	s.step(target, "runtimes a@1", "")
	s.step(target, "heartbeat runtimes a@1 b@1", "")
	s.step(target, "nothing", "")
	s.at(10 * time.Second) // the process stood still
	s.step(target, "heartbeat runtimes b@1", "")
	s.step(target, "runtimes a@1", "")
}

// TestNewStreamRenewsAtOnce: when the client's timers began is not known.
func TestNewStreamRenewsAtOnce(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second))
	s := &script{t: t, c: client{t: t, Delta: true, Envoy: true, TTL: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"a"}, Versions: map[string]string{"a": "1"}}, target)
	s.step(target, "heartbeat runtimes a@1", "")
	s.step(target, "nothing", "")
}

// TestNoHeartbeatsWithoutTheFeature, nor for a type on which a TTL does not act.
func TestNoHeartbeatsWithoutTheFeature(t *testing.T) {
	t.Parallel()
	target := layers(brief("a", "1", 3*time.Second))
	s := &script{t: t, c: client{t: t, Delta: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"a"}}, target)
	s.step(target, "runtimes a@1", "")
	s.at(time.Hour)
	s.step(target, "nothing", "")

	target = fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.Secret: {brief("s", "1", 3*time.Second)}})
	s = &script{t: t, c: client{t: t, Delta: true, Envoy: true, TTL: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Secret, Names: []string{"s"}}, target)
	s.step(target, "secrets s@1", "")
	if due := s.c.Due(); !due.IsZero() {
		t.Errorf("due %s, want never", due)
	}
}

// TestSotWRenewsByTheSet: state of the world has no heartbeat that renews.
func TestSotWRenewsByTheSet(t *testing.T) {
	t.Parallel()
	target := fleetAt(1, 1, map[fleet.Type][]fleet.Row{
		fleet.Listener: {brief("l", "1", 3*time.Second), brief("m", "1", 0)},
		fleet.Runtime:  {brief("a", "1", 6*time.Second), brief("b", "1", 0)},
	})
	s := &script{t: t, c: client{t: t, TTL: true, Now: start}}
	s.c.Subscribe(request{Type: fleet.Listener}, target)
	s.c.Subscribe(request{Type: fleet.Runtime, Names: []string{"a", "b"}}, target)
	s.step(target, "listeners l@1 m@1", "")
	s.step(target, "runtimes a@1 b@1", "")
	s.at(time.Second)
	s.step(target, "listeners l@1 m@1", "")
	s.step(target, "nothing", "")
	s.at(2 * time.Second)
	s.step(target, "listeners l@1 m@1", "")
	s.step(target, "runtimes a@1", "")
	s.step(target, "nothing", "")
}

// TestRoundOfHeartbeatsIsSplit below the size that every client takes.
func TestRoundOfHeartbeatsIsSplit(t *testing.T) {
	t.Parallel()
	long := make([]byte, 500)
	for i := range long {
		long[i] = 'x'
	}
	var rows []fleet.Row
	var names []string
	for i := range 8000 {
		name := string(long) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/26/26))
		rows, names = append(rows, brief(name, "1", 3*time.Second)), append(names, name)
	}
	target := layers(rows...)
	s := expiringClient(t, target, names...)
	for r := s.send(target); r != nil; r = s.send(target) {
		s.c.Acknowledge(fleet.Runtime, r.Nonce)
	}
	s.at(time.Second)
	beaten := 0
	for r := s.send(target); r != nil; r = s.send(target) {
		if !r.Heartbeat {
			t.Fatalf("got %d resources, want heartbeats", len(r.Resources))
		}
		size := 0
		for _, x := range r.Resources {
			size += len(x.Heartbeat())
		}
		if size > planner.MaxResponse {
			t.Errorf("a heartbeat of %d bytes, want at most %d", size, planner.MaxResponse)
		}
		beaten += len(r.Resources)
	}
	if beaten != len(names) {
		t.Errorf("%d names were renewed, want each of %d once", beaten, len(names))
	}
}

// TestScopedRoutesAreAskedForAgain: a second ACK of one response is how an Envoy asks for its scoped routes again in state of the world.
func TestScopedRoutesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	target := fleetAt(1, 1, map[fleet.Type][]fleet.Row{fleet.ScopedRoute: {brief("s", "1", 0)}, fleet.Cluster: {brief("c", "1", 0)}})
	s := &script{t: t, c: client{t: t, Envoy: true, Now: start}}
	for _, typ := range []fleet.Type{fleet.Cluster, fleet.ScopedRoute} {
		s.c.Subscribe(request{Type: typ}, target)
		r := s.send(target)
		s.c.Acknowledge(typ, r.Nonce)
		s.step(target, "nothing", "")
		s.c.Acknowledge(typ, r.Nonce)
		if typ == fleet.ScopedRoute {
			s.step(target, "scoped-routes s@1", "")
		}
		s.step(target, "nothing", "")
	}
}
