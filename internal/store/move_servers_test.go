package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// An xDS server of the source that has no lease in the target cannot serve the tenant there. The move names it, and changes nothing.
func TestAMoveIsRefusedWhileAServerDoesNotKnowTheTarget(t *testing.T) {
	m := setupMoving(t)
	old, other := m.server("old"), m.server("other")
	m.target.lease(fleet.NewServerID(), "old", time.Minute) // another server that is called the same
	m.target.lease(other.id.Beside(), "other", time.Minute)
	m.target.exec(`UPDATE xds_servers SET lease_until = now() - interval '1 s' WHERE name = 'other'`)
	dead := m.server("dead")
	dead.die()

	move := m.move()
	move.Cells = []store.CellURL{{Name: "eu-1", URL: move.From}, {Name: "eu-2", URL: move.To}}
	move.At = func(step string) error { t.Errorf("it comes to %s", step); return errors.New("stop") }
	_, err := store.MoveTenant(t.Context(), move)
	m.is(err, fleet.ErrConflict)
	for _, want := range []string{
		"2 xDS servers that serve the source eu-1 do not know the target eu-2: other (" + other.id.String() + "), old (" + old.id.String() + ")",
		"add the cell to their --cells-file and restart them",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if n := m.count(`SELECT count(*) FROM tenants WHERE place = 'here' AND placed_at IS NULL`); n != 1 {
		t.Error("the source has changed")
	}
	if n := m.target.count(`SELECT count(*) FROM tenants`); n != 0 {
		t.Error("the target has changed")
	}
	m.served(true)
	m.apply(put(fleet.Cluster, "after", "1"))

	old.die()
	m.target.lease(other.id.Beside(), "other", time.Minute)
	_, err = store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	m.served(false)
}

// A move that ended early is judged like a new one while the source serves the tenant, and says that its writes are refused. Once the source is gone it goes on:
// no server has the tenant's streams any more, and those that know the target are to get them.
func TestAMoveThatIsRunAgainAsksForItsServers(t *testing.T) {
	m := setupMoving(t)
	until := func(step string) {
		t.Helper()
		stop := errors.New("stop")
		move := m.move()
		move.At = func(at string) error {
			if at == step {
				return stop
			}
			return nil
		}
		_, err := store.MoveTenant(t.Context(), move)
		m.is(err, stop)
	}
	until("copied")
	old := m.server("old")
	_, err := store.MoveTenant(t.Context(), m.move())
	m.is(err, fleet.ErrConflict)
	if !strings.Contains(err.Error(), "1 xDS server that serves the source does not know the target: old (") || !strings.Contains(err.Error(), "its writes are refused until the move is made or backed out") {
		t.Error(err)
	}
	old.die()
	until("gone")
	m.server("late")
	done, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	if !done.Resumed {
		t.Errorf("it did %+v", done)
	}
	m.served(false)
}

// What is still open at the source when the time for it is over is told, by server.
func TestAMoveTellsOfStreamsThatDidNotEnd(t *testing.T) {
	m := setupMoving(t)
	second := m.server("second")
	m.target.lease(second.id.Beside(), "second", time.Minute)
	many := on("many")
	many.Streams = 4
	second.report(fleet.Status{Nodes: []fleet.NodeStatus{many}})
	dead := m.server("dead")
	dead.report(fleet.Status{Nodes: []fleet.NodeStatus{on("away")}})
	dead.die()
	done, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	var left []string
	for _, s := range done.Left {
		left = append(left, s.String())
	}
	first := m.count(`SELECT count(*) FROM node_status s JOIN xds_servers x USING (server_id) WHERE s.connected AND x.name = 's'`)
	if len(left) != 2 || left[0] != "4 on second ("+second.id.String()+")" || done.Left[1].Name != "s" || done.Left[1].Streams != first {
		t.Errorf("left are %q, want 4 on second and %d on s", left, first)
	}
}

// Streams whose end is told in time are none that remain.
func TestAMoveTellsOfNoStreamsThatEnded(t *testing.T) {
	m := setupMoving(t)
	move := m.move()
	move.Drain = time.Minute
	move.At = func(step string) error {
		if step == "gone" {
			m.exec(`UPDATE node_status SET connected = false, settled = coalesce(settled, 0)`)
		}
		return nil
	}
	done, err := store.MoveTenant(t.Context(), move)
	m.ok(err)
	if len(done.Left) != 0 {
		t.Errorf("left are %v", done.Left)
	}
}

// TestT38_AMoveTellsNamesThatATerminalDoesNotObey: a server's name is what whoever has its role of the database has written.
func TestT38_AMoveTellsNamesThatATerminalDoesNotObey(t *testing.T) {
	m := setupMoving(t)
	evil := m.server("up\x1b[2J\u202edate\nTenant moved")
	evil.report(fleet.Status{Nodes: []fleet.NodeStatus{on("n")}})
	const want = "up[2Jdate Tenant moved"
	_, err := store.MoveTenant(t.Context(), m.move())
	if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\x1b\u202e\n") {
		t.Errorf("the error is %q", err)
	}
	m.target.lease(evil.id.Beside(), "up", time.Minute)
	done, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	if len(done.Left) == 0 || !slices.ContainsFunc(done.Left, func(s store.OpenStreams) bool { return s.String() == "1 on "+want+" ("+evil.id.String()+")" }) {
		t.Errorf("left are %q", done.Left)
	}
}
